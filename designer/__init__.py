"""The roof: priors, designs, comparisons and the command line.

A `Prior` says what is known of the values.  `design` turns it and a budget into a tabulated mechanism, by solving a
program or by tabulating a closed form, and always says how far the result is from the certified optimum.  `compare`
does so for every method.  `two_phase` learns the prior from the reports of some clients and asks the others through
the design, with a `BudgetToken` for each; `advise` simulates mechanisms and estimators for the case at hand.
`design_categorical` and `compare_categorical` do the same for categories, `design_attributes` for several attributes of
one user.  Everything that is learnt here leaves as a table or a bundle of `optldp.mechanisms`, so that a client needs
none of this to perturb, and `optldp.estimators` none of it to estimate.

Names are loaded on first use: `optldp --help` must not wait for the solvers.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .advice import DEFAULT_MECHANISMS, Advice, advise
    from .advice_bootstrap import AdviceRow, Simulated
    from .attribute_design import AttributeDesign, SampledChoice, design_attributes
    from .budget_planning import BudgetPlan, plan_epsilon, plan_error
    from .budget_token import BudgetToken
    from .categorical_comparison import OracleError, compare_categorical
    from .categorical_design import CategoricalDesign, design_categorical
    from .categorical_prior import CategoricalPrior
    from .cohort import ClientCohort, Cohort, OneReportClient, ValueCohort
    from .columns import read_column, read_pairs, write_column
    from .comparison import ComparisonRow, compare
    from .continuum import ContinuumCertificate, GapDesign, continuum_certificate, design_to_gap
    from .distribution_planning import DistributionPlan, plan_distribution_epsilon, plan_distribution_error
    from .frequency_plot import frequency_figure
    from .heatmap import mechanism_heatmap
    from .lattice import lattice_mechanism
    from .mechanism_design import DEFAULT_TOLERANCE, METHODS, Design, design
    from .minimax import MinimaxDesign, design_minimax, minimax_knots
    from .minimax_trade_off import design_trade_off, trade_off_curve
    from .optimum import CertifiedOptimum, certified_optimum
    from .parallel_sweep import sweep
    from .prior import DEFAULT_FLOOR, DEFAULT_KNOTS, Prior
    from .sweep_table import SweepRow, SweepTable
    from .two_phase_plan import TwoPhasePlan, TwoPhaseResult
    from .two_phase_protocol import two_phase

_HOMES = {
    "advice": ("DEFAULT_MECHANISMS", "Advice", "advise"),
    "advice_bootstrap": ("AdviceRow", "Simulated"),
    "attribute_design": ("AttributeDesign", "SampledChoice", "design_attributes"),
    "budget_planning": ("BudgetPlan", "plan_epsilon", "plan_error"),
    "budget_token": ("BudgetToken",),
    "parallel_sweep": ("sweep",),
    "sweep_table": ("SweepRow", "SweepTable"),
    "categorical_comparison": ("OracleError", "compare_categorical"),
    "categorical_design": ("CategoricalDesign", "design_categorical"),
    "categorical_prior": ("CategoricalPrior",),
    "cohort": ("ClientCohort", "Cohort", "OneReportClient", "ValueCohort"),
    "columns": ("read_column", "read_pairs", "write_column"),
    "comparison": ("ComparisonRow", "compare"),
    "mechanism_design": ("DEFAULT_TOLERANCE", "METHODS", "Design", "design"),
    "continuum": ("ContinuumCertificate", "GapDesign", "continuum_certificate", "design_to_gap"),
    "minimax": ("MinimaxDesign", "design_minimax", "minimax_knots"),
    "minimax_trade_off": ("design_trade_off", "trade_off_curve"),
    "distribution_planning": ("DistributionPlan", "plan_distribution_epsilon", "plan_distribution_error"),
    "frequency_plot": ("frequency_figure",),
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
    "AttributeDesign",
    "BudgetPlan",
    "BudgetToken",
    "CategoricalDesign",
    "CategoricalPrior",
    "CertifiedOptimum",
    "ClientCohort",
    "Cohort",
    "ComparisonRow",
    "ContinuumCertificate",
    "Design",
    "DistributionPlan",
    "GapDesign",
    "MinimaxDesign",
    "OneReportClient",
    "OracleError",
    "Prior",
    "SampledChoice",
    "Simulated",
    "SweepRow",
    "SweepTable",
    "TwoPhasePlan",
    "TwoPhaseResult",
    "ValueCohort",
    "advise",
    "certified_optimum",
    "compare",
    "compare_categorical",
    "continuum_certificate",
    "design",
    "design_attributes",
    "design_categorical",
    "design_minimax",
    "design_to_gap",
    "design_trade_off",
    "frequency_figure",
    "lattice_mechanism",
    "mechanism_heatmap",
    "minimax_knots",
    "plan_distribution_epsilon",
    "plan_distribution_error",
    "plan_epsilon",
    "plan_error",
    "read_column",
    "read_pairs",
    "sweep",
    "trade_off_curve",
    "two_phase",
    "write_column",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
