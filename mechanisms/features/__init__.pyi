from .features import Feature as Feature
from .features import Features as Features
from .formulas import Quadratic as Quadratic
from .formulas import Ranks as Ranks
from .formulas import Score as Score
from .signs import Sides as Sides
from .signs import Signs as Signs
