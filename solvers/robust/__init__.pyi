from .band import BandSet as BandSet
from .sets import BoxSet as BoxSet
from .sets import MixedSet as MixedSet
from .sets import MovedSet as MovedSet
from .sets import PriorSet as PriorSet
from .transport import TransportSet as TransportSet
