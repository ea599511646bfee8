"""From reports to statistics, through the laws that made the reports.

Whoever holds reports does not need to know how their mechanism was designed: its table says with what
probability every input yields every report, and that is all an estimator may use.  So estimators take tables and
reports, whatever family or design the tables came from.

*Counting.*  `count` makes the counts of any reports: of one mechanism of any kind, or of several services matched by
user, out of core.  Counts are what the laws make sufficient, and those of shards add up.  Nothing that follows costs
more for more users.

*Answers.*  Every estimate is an `Estimate`: a value, its standard error, an `Interval` for any confidence, n, method
and target, a summary for people and a data frame.

*Means.*  `estimate_mean` for one table; `estimate_combined_mean` for several services: plain averages (UA), each user's
own weights (UWA), weights for the population, or a jointly optimal decoder.  `bias_aware_mean`, of either, has the
least error for as many users as there are under a prior that is trusted within a factor.

*Distributions.*  `estimate_distribution` on an `InputGrid`: the likelihood of all reports (`likelihood_of`), maximised
as it is, with smoothing (EMS), with mixture reduction, or as averaged log densities, and a
`DistributionEstimate` that has bands, a mean, quantiles and range probabilities, and says how converged it is.
`metrics` compares distributions.

*Poisoning.*  `influence` is the most that one report can move an estimate, `fitted_influence` that of a fit, to first
order; `winsorised` trades it for a bias that is stated.

*Categories.*  `CategoryCounts` and `estimate_frequencies`: unbiased, made consistent (`consistency`), by maximum
likelihood or by mixture reduction.  With budgets that users chose themselves: `PersonalisedCounts`, `auem` and
`personalised_mle`.  Pairs of a key and a value: `estimate_key_means` and `fit_key_values`.  Several numeric attributes:
`estimate_attribute_means`.
"""

from ..mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
