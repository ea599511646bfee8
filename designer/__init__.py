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
    from .ambiguity import (
        AMBIGUITIES,
        Ambiguity,
        BoxAmbiguity,
        RelativeAmbiguity,
        TotalVariationAmbiguity,
        WassersteinAmbiguity,
    )
    from .attribute_design import AttributeDesign, SampledChoice, design_attributes
    from .bounds_computation import bounds
    from .bounds_criteria import CriterionRow, GuaranteeCriterion, InformationCriterion
    from .bounds_report import bounds_html
    from .bounds_result import BoundRow, BoundsResult, BudgetBounds, BudgetDetail
    from .budget_planning import BudgetPlan, plan_epsilon, plan_error
    from .budget_token import BudgetToken
    from .categorical_comparison import OracleError, compare_categorical
    from .categorical_design import CategoricalDesign, design_categorical
    from .categorical_prior import CategoricalPrior
    from .client_failures import ClientFailures
    from .cohort import ClientCohort, Cohort, ValueCohort
    from .columns import read_column, read_pairs, write_column
    from .comparison import ComparisonRow, compare
    from .conditional_variance_plot import conditional_variance_figure
    from .continuum import ContinuumCertificate, GapDesign, continuum_certificate, design_to_gap
    from .criterion_plot import criterion_figure
    from .distribution_planning import DistributionPlan, plan_distribution_epsilon, plan_distribution_error
    from .distribution_plot import distribution_figure
    from .error_table_plot import error_table_figure
    from .frequency_plot import frequency_figure
    from .heatmap import mechanism_heatmap
    from .information import InformationDesign, design_information, table_information, table_trace
    from .lattice import lattice_mechanism
    from .least_favourable_plot import least_favourable_figure
    from .mechanism_design import DEFAULT_TOLERANCE, METHODS, Design, design
    from .minimax import MinimaxDesign, design_minimax, minimax_knots
    from .minimax_trade_off import design_trade_off, trade_off_curve
    from .one_report_client import OneReportClient, SimulatedClient
    from .optimum import CertifiedOptimum, certified_optimum
    from .parallel_sweep import sweep
    from .prior import DEFAULT_FLOOR, DEFAULT_KNOTS, Prior
    from .report_reading import ReadReports, read_reports
    from .robust import RobustDesign, design_robust
    from .robust_region import ReportAmbiguity, confidence_region
    from .shaped_comparison import ShapeRow, shape_comparison
    from .shaped_ptt import ShapedDesign, design_shaped
    from .sweep_table import SweepRow, SweepTable
    from .trade_off_plot import trade_off_figure
    from .two_phase_plan import TwoPhasePlan, TwoPhaseResult
    from .two_phase_protocol import two_phase
    from .variance_plot import variance_figure

_HOMES = {
    "advice": ("Advice", "DEFAULT_MECHANISMS", "advise"),
    "advice_bootstrap": ("AdviceRow", "Simulated"),
    "ambiguity": (
        "AMBIGUITIES",
        "Ambiguity",
        "BoxAmbiguity",
        "RelativeAmbiguity",
        "TotalVariationAmbiguity",
        "WassersteinAmbiguity",
    ),
    "attribute_design": ("AttributeDesign", "SampledChoice", "design_attributes"),
    "bounds_computation": ("bounds",),
    "bounds_criteria": ("CriterionRow", "GuaranteeCriterion", "InformationCriterion"),
    "bounds_report": ("bounds_html",),
    "bounds_result": ("BoundRow", "BoundsResult", "BudgetBounds", "BudgetDetail"),
    "budget_planning": ("BudgetPlan", "plan_epsilon", "plan_error"),
    "budget_token": ("BudgetToken",),
    "categorical_comparison": ("OracleError", "compare_categorical"),
    "categorical_design": ("CategoricalDesign", "design_categorical"),
    "categorical_prior": ("CategoricalPrior",),
    "client_failures": ("ClientFailures",),
    "cohort": ("ClientCohort", "Cohort", "ValueCohort"),
    "columns": ("read_column", "read_pairs", "write_column"),
    "comparison": ("ComparisonRow", "compare"),
    "conditional_variance_plot": ("conditional_variance_figure",),
    "continuum": ("ContinuumCertificate", "GapDesign", "continuum_certificate", "design_to_gap"),
    "criterion_plot": ("criterion_figure",),
    "distribution_planning": ("DistributionPlan", "plan_distribution_epsilon", "plan_distribution_error"),
    "distribution_plot": ("distribution_figure",),
    "error_table_plot": ("error_table_figure",),
    "frequency_plot": ("frequency_figure",),
    "heatmap": ("mechanism_heatmap",),
    "information": ("InformationDesign", "design_information", "table_information", "table_trace"),
    "lattice": ("lattice_mechanism",),
    "least_favourable_plot": ("least_favourable_figure",),
    "mechanism_design": ("DEFAULT_TOLERANCE", "Design", "METHODS", "design"),
    "minimax": ("MinimaxDesign", "design_minimax", "minimax_knots"),
    "minimax_trade_off": ("design_trade_off", "trade_off_curve"),
    "one_report_client": ("OneReportClient", "SimulatedClient"),
    "optimum": ("CertifiedOptimum", "certified_optimum"),
    "parallel_sweep": ("sweep",),
    "prior": ("DEFAULT_FLOOR", "DEFAULT_KNOTS", "Prior"),
    "report_reading": ("ReadReports", "read_reports"),
    "robust": ("RobustDesign", "design_robust"),
    "robust_region": ("ReportAmbiguity", "confidence_region"),
    "shaped_comparison": ("ShapeRow", "shape_comparison"),
    "shaped_ptt": ("ShapedDesign", "design_shaped"),
    "sweep_table": ("SweepRow", "SweepTable"),
    "trade_off_plot": ("trade_off_figure",),
    "two_phase_plan": ("TwoPhasePlan", "TwoPhaseResult"),
    "two_phase_protocol": ("two_phase",),
    "variance_plot": ("variance_figure",),
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
    "ShapeRow",
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
    "shape_comparison",
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
