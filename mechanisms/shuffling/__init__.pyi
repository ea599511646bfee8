from .lower import Distinguisher as Distinguisher
from .shuffled import Shuffled as Shuffled
from .upper import Clones as Clones
