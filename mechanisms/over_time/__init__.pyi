from .directions import Directions as Directions
from .memoised import Memoised as Memoised
from .panel import Panel as Panel
from .panel import panel_of as panel_of
from .rows import HistoryRows as HistoryRows
from .tree import Tree as Tree
from .way import Way as Way
