"""What the words of `design` and `show` mean: one plain sentence or two for each number that is printed."""

from __future__ import annotations

from collections.abc import Iterable

GLOSSARY = {
    "bias": (
        "How far reports are off on average, over all that chance may do. More people do not lower it. Mechanisms "
        "are unbiased unless asked for otherwise."
    ),
    "budget, epsilon": (
        "How much a report may tell: no report is more than e^epsilon times as likely for one value as for "
        "another. Smaller is more private."
    ),
    "bundle": "A file that holds a mechanism of more than one table, such as of several attributes or budgets.",
    "certificate": "Numbers from which anyone can compute, without believing the solver, that nothing is much better.",
    "clip": "To count a value outside a range as the range's nearer end.",
    "confidence": "The share of cases in which an interval holds what it is of; 95% unless asked otherwise.",
    "counts": "How often each report came: all that estimators need. They add up.",
    "expected variance": (
        "Of one report about the value, averaged over the prior. The mean of n people has an n-th of it, and its "
        "error goes with the root."
    ),
    "floor": (
        "The least probability that a report has, whatever the value. An optimal table is its floor and a window "
        "for each value."
    ),
    "gap, relative gap": "How far a number may be from the best possible, as a share: 1e-6 is a millionth.",
    "knots": (
        "The values that a table has rows for. A value between two of them is rounded to one of the two, at random "
        "and without bias."
    ),
    "level": "One of several budgets that people may choose from.",
    "local differential privacy (LDP)": "Each person's device changes the answer before it leaves.",
    "log-ratio": (
        "Logarithm of how many times as likely a report is for one value as for another. The largest of a table "
        "must not exceed epsilon."
    ),
    "lower bound": "What no mechanism of the kind can be better than; certified.",
    "mean within": (
        "How far off the mean of so many people may be to either side, in as many cases as the percentage says. "
        "It is their own mean, and what is assumed of their values follows the number."
    ),
    "mechanism": "A rule for changing answers at random.",
    "output": "A report that is possible. Its number is its index.",
    "prior": (
        "What is known of the values beforehand: values and their weights. If it comes from the data to be "
        "protected it is as sensitive as they are."
    ),
    "promise": "The privacy that a mechanism claims to keep; `optldp verify` proves it, or not.",
    "range": (
        "The values that may be reported, from the smallest to the largest: `--range LO HI`, `domain` in Python and in "
        "files."
    ),
    "ratio to optimal": "Variance over the least possible: 1.2 means 20% more.",
    "report": "A changed answer, what the collector gets.",
    "root mean squared error": "Root of the squared error's mean: noise and bias together.",
    "service": "A collector; several may ask the same people.",
    "standard error": (
        "How far an estimate typically is off, by chance. Nineteen times of twenty it is within twice that."
    ),
    "table": "A mechanism written out: the probability of each output at each knot.",
    "trust": "The factor by which a prior's weights may be off.",
    "unbiased": "Right on average: the mean of many reports of a value is the value.",
    "uniform share": (
        "Part of the prior that is spread evenly over the range, so that values thought impossible are treated "
        "decently too; 0.001 unless asked otherwise."
    ),
    "users": "The people who report, once each.",
    "window": "The outputs that a value makes e^epsilon times as likely as their floor.",
    "worst case": "The largest variance over all values of the range.",
}
"""The rows of docs/glossary.md, in its words and its order."""

NUMBERS = {
    "across": "The budget of two values of different blocks.",
    "all_users": "Of several attributes: the people who are asked, of whom each reports some.",
    "attributes": "The columns that are asked for.",
    "between_knots": "How much larger the worst case is at values between knots than at knots, as a share.",
    "bias_bound": "The most by which the mean is off on average, in units of the data, however many people report.",
    "bound": GLOSSARY["lower bound"],
    "categories": "How many different answers there are.",
    "central_epsilon": "What mixed reports keep, but for a probability of delta; rounded up.",
    "clip_high": "Values above it are counted as it.",
    "clip_low": "Values below it are counted as it.",
    "continuum_lower_bound": "The lower bound on every mechanism of the range, with whatever knots.",
    "delta": "The chance, at most, with which a report may tell more than epsilon allows.",
    "domain": GLOSSARY["range"],
    "epsilon": GLOSSARY["budget, epsilon"],
    "expected": "What the expected variance counts for beside the worst case.",
    "expected_loss": "The loss of one report, on average over the prior.",
    "expected_squared_error": "Of one report: the squared errors of all shares, added up, on average over the prior.",
    "expected_variance": GLOSSARY["expected variance"],
    "expected_variances": "The expected variance of one report, at each level.",
    "gap": GLOSSARY["gap, relative gap"],
    "guaranteed_anywhere": "The guaranteed variance if values may lie anywhere between knots.",
    "guaranteed_variance": "The expected variance of one report under the worst prior of those that are allowed for.",
    "information_nats": "How much a report tells of the value, in natural units of information.",
    "information_upper_bound": "What no mechanism of the kind can tell more than; certified.",
    "interval_bound": "The bound on mechanisms each of whose reports favours values beside each other.",
    "interval_gap": "How far from that bound, as a share.",
    "kept": "What the table was found to keep: the least number that its promise could name.",
    "keys": "How many different keys there are.",
    "knots": GLOSSARY["knots"],
    "knots_tried": "The numbers of knots that were tried, until the total gap was small enough.",
    "level_epsilon": "The budget of the report that says which level somebody chose.",
    "level_leakage": "How much all reports of somebody tell of the level, to one who knows the value; as epsilon does.",
    "levels": GLOSSARY["level"],
    "log_ratios": "What is promised of each two values, of all paths by way of others the shortest.",
    "lower_bound": GLOSSARY["lower bound"],
    "max_abs_bias": "The largest bias of one report, whatever the value; rounding leaves next to nothing of it.",
    "max_log_ratio": GLOSSARY["log-ratio"],
    "mean_within": GLOSSARY["mean within"],
    "mixed_loss": "The expected and the worst loss of one report, each in its share.",
    "n": GLOSSARY["users"],
    "noise": "The part of the error of the mean that is chance; more people lower it.",
    "nominal_guarantee": "The guaranteed variance of the design that trusts the prior.",
    "nominal_variance": "The expected variance of the design that trusts the prior.",
    "one_report": "The most that one person who lies, or leaves, can move what n people are estimated by: this over n.",
    "other_shown": "How likely a report shows something that the person does not have.",
    "other_support": "How likely a report speaks for a category that is not the person's.",
    "outputs": "How many different reports there are.",
    "own_shown": "How likely a report shows what the person has.",
    "own_support": "How likely a report speaks for the person's own category.",
    "padding": "How many pairs a person holds, about.",
    "people": GLOSSARY["users"],
    "period": "After how much values round a circle are the same again.",
    "posterior_risk": "The loss of one report on average, if it is read as what is best once the prior is known.",
    "predicted_variance_one_user": "The variance of each mean, times the number of people who are asked.",
    "price_of_robustness": "The expected variance over that of the design that trusts the prior: 1.2 means 20% more.",
    "program_lower_bound": "What no mechanism can have less of, under the prior with its uniform share; certified.",
    "program_variance": "The expected variance of one report under the prior with its uniform share.",
    "quantile_error": "The standard error of the quantile of so many people.",
    "quantile_error_at_least": "What no mechanism of the kind can have less of; certified.",
    "queries": "How many answers are wanted, each a weighted sum of frequencies.",
    "radius": "How far from the prior the truth may be.",
    "relative_gap": GLOSSARY["gap, relative gap"],
    "report_leakage": "How much the report of a value tells of the level, to one who knows the value; as epsilon does.",
    "rmse": GLOSSARY["root mean squared error"] + " Of the mean of so many people.",
    "rmse_biased": "The same, of a mechanism that counts rare values as less than they are (--objective error).",
    "rmse_clip": "The same, if values are clipped first and the mechanism is unbiased.",
    "rmse_heavier": "The same, if the tails are so many times heavier.",
    "rmse_of_all_users": "The same, for the mean of all who are asked, those included whom chance left out.",
    "rmse_unbiased": "The same, of the best mechanism without bias.",
    "rule_of_thumb": "How many attributes a published rule would ask of each person.",
    "sampled": "How many attributes each person reports, drawn by chance.",
    "sampling_error": "What the population's answers differ by from sample to sample, without any privacy.",
    "seconds": "How long it took to find.",
    "share_outside": "The share of the prior that is counted as less, or more, than it is.",
    "shuffle_delta": "The chance, at most, with which mixed reports tell more than their epsilon allows.",
    "shift": "By how much more than itself, or than the clip, a value is counted on average: a part of the bias.",
    "scale": "How far the noise reaches, about, in units of the data.",
    "sigma": "The standard deviation of the noise, in units of the data.",
    "smooth_trace": "The squared error of the distribution function by a smooth estimate, times the number of people.",
    "square_wave_smooth_trace": "The same with the square wave's reports.",
    "solver": "Who solved the problem; value and bound do not rest on it. docs/problem.md has the names.",
    "std_error_times_root_n": "The standard error of a share, times the root of the number of people.",
    "tails_heavier": "How many times heavier than trusted the rare values are taken to be, to see what it costs.",
    "thresholds": "Where the quantile may be found: how many places between values, and from where to where.",
    "tolerance": "The relative gap that was to be reached.",
    "total_gap": "How far from the best of every mechanism of the range, whatever its knots, as a share.",
    "trace": "The variances of all weights that are estimated of a distribution, added up: less is better.",
    "trace_lower_bound": "What no mechanism of the kind can have less of; certified.",
    "trust": GLOSSARY["trust"],
    "uniform_share": GLOSSARY["uniform share"],
    "users": GLOSSARY["users"],
    "value": "What the objective comes to: what was made as small, or as informative, as can be.",
    "value_epsilon": "The part of the budget that the value of a pair is reported with.",
    "weight": "What the worst case counts for beside the expected variance.",
    "weighted_variance": "The expected variance and the worst case, each times its weight, added up.",
    "within": "The budget of two values of one block.",
    "worst": "What the worst case counts for beside the expected variance.",
    "worst_case_lower_bound": GLOSSARY["lower bound"],
    "workload_error": (
        "The variances of all answers around those for the very users who report, added up, times their number."
    ),
    "worst_case_variance": GLOSSARY["worst case"],
    "worst_loss": "The largest loss of one report on average, over all values.",
    "worst_knot_variance": "The largest variance of one report over the knots alone.",
}
"""Of each number by the name that it is printed under; where the glossary has the word, in the glossary's words."""

MEAN_WITHIN = "mean_within"
"""Name of what is said in a sentence."""

WORDS = {
    "file": GLOSSARY["bundle"],
    "form": GLOSSARY["floor"],
    "kind": "What sort of mechanism the file holds.",
    "promise": GLOSSARY["promise"],
    "prior": GLOSSARY["prior"],
    "table": GLOSSARY["table"],
}
"""Of what is printed and is no number, where the word wants explaining."""

BRIEF = {
    "knots": "values that the table has rows for",
    "relative_gap": "how far from the best possible at most, as a share",
    "continuum_lower_bound": "no unbiased mechanism has less, whatever its knots",
    "total_gap": "how far from it, as a share",
    "certificate: bound": "certified: nothing on these knots is better",
    "certificate: gap": "how far from the best possible at most, as a share",
    "certificate: uniform_share": "part of the prior that is spread evenly over the range",
    "parameters: k": "a report's window is around k times the value, on a domain scaled to [-1, 1]",
    "parameters: a": "half the window's width there",
    "form": "a few numbers a knot, from which the table follows",
}
"""What is printed beside a number whose name says little by itself."""


def with_brief(name: str, value: str) -> str:
    """Return a value as it is printed, with what its name means where that does not say it.

    Example
    -------
    >>> with_brief("knots", "101"), with_brief("epsilon", "1")
    ('101 (values that the table has rows for)', '1')
    """
    return f"{value} ({BRIEF[name]})" if name in BRIEF else value


def explained(names: Iterable[str]) -> dict[str, str]:
    """Return what the facts of these names mean, those that want explaining; "certificate: gap" by its last word.

    Example
    -------
    >>> explained(["method", "certificate: tolerance"])
    {'certificate: tolerance': 'The relative gap that was to be reached.'}
    """
    known = WORDS | NUMBERS
    last = {name: name.rpartition(": ")[2] for name in names}
    return {name: known[word] for name, word in last.items() if word in known}
