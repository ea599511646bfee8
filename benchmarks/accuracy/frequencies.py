"""Frequencies of categories: squared errors of the methods, and how often their 95% intervals hold.

Real columns that chose nothing: Adult's workclass, occupation and country, Bank Marketing's month, and SF salaries' job
titles, the 116 most frequent ones (most of them rare) and all 1,637. Each repetition draws its users from the column's
frequencies, and every method sees the same reports. The error is the sum over categories of squared errors, times 10^4.
"rare" categories have a frequency below one standard error of the unbiased estimate, "frequent" ones above five.
Standard errors of coverage are over repetitions, as the intervals of one share their reports.

"delta method" is what the maximum likelihood was printed with before, its own value and standard error; "profile" is
the profile likelihood of randomised response with the other frequencies kept from being negative."""

from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.estimators.distributions.covariance import maximum_covariance
from optldp.estimators.frequencies.category_counts import CategoryCounts
from optldp.estimators.frequencies.decoder import frequency_decoder
from optldp.estimators.frequencies.estimation import estimate_frequencies
from optldp.estimators.frequencies.frequencies import FrequencyEstimate
from optldp.estimators.frequencies.likelihood import category_likelihood
from optldp.estimators.methods import FrequencyMethod
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.mechanism import CategoricalMechanism
from optldp.mechanisms.categorical.table import categorical_grr
from optldp.mechanisms.categorical.unary_encoding import optimised_unary

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
ORACLES = {"GRR": categorical_grr, "OLH": local_hashing, "OUE": optimised_unary}
METHODS: tuple[FrequencyMethod, ...] = ("unbiased", "norm-sub", "em", "mle", "shrunk")
EPSILONS = (0.5, 1.0, 2.0)
USERS = 20_000
MANY = 1000
"""Categories from which on "em", which takes thousands of steps, and the delta method are left out."""
NORMAL = 1.959963984540054


def run(data: Path, repetitions: int, workers: int) -> str:
    cases = [(data, name, oracle, e) for name in SETS for oracle, epsilons in _asked(name).items() for e in epsilons]
    found = list(zip(cases, repeat(_repetition, cases, repetitions, workers), strict=True))
    rows = [(*_named(case), *_shown(summary, "error"), _worst(summary)) for case, summary in found]
    parts = [
        "## Squared error",
        table(("column", "oracle", "epsilon", *METHODS, "shrunk / best of the others"), rows),
        "## Coverage of 95% intervals, %",
    ]
    kinds = (*METHODS, "delta method", "profile")
    for group in ("all", "rare", "frequent"):
        rows = [(*_named(case), *(_cover(summary, group, kind) for kind in kinds)) for case, summary in found]
        parts += [f"{group.capitalize()} categories:", table(("column", "oracle", "epsilon", *kinds), rows)]
    rows = [(*_named(case), *_shown(summary, "width")) for case, summary in found]
    parts += ["## Mean width of the intervals, %", table(("column", "oracle", "epsilon", *METHODS), rows)]
    return "\n\n".join(parts)


def _asked(name: str) -> dict[str, tuple[float, ...]]:
    """Oracles and budgets of a column: what takes long is left out."""
    if name == "job title, 1,637":
        return {"OLH": (1.0,)}
    slow = ("country, 42", "job title, 116")  # nearly all of OUE's reports differ
    return {oracle: EPSILONS for oracle in ORACLES if oracle != "OUE" or name not in slow}


def _shown(summary: Summary, what: str) -> list[str]:
    return [summary.show(f"{what} {m}") if f"{what} {m}" in summary.values else "" for m in METHODS]


def _named(case: tuple[Path, str, str, float]) -> tuple[str, ...]:
    return case[1], case[2], f"{case[3]:g}"


def _worst(summary: Summary) -> str:
    others = [f"error {m}" for m in METHODS if m != "shrunk" and f"error {m}" in summary.values]
    best = min(map(summary.mean, others))
    return f"{summary.mean('error shrunk') / best:.2f}"


def _cover(summary: Summary, group: str, kind: str) -> str:
    name = f"{group} {kind}"
    if name not in summary.values or not np.isfinite(summary.values[name]).all():
        return ""
    return f"{summary.mean(name):.1f} ± {summary.error(name):.1f}"


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
