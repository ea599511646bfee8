from .trust import MeasuredTrust as MeasuredTrust
from .trust import measure_trust as measure_trust
