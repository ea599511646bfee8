from .base import Assumption as Assumption
from .near_prior import Factor as Factor
from .near_prior import Shape as Shape
from .needed import exempt_needed as exempt_needed
from .shapes import Monotone as Monotone
from .shapes import Unimodal as Unimodal
