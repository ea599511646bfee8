"""Frequencies of categories: squared errors of the methods, and how often their 95% intervals hold.

Real columns that chose nothing: Adult's workclass, occupation and country, Bank Marketing's month, and SF salaries' job
titles, the 116 most frequent ones (most of them rare) and all 1,637. Each repetition draws its users from the column's
frequencies, and every method sees the same reports. The error is the sum over categories of squared errors, times 10^4.
OUE and subset selection (SS) are left out of the larger columns, where nearly all of their reports differ.
"rare" categories have a frequency below one standard error of the unbiased estimate, "frequent" ones above five.
Standard errors of coverage are over repetitions, as the intervals of one share their reports.

"delta method" is what the maximum likelihood was printed with before, its own value and standard error; "profile" is
the profile likelihood of randomised response with the other frequencies kept from being negative."""

from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.estimators import CategoryCounts, FrequencyEstimate, estimate_frequencies
from optldp.estimators.distributions.covariance import maximum_covariance
from optldp.estimators.frequencies import frequency_decoder
from optldp.estimators.frequencies.likelihood import category_likelihood
from optldp.estimators.methods import FrequencyMethod
from optldp.mechanisms import CategoricalMechanism
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection

from .coverage import LEAST, surely_below
from .full_tables import Row, chosen, error, geometric, number
from .repetitions import Errors, Summary, repeat

TITLE = "Frequencies of categories"
SETS = {
    "workclass, 9": ("adult", "workclass", None),
    "month, 12": ("bank_full", "month", None),
    "occupation, 15": ("adult", "occupation", None),
    "country, 42": ("adult", "native_country", None),
    "job title, 116": ("sf_salaries_2011_2014", "job_title", 116),
    "job title, 1,637": ("sf_salaries_2011_2014", "job_title", None),
}
ORACLES = {"GRR": categorical_grr, "OLH": local_hashing, "OUE": optimised_unary, "SS": subset_selection}
SUBSETS = "SS"
METHODS: tuple[FrequencyMethod, ...] = ("unbiased", "norm-sub", "em", "mle", "shrunk")
EPSILONS = (0.5, 1.0, 2.0)
USERS = 20_000
GROUPS = ("all", "rare", "frequent")
KINDS = (*METHODS, "delta method", "profile")
MEASURES = ("error", *GROUPS, "width")
MANY = 1000
"""Categories from which on "em", which takes thousands of steps, and the delta method are left out."""
NORMAL = 1.959963984540054


def rows(data: Path, repetitions: int, workers: int) -> list[Row]:
    """Return a row for each column, oracle, budget and measure."""
    cases = [(data, name, oracle, e) for name in SETS for oracle, epsilons in _asked(name).items() for e in epsilons]
    found = list(zip(cases, repeat(_repetition, cases, repetitions, workers), strict=True))
    return [
        {
            "column": name,
            "oracle": oracle,
            "epsilon": f"{epsilon:g}",
            "repetitions": f"{repetitions}",
            "measure": measure,
        }
        | {kind: _shown(summary, f"{measure} {kind}") for kind in KINDS}
        for measure in MEASURES
        for (_, name, oracle, epsilon), summary in found
    ]


def page(found: list[Row]) -> str:
    """Return errors and widths by column, and coverage by group of categories."""
    parts = [
        "Squared error, as a multiple of that of the best of the five, geometric means over oracles and budgets; in "
        "brackets the width of intervals as a multiple of that of the unbiased ones:",
        table(("column", *METHODS), [(name, *(_against_best(found, name, m) for m in METHODS)) for name in SETS]),
    ]
    header = ("intervals of", *GROUPS)
    parts += [
        "Coverage of 95% intervals, %: mean over columns, oracles and budgets, and in brackets the least of them:",
        table(header, [(kind, *(_covered(found, group, kind) for group in GROUPS)) for kind in KINDS]),
        _verdict(found),
        _oracles(found),
    ]
    return "\n\n".join(parts)


def _oracles(found: list[Row]) -> str:
    """The error through each oracle, beside that through subset selection from reports of its own."""
    errors = chosen(found, measure="error")
    own = {(row["column"], row["epsilon"]): number(row["unbiased"]) for row in errors if row["oracle"] == SUBSETS}
    said = []
    for oracle in ORACLES:
        some = [row for row in chosen(errors, oracle=oracle) if (row["column"], row["epsilon"]) in own]
        logs = np.log([number(row["unbiased"]) / own[row["column"], row["epsilon"]] for row in some])
        if oracle != SUBSETS:
            middle = np.exp(logs.mean())
            said.append(f"{oracle} {middle:.2f} ± {middle * logs.std(ddof=1) / np.sqrt(logs.size):.1g}")
    return (
        f"Squared error of `unbiased` as a multiple of that through subset selection (SS), geometric means over "
        f"{len(own)} columns and budgets: {', '.join(said)}."
    )


def _against_best(found: list[Row], name: str, method: str) -> str:
    errors, widths = (chosen(found, column=name, measure=measure) for measure in ("error", "width"))
    if not all(row[method] for row in errors):
        return ""
    ratio = geometric(number(row[method]) / min(number(row[m]) for m in METHODS if row[m]) for row in errors)
    wide = geometric(number(row[method]) / number(row["unbiased"]) for row in widths)
    return f"{ratio:.2f} ({wide:.2f})"


def _covered(found: list[Row], group: str, kind: str) -> str:
    shares = [number(row[kind]) for row in chosen(found, measure=group) if row[kind]]
    return f"{np.mean(shares):.1f} ({min(shares):.1f})"


def _verdict(found: list[Row]) -> str:
    cells = [(row, kind) for row in found if row["measure"] in GROUPS for kind in METHODS if row[kind]]
    bad = [(row, kind) for row, kind in cells if _below(row, kind, len(cells))]
    named = "; ".join(
        f"{row['measure']} of {row['column']}, {row['oracle']} at {row['epsilon']}, {kind} {row[kind]}"
        for row, kind in bad
    )
    return (
        f"Of {len(cells)} cells of the five methods {len(bad)} cover less than {LEAST:.0%} beyond two standard errors, "
        f"corrected for as many looks (Bonferroni, Student's t)" + (f": {named}." if bad else ".")
    )


def _below(row: Row, kind: str, looks: int) -> bool:
    mean, scatter = number(row[kind]) / 100, error(row[kind]) / 100
    return surely_below(mean, scatter, int(row["repetitions"]), looks, yes_or_no=False)


def _asked(name: str) -> dict[str, tuple[float, ...]]:
    """Oracles and budgets of a column: what takes long is left out."""
    if name == "job title, 1,637":
        return {"OLH": (1.0,)}
    slow = ("country, 42", "job title, 116")  # nearly all of these reports differ
    return {oracle: EPSILONS for oracle in ORACLES if oracle not in ("OUE", "SS") or name not in slow}


def _shown(summary: Summary, name: str) -> str:
    if name not in summary.values or not np.isfinite(summary.values[name]).all():
        return ""
    return summary.show(name)


def _repetition(data: Path, name: str, oracle: str, epsilon: float, rng: np.random.Generator) -> Errors:
    truth = frequencies_of(data, name)
    mechanism = ORACLES[oracle](range(truth.size), epsilon)
    codes = rng.choice(truth.size, USERS, p=truth)
    return measured(CategoryCounts.from_reports(mechanism, mechanism.sample_codes(codes, rng)), truth)


def measured(counts: CategoryCounts, truth: np.ndarray) -> Errors:
    """Return errors, coverage and widths of all methods on the same reports."""
    found, ends, scale = {}, {}, np.sqrt(_variances(counts.mechanism, truth) / counts.n_users)
    groups = {"all": truth >= 0, "rare": truth < scale, "frequent": truth > 5 * scale}
    for method in METHODS:
        if method == "em" and truth.size >= MANY:
            continue
        estimate = estimate_frequencies(counts, method=method)
        found[f"error {method}"] = 1e4 * float(np.sum((estimate.value - truth) ** 2))
        ends[method] = estimate.interval()
        found[f"width {method}"] = 100 * float(np.mean(ends[method].high - ends[method].low))
        if method == "mle" and truth.size < MANY:
            ends["delta method"] = _delta_method(counts, estimate)
    inside = {kind: (end.low <= truth) & (truth <= end.high) for kind, end in ends.items() if kind != "delta method"}
    if "delta method" in ends:
        low, high = ends["delta method"]
        inside["delta method"] = (low <= truth) & (truth <= high)
    if counts.mechanism.provenance.method == "grr":
        inside["profile"] = in_profile(counts, truth)
    for group, members in groups.items():
        if members.any():
            found |= {f"{group} {kind}": 100 * float(np.mean(held[members])) for kind, held in inside.items()}
    return found


def _variances(mechanism: CategoricalMechanism, truth: np.ndarray) -> np.ndarray:
    return frequency_decoder(mechanism).variances(truth) + truth * (1.0 - truth)


def _delta_method(counts: CategoryCounts, estimate: FrequencyEstimate) -> tuple[np.ndarray, np.ndarray]:
    covariance = maximum_covariance(category_likelihood(counts), estimate.value)
    reach = NORMAL * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return np.maximum(estimate.value - reach, 0.0), np.minimum(estimate.value + reach, 1.0)


def in_profile(counts: CategoryCounts, truth: np.ndarray) -> np.ndarray:
    """Return whether each true frequency is in its profile's interval over the simplex, by randomised response.

    Reports of category k have probability mu_k = q + (p - q) f_k >= q; with one of them given, the others that make the
    counts likeliest are max(q, c_j / s) with the s for which all add up to one.
    """
    law, size = counts.mechanism.pmf([0])[0], truth.size
    p, q = float(law[0]), float(law[1])
    seen = np.bincount(counts.reports, counts.counts, size)
    best = _loglik(seen, q, 1.0)
    held = np.empty(size, dtype=bool)
    for k, frequency in enumerate(truth):
        mine = q + (p - q) * frequency
        others = _loglik(np.delete(seen, k), q, 1.0 - mine)
        held[k] = 2 * (best - others - seen[k] * np.log(mine)) <= NORMAL**2
    return held


def _loglik(seen: np.ndarray, least: float, total: float) -> float:
    """The largest sum of c_j log(mu_j) over mu_j >= least that add up to the total."""
    falling = np.sort(seen)[::-1]
    free = np.arange(falling.size, 0, -1)  # so many are above the least one: the fewest that are not, first
    scale = np.cumsum(falling)[free - 1] / (total - (falling.size - free) * least)
    which = int(np.argmax(falling[free - 1] > scale * least)) if falling[0] > 0 else 0
    probabilities = np.maximum(falling / scale[which], least)
    return float(np.sum(falling * np.log(probabilities)))


def frequencies_of(data: Path, name: str) -> np.ndarray:
    """Return the shares of a column's values, of the most frequent ones if it says how many."""
    file, column, most = SETS[name]
    with np.load(data / f"{file}.npz", allow_pickle=False) as arrays:
        shares = np.sort(np.bincount(arrays[column]))[::-1][:most]
    return shares / shares.sum()
