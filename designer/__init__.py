"""The roof: priors, designs, comparisons and the command line.

A `Prior` says what is known of the values.  `design` turns it, a budget and an objective into a
mechanism, by solving a program or by a method such as a closed form, and always says how far the result is from the
certified optimum.  `compare`
does so for every method.  `two_phase` learns the prior from the reports of some clients and asks the others through
the design, with a `BudgetToken` for each; `advise` simulates mechanisms and estimators for the case at hand.
`CategoricalPrior` and `Attributes` stand for categories and for several attributes of one user; `compare_categorical`
compares frequency oracles.  Everything that is learnt here leaves as a table or a bundle of `optldp.mechanisms`, so
that a client needs none of this to perturb, and `optldp.estimators` none of it to estimate.

Names are loaded on first use: `optldp --help` must not wait for the solvers.
"""

from ..mechanisms.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
