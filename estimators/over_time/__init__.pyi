from .periods import PeriodMeans as PeriodMeans
from .periods import estimate_periods as estimate_periods
