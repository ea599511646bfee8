from .at_most import AtMost as AtMost
from .loss import Loss as Loss
from .quantile import Quantile as Quantile
from .workload import Workload as Workload
