from .assumed import AssumedAmbiguity as AssumedAmbiguity
from .assumed import ambiguity_of as ambiguity_of
from .assumed import assumption_of as assumption_of
from .trust import MeasuredTrust as MeasuredTrust
from .trust import measure_trust as measure_trust
