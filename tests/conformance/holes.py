"""What mechanisms refuse that others can, with the reason; a refusal that is not listed fails, and so does one that is
listed and no longer refused."""

from collections.abc import Mapping

from optldp.mechanisms.over_time import Way

from ..small_channels import COMBINATIONS, DRAWN_BY, SMALL

EVERY = {**SMALL, **COMBINATIONS}
OTHERS = tuple(DRAWN_BY)
LEVELS = tuple(name for name in EVERY if "levels" in name)
ATTRIBUTES = tuple(name for name in EVERY if "attributes" in name)
WAYS = tuple(name for name, made in EVERY.items() if isinstance(made, Way))
FEATURES = ("features",)
PAIRS = tuple(name for name in EVERY if "pairs" in name)

OVER_TIME = {WAYS: "reports are of a period, with a state: tests/designer/commands/test_over_time.py"}
NO_DRAWS = {
    OTHERS: "their reports are drawn by other programs: tests/mechanisms/third_party has some of these",
    **OVER_TIME,
}

HOLES: Mapping[str, Mapping[tuple[str, ...], str]] = {
    "perturbed": NO_DRAWS,
    "foreign_report_refused": NO_DRAWS,
    "text_read_again": {("seeded",): "draws no reports"},
    "counts_add_up": {**NO_DRAWS, FEATURES: "reports of features are in two columns: estimate takes them"},
    "drawn": {FEATURES: "not built: perturb draws them"},
    "estimated": NO_DRAWS,
    "repeated_user_refused": NO_DRAWS,
    "counted_file_estimated": {
        **NO_DRAWS,
        FEATURES: "reports of features are in two columns: estimate takes them",
        (
            "levels of attributes",
            "protected levels of attributes",
        ): "their users are nearly all different rows: estimate takes the reports",
    },
    "counted_by_sql": {
        FEATURES: "reports of features are in two columns: estimate takes them",
        ("seeded",): "a report is in two columns",
        WAYS: "each period has counts of its own",
        ATTRIBUTES: "a row of attributes is counted by numbers of outputs, which its reports are not",
    },
    "remembered": {
        ("seeded",): "draws no reports",
        ("delta",): "budgets of other promises do not add up to an epsilon",
        ("sensitive",): "of some values nothing is promised, which is no epsilon",
        LEVELS: "the mechanism of the user's level is booked",
    },
    "poisoned": {
        LEVELS: "depends on how many users chose which level",
        ("directions of numbers", "rows of numbers", "tree of numbers"): "influence is known of reports of one period",
    },
    "evaluated": {
        ("places", "categories of blocks"): "of no loss by a name, for which a new design could be made",
        FEATURES: "what features cost depends on the pilot: plan --for says it",
        ("cells",): "prior is of one column: plan --for table says what cells cost",
        ("directions of numbers", "tree of numbers"): "plan says what a way costs",
        PAIRS: "what pairs cost depends on each key's share and values together",
    },
    "audited": {
        OTHERS: "draws no reports",
        ("directions of numbers",): "each report has a seed of its own and comes once",
        ("tree of numbers",): "signs of changes have an audit over time",
        ("delta",): "an audit bounds log-ratios from below, and (epsilon, delta) bounds none from above",
    },
}
