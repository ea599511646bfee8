from .panel import Panel as Panel
from .panel import panel_of as panel_of
from .way import Way as Way
