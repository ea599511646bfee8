from .collected import DayCollector as DayCollector
from .collected import collecting as collecting
from .counts import DayCounts as DayCounts
from .counts import load_days as load_days
from .drift import Drift as Drift
from .drift import drift_of as drift_of
