"""From reports to statistics, through tables only.

Whoever holds reports does not need to know how their mechanism was designed: its table says with what
probability every input yields every report, and that is all an estimator may use. So estimators take a
`TabulatedMechanism` and an array of reports, whatever family or design the table came from.

`unbiasing` finds numbers to put in the place of reports so that their average is the mean of the inputs;
`mean` averages them and says how far the average can be trusted.
"""

from .mean import MeanEstimate, estimate_mean
from .unbiasing import affine_unbiasing, optimal_decoder

__all__ = ["MeanEstimate", "affine_unbiasing", "estimate_mean", "optimal_decoder"]
