from .periods import PeriodMeans as PeriodMeans
from .periods import estimate_periods as estimate_periods
from .periods import joined as joined
