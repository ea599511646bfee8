"""What decisions are made of: differences, groups, weights, what rises above the noise, and what privacy costs.

`staged_reports` reads the rows of one source once, with the columns that say a report's group, weight or user, and
`tally` counts them by group, `matched` by pairs of reports of the same user. `weighted` estimates from one tally,
`groups` from all, `difference` from two, `group_differences` from two of each group; `shares` has the difference of
shares above a value, by honest pairs, `group_shares` each group's; `quantiles` has quantiles of both kinds.
`significance` marks frequencies, `others` sums those that are not shown, `without_privacy` says how long an interval
the values themselves would give, by `value_scatter`, `simultaneous` and `small_samples` how long each of many
intervals is, or one of few users. All others rest on unbiased estimates, by `report_numbers`.
"""

from ...mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
