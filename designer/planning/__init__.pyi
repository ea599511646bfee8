from .distribution import plan_distribution_epsilon as plan_distribution_epsilon
from .distribution import plan_distribution_error as plan_distribution_error
from .mean import plan_epsilon as plan_epsilon
from .mean import plan_error as plan_error
