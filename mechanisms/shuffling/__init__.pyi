from .lower import Distinguisher as Distinguisher
from .shuffled import Shuffled as Shuffled
from .shuffled import generic_epsilon as generic_epsilon
from .upper import Clones as Clones
