from .at_most import AtMost as AtMost
from .losses.loss import Loss as Loss
from .questions.cdf import Cdf as Cdf
from .questions.quantile import Quantile as Quantile
from .questions.share import Share as Share
from .questions.workload import Workload as Workload
