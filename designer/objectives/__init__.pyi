from .at_most import AtMost as AtMost
from .loss import Loss as Loss
from .quantile import Quantile as Quantile
from .questions.cdf import Cdf as Cdf
from .questions.share import Share as Share
from .workload import Workload as Workload
