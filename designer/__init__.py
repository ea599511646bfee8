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
    from ..estimators.data.numbers import read_column, read_pairs, write_column
    from ..mechanisms.client.budget_token import BudgetToken
    from ..mechanisms.client.failures import ClientFailures
    from ..mechanisms.client.one_report import OneReportClient, SimulatedClient
    from .commands.report_reading import ReadReports, read_reports
    from .comparison.bounds import bounds
    from .comparison.bounds_result import BoundRow, BoundsResult, BudgetBounds, BudgetDetail
    from .comparison.categorical import OracleError, compare_categorical
    from .comparison.compare import ComparisonRow, compare
    from .comparison.criteria import CriterionRow, GuaranteeCriterion, InformationCriterion
    from .comparison.sweep import sweep
    from .comparison.table import SweepRow, SweepTable
    from .designs.attributes import AttributeDesign, SampledChoice, design_attributes
    from .designs.categorical import CategoricalDesign, design_categorical
    from .designs.continuum import ContinuumCertificate, GapDesign, continuum_certificate, design_to_gap
    from .designs.design import DEFAULT_TOLERANCE, METHODS, Design, design
    from .designs.information import InformationDesign, design_information, table_information, table_trace
    from .designs.lattice import lattice_mechanism
    from .designs.minimax import MinimaxDesign, design_minimax, minimax_knots
    from .designs.minimax_trade_off import design_trade_off, trade_off_curve
    from .designs.optimum import CertifiedOptimum, certified_optimum
    from .designs.robust import RobustDesign, design_robust
    from .designs.shaped import ShapedDesign, design_shaped
    from .planning.advice import DEFAULT_MECHANISMS, Advice, advise
    from .planning.bootstrap import AdviceRow, Simulated
    from .planning.distribution import DistributionPlan, plan_distribution_epsilon, plan_distribution_error
    from .planning.mean import BudgetPlan, plan_epsilon, plan_error
    from .plots.by_value import conditional_variance_figure
    from .plots.criterion import criterion_figure
    from .plots.distribution import distribution_figure
    from .plots.error_table import error_table_figure
    from .plots.frequencies import frequency_figure
    from .plots.heatmap import mechanism_heatmap
    from .plots.least_favourable import least_favourable_figure
    from .plots.trade_off import trade_off_figure
    from .plots.variance import variance_figure
    from .priors.ambiguity import (
        AMBIGUITIES,
        Ambiguity,
        BoxAmbiguity,
        RelativeAmbiguity,
        TotalVariationAmbiguity,
        WassersteinAmbiguity,
    )
    from .priors.categorical import CategoricalPrior
    from .priors.prior import DEFAULT_FLOOR, DEFAULT_KNOTS, Prior
    from .priors.region import ReportAmbiguity, confidence_region
    from .protocols.cohort import ClientCohort, Cohort, ValueCohort
    from .protocols.plan import TwoPhasePlan, TwoPhaseResult
    from .protocols.two_phase import two_phase
    from .report.page import bounds_html

_HOMES = {
    ".estimators.data.numbers": ("read_column", "read_pairs", "write_column"),
    ".mechanisms.client.budget_token": ("BudgetToken",),
    ".mechanisms.client.failures": ("ClientFailures",),
    ".mechanisms.client.one_report": ("OneReportClient", "SimulatedClient"),
    "commands.report_reading": ("ReadReports", "read_reports"),
    "comparison.bounds": ("bounds",),
    "comparison.bounds_result": ("BoundRow", "BoundsResult", "BudgetBounds", "BudgetDetail"),
    "comparison.categorical": ("OracleError", "compare_categorical"),
    "comparison.compare": ("ComparisonRow", "compare"),
    "comparison.criteria": ("CriterionRow", "GuaranteeCriterion", "InformationCriterion"),
    "comparison.sweep": ("sweep",),
    "comparison.table": ("SweepRow", "SweepTable"),
    "designs.attributes": ("AttributeDesign", "SampledChoice", "design_attributes"),
    "designs.categorical": ("CategoricalDesign", "design_categorical"),
    "designs.continuum": ("ContinuumCertificate", "GapDesign", "continuum_certificate", "design_to_gap"),
    "designs.design": ("DEFAULT_TOLERANCE", "Design", "METHODS", "design"),
    "designs.information": ("InformationDesign", "design_information", "table_information", "table_trace"),
    "designs.lattice": ("lattice_mechanism",),
    "designs.minimax": ("MinimaxDesign", "design_minimax", "minimax_knots"),
    "designs.minimax_trade_off": ("design_trade_off", "trade_off_curve"),
    "designs.optimum": ("CertifiedOptimum", "certified_optimum"),
    "designs.robust": ("RobustDesign", "design_robust"),
    "designs.shaped": ("ShapedDesign", "design_shaped"),
    "planning.advice": ("Advice", "DEFAULT_MECHANISMS", "advise"),
    "planning.bootstrap": ("AdviceRow", "Simulated"),
    "planning.distribution": ("DistributionPlan", "plan_distribution_epsilon", "plan_distribution_error"),
    "planning.mean": ("BudgetPlan", "plan_epsilon", "plan_error"),
    "plots.by_value": ("conditional_variance_figure",),
    "plots.criterion": ("criterion_figure",),
    "plots.distribution": ("distribution_figure",),
    "plots.error_table": ("error_table_figure",),
    "plots.frequencies": ("frequency_figure",),
    "plots.heatmap": ("mechanism_heatmap",),
    "plots.least_favourable": ("least_favourable_figure",),
    "plots.trade_off": ("trade_off_figure",),
    "plots.variance": ("variance_figure",),
    "priors.ambiguity": (
        "AMBIGUITIES",
        "Ambiguity",
        "BoxAmbiguity",
        "RelativeAmbiguity",
        "TotalVariationAmbiguity",
        "WassersteinAmbiguity",
    ),
    "priors.categorical": ("CategoricalPrior",),
    "priors.prior": ("DEFAULT_FLOOR", "DEFAULT_KNOTS", "Prior"),
    "priors.region": ("ReportAmbiguity", "confidence_region"),
    "protocols.cohort": ("ClientCohort", "Cohort", "ValueCohort"),
    "protocols.plan": ("TwoPhasePlan", "TwoPhaseResult"),
    "protocols.two_phase": ("two_phase",),
    "report.page": ("bounds_html",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AMBIGUITIES",
    "DEFAULT_FLOOR",
    "DEFAULT_KNOTS",
    "DEFAULT_MECHANISMS",
    "DEFAULT_TOLERANCE",
    "METHODS",
    "Advice",
    "AdviceRow",
    "Ambiguity",
    "AttributeDesign",
    "BoundRow",
    "BoundsResult",
    "BoxAmbiguity",
    "BudgetBounds",
    "BudgetDetail",
    "BudgetPlan",
    "BudgetToken",
    "CategoricalDesign",
    "CategoricalPrior",
    "CertifiedOptimum",
    "ClientCohort",
    "ClientFailures",
    "Cohort",
    "ComparisonRow",
    "ContinuumCertificate",
    "CriterionRow",
    "Design",
    "DistributionPlan",
    "GapDesign",
    "GuaranteeCriterion",
    "InformationCriterion",
    "InformationDesign",
    "MinimaxDesign",
    "OneReportClient",
    "OracleError",
    "Prior",
    "ReadReports",
    "RelativeAmbiguity",
    "ReportAmbiguity",
    "RobustDesign",
    "SampledChoice",
    "ShapedDesign",
    "Simulated",
    "SimulatedClient",
    "SweepRow",
    "SweepTable",
    "TotalVariationAmbiguity",
    "TwoPhasePlan",
    "TwoPhaseResult",
    "ValueCohort",
    "WassersteinAmbiguity",
    "advise",
    "bounds",
    "bounds_html",
    "certified_optimum",
    "compare",
    "compare_categorical",
    "conditional_variance_figure",
    "confidence_region",
    "continuum_certificate",
    "criterion_figure",
    "design",
    "design_attributes",
    "design_categorical",
    "design_information",
    "design_minimax",
    "design_robust",
    "design_shaped",
    "design_to_gap",
    "design_trade_off",
    "distribution_figure",
    "error_table_figure",
    "frequency_figure",
    "lattice_mechanism",
    "least_favourable_figure",
    "mechanism_heatmap",
    "minimax_knots",
    "plan_distribution_epsilon",
    "plan_distribution_error",
    "plan_epsilon",
    "plan_error",
    "read_column",
    "read_pairs",
    "read_reports",
    "sweep",
    "table_information",
    "table_trace",
    "trade_off_curve",
    "trade_off_figure",
    "two_phase",
    "variance_figure",
    "write_column",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
