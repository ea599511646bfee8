from .loss import Loss as Loss
from .workload import Workload as Workload
