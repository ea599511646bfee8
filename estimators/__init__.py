"""From reports to statistics, through the laws that made the reports.

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

*Poisoning.*  `influence` is the most that one report can move an estimate, `fitted_influence` that of a fit, to first
order; `winsorised` trades it for a bias that is stated.

*Categories.*  `CategoryCounts` and `estimate_frequencies`: unbiased, made consistent (`consistency`), by maximum
likelihood or by mixture reduction.  With budgets that users chose themselves: `PersonalisedCounts`, `auem` and
`personalised_mle`.  Pairs of a key and a value: `estimate_key_means` and `fit_key_values`.  Several numeric attributes:
`estimate_attribute_means`.
"""

from .attribute_means import estimate_attribute_means
from .category_counts import CategoryCounts
from .category_likelihood import category_likelihood
from .collection import collect
from .combined_mean import estimate_combined_mean
from .consistency import base_cut, iiw, norm_sub
from .counts_file import load_counts, save_counts
from .decoding import plain_decoder
from .distribution import DistributionEstimate, Estimated
from .estimate_distribution import estimate_distribution
from .estimate_frequencies import estimate_frequencies
from .fitted_influence import fitted_influence
from .frequency_decoder import frequency_decoder
from .frequency_estimate import FrequencyEstimate
from .influence import Influence, influence
from .input_grid import InputGrid
from .joint_decoder import joint_decoder
from .key_value_counts import KeyValueCounts
from .key_value_fit import KeyValueFit, fit_key_values
from .key_value_likelihood import joint_likelihood, key_likelihood
from .key_value_published import KeyValueEstimate, estimate_key_means
from .mean import MeanEstimate, estimate_mean
from .mixture_reduction import ReducedMixture, mixture_reduction
from .personalised_auem import auem, clipped, invert_supports
from .personalised_baselines import apldp_levels, combine_levels, ppda, split_levels
from .personalised_counts import PersonalisedCounts
from .personalised_distribution import PersonalisedDistribution, personalised_distribution
from .personalised_emoa import emoa_paper
from .personalised_estimate import LevelShares, PersonalisedEstimate, level_shares
from .personalised_mean import personalised_mean
from .personalised_mle import PersonalisedMaximum, personalised_mle, relaxation_bound
from .report_counts import ReportCounts, ReportGroup, Service
from .report_likelihood import likelihood_of
from .skipped_rows import SkippedRows, SkippedRowsWarning
from .smoothed_em import LOGLIK_CHANGE, ems
from .smoothness import PenalisedMixture, penalised_likelihood
from .support_counts import SupportCounts
from .unbiasing import affine_unbiasing, optimal_decoder
from .winsorised import Winsorised, winsorised

__all__ = [
    "LOGLIK_CHANGE",
    "CategoryCounts",
    "DistributionEstimate",
    "Estimated",
    "FrequencyEstimate",
    "Influence",
    "InputGrid",
    "KeyValueCounts",
    "KeyValueEstimate",
    "KeyValueFit",
    "LevelShares",
    "MeanEstimate",
    "PenalisedMixture",
    "PersonalisedCounts",
    "PersonalisedDistribution",
    "PersonalisedEstimate",
    "PersonalisedMaximum",
    "ReducedMixture",
    "ReportCounts",
    "ReportGroup",
    "Service",
    "SkippedRows",
    "SkippedRowsWarning",
    "SupportCounts",
    "Winsorised",
    "affine_unbiasing",
    "apldp_levels",
    "auem",
    "base_cut",
    "category_likelihood",
    "clipped",
    "collect",
    "combine_levels",
    "emoa_paper",
    "ems",
    "estimate_attribute_means",
    "estimate_combined_mean",
    "estimate_distribution",
    "estimate_frequencies",
    "estimate_key_means",
    "estimate_mean",
    "fit_key_values",
    "fitted_influence",
    "frequency_decoder",
    "iiw",
    "influence",
    "invert_supports",
    "joint_decoder",
    "joint_likelihood",
    "key_likelihood",
    "level_shares",
    "likelihood_of",
    "load_counts",
    "mixture_reduction",
    "norm_sub",
    "optimal_decoder",
    "penalised_likelihood",
    "personalised_distribution",
    "personalised_mean",
    "personalised_mle",
    "plain_decoder",
    "ppda",
    "relaxation_bound",
    "save_counts",
    "split_levels",
    "winsorised",
]
