"""The roof: priors, designs, comparisons and the command line.

A `Prior` says what is known of the values.  `design` turns it and a budget into a tabulated mechanism, by solving a
program or by tabulating a closed form, and always says how far the result is from the certified optimum.  `compare`
does so for every method.  `two_phase` learns the prior from the reports of some clients and asks the others through
the design, with a `BudgetToken` for each; `advise` simulates mechanisms and estimators for the case at hand.
Everything that is learnt here leaves as a table of `optldp.mechanisms`, so that a client needs none of this to perturb,
and `optldp.estimators` none of it to estimate.

Names are loaded on first use: `optldp --help` must not wait for the solvers.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .advice import DEFAULT_MECHANISMS, Advice, advise
    from .advice_bootstrap import AdviceRow, Simulated
    from .budget_token import BudgetToken
    from .cohort import ClientCohort, Cohort, OneReportClient, ValueCohort
    from .columns import read_column, read_pairs, write_column
    from .comparison import ComparisonRow, compare
    from .heatmap import mechanism_heatmap
    from .lattice import lattice_mechanism
    from .mechanism_design import DEFAULT_TOLERANCE, METHODS, Design, design
    from .optimum import CertifiedOptimum, certified_optimum
    from .prior import DEFAULT_FLOOR, DEFAULT_KNOTS, Prior
    from .two_phase_plan import TwoPhasePlan, TwoPhaseResult
    from .two_phase_protocol import two_phase

_HOMES = {
    "advice": ("DEFAULT_MECHANISMS", "Advice", "advise"),
    "advice_bootstrap": ("AdviceRow", "Simulated"),
    "budget_token": ("BudgetToken",),
    "cohort": ("ClientCohort", "Cohort", "OneReportClient", "ValueCohort"),
    "columns": ("read_column", "read_pairs", "write_column"),
    "comparison": ("ComparisonRow", "compare"),
    "mechanism_design": ("DEFAULT_TOLERANCE", "METHODS", "Design", "design"),
    "heatmap": ("mechanism_heatmap",),
    "lattice": ("lattice_mechanism",),
    "optimum": ("CertifiedOptimum", "certified_optimum"),
    "prior": ("DEFAULT_FLOOR", "DEFAULT_KNOTS", "Prior"),
    "two_phase_protocol": ("two_phase",),
    "two_phase_plan": ("TwoPhasePlan", "TwoPhaseResult"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "DEFAULT_FLOOR",
    "DEFAULT_KNOTS",
    "DEFAULT_MECHANISMS",
    "DEFAULT_TOLERANCE",
    "METHODS",
    "Advice",
    "AdviceRow",
    "BudgetToken",
    "CertifiedOptimum",
    "ClientCohort",
    "Cohort",
    "ComparisonRow",
    "Design",
    "OneReportClient",
    "Prior",
    "Simulated",
    "TwoPhasePlan",
    "TwoPhaseResult",
    "ValueCohort",
    "advise",
    "certified_optimum",
    "compare",
    "design",
    "lattice_mechanism",
    "mechanism_heatmap",
    "read_column",
    "read_pairs",
    "two_phase",
    "write_column",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
