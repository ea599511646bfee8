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

from .counting.collect import collect
from .counting.counts import ReportCounts, ReportGroup, Service
from .counting.counts_file import load_counts, save_counts
from .data.skipped_rows import SkippedRows, SkippedRowsWarning
from .distributions.distribution import DistributionEstimate, Estimated
from .distributions.estimation import estimate_distribution
from .distributions.likelihood import likelihood_of
from .distributions.mixture_reduction import ReducedMixture, mixture_reduction
from .distributions.smoothed_em import LOGLIK_CHANGE, ems
from .distributions.smoothness import PenalisedMixture, penalised_likelihood
from .frequencies.category_counts import CategoryCounts
from .frequencies.consistency import base_cut, iiw, norm_sub
from .frequencies.decoder import frequency_decoder
from .frequencies.estimation import estimate_frequencies
from .frequencies.frequencies import FrequencyEstimate
from .frequencies.likelihood import category_likelihood
from .frequencies.support_counts import SupportCounts
from .influence.fitted import fitted_influence
from .influence.influence import Influence, influence
from .input_grid import InputGrid
from .key_values.counts import KeyValueCounts
from .key_values.fit import KeyValueFit, fit_key_values
from .key_values.likelihood import joint_likelihood, key_likelihood
from .key_values.published import KeyValueEstimate, estimate_key_means
from .means.attributes import estimate_attribute_means
from .means.combined import estimate_combined_mean
from .means.decoding import plain_decoder
from .means.joint_decoder import joint_decoder
from .means.mean import MeanEstimate, estimate_mean
from .means.unbiasing import affine_unbiasing, optimal_decoder
from .means.winsorised import Winsorised, winsorised
from .personalised.auem import auem, clipped, invert_supports
from .personalised.counts import PersonalisedCounts
from .personalised.estimate import LevelShares, PersonalisedEstimate, level_shares
from .personalised.mle import PersonalisedMaximum, personalised_mle, relaxation_bound
from .personalised.numbers import PersonalisedDistribution, personalised_distribution, personalised_mean

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
    "auem",
    "base_cut",
    "category_likelihood",
    "clipped",
    "collect",
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
    "relaxation_bound",
    "save_counts",
    "winsorised",
]
