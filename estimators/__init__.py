"""From reports to statistics, through tables only.

Whoever holds reports does not need to know how their mechanism was designed: its table says with what
probability every input yields every report, and that is all an estimator may use.  So estimators take tables and
reports, whatever family or design the tables came from.

*Counting.*  `collect` matches the reports of several services by user and counts them, out of core; `ReportCounts` are
what the tables make sufficient, and counts of shards add up.  Nothing that follows costs more for more users.

*Means.*  `estimate_mean` for one table; `estimate_combined_mean` for several services: plain averages (UA), each user's
own weights (UWA), weights for the population, or a jointly optimal decoder.

*Distributions.*  `estimate_distribution` on an `InputGrid`: the likelihood of all reports (`likelihood_of`), maximised
as it is, with smoothing (EMS), with mixture reduction, or with a penalty chosen by held-out likelihood, and a
`DistributionEstimate` that has bands, a mean, quantiles and range probabilities, and says how converged it is.
`metrics` compares distributions.
"""

from .collection import collect
from .combined_mean import estimate_combined_mean
from .counts_file import load_counts, save_counts
from .decoding import plain_decoder
from .distribution import DistributionEstimate, Estimated
from .estimate_distribution import estimate_distribution
from .input_grid import InputGrid
from .joint_decoder import joint_decoder
from .mean import MeanEstimate, estimate_mean
from .mixture_reduction import ReducedMixture, mixture_reduction
from .report_counts import ReportCounts, ReportGroup, Service
from .report_likelihood import likelihood_of
from .smoothed_em import LOGLIK_CHANGE, ems
from .smoothness import PenalisedMixture, penalised_likelihood
from .unbiasing import affine_unbiasing, optimal_decoder

__all__ = [
    "LOGLIK_CHANGE",
    "DistributionEstimate",
    "Estimated",
    "InputGrid",
    "MeanEstimate",
    "PenalisedMixture",
    "ReducedMixture",
    "ReportCounts",
    "ReportGroup",
    "Service",
    "affine_unbiasing",
    "collect",
    "ems",
    "estimate_combined_mean",
    "estimate_distribution",
    "estimate_mean",
    "joint_decoder",
    "likelihood_of",
    "load_counts",
    "mixture_reduction",
    "optimal_decoder",
    "penalised_likelihood",
    "plain_decoder",
    "save_counts",
]
