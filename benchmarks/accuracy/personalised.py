"""PLDP-FEBSF's comparison: mean squared and mean absolute errors, over the categories, of estimated frequencies.

Education and Country are Adult's (32,561 users), Job is Bank Marketing's (45,211 users, 12 values; the paper's has 9,
and its Country is a larger file that was not at hand). Users choose among the budgets 0.1, 0.2, ..., 1.0, evenly or by
a power law, budget e with probability proportional to e^-0.6 (the exponent of the authors' program), whatever their
value. Values are reported by basic RAPPOR, levels by k-ary randomised response at epsilon_p. All methods of a row see
the same reports.

AUEM; AUEM clipped and divided by its sum; its projection on the simplex (norm-sub); EMOA as printed, 4 steps; the joint
maximum likelihood. "bound" is the Cramer-Rao bound without the constraints that frequencies are not negative, which
is why an estimate that keeps them can be below it."""

from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.estimators import CategoryCounts, PersonalisedCounts, auem, personalised_mle
from optldp.estimators.distributions.metrics import mae, mse
from optldp.estimators.frequencies import norm_sub
from optldp.estimators.personalised.auem import clipped, invert_supports
from optldp.estimators.personalised.fit import derivatives
from optldp.estimators.personalised.likelihood import personalised_likelihood
from optldp.mechanisms import PersonalisedMechanism
from optldp.mechanisms.categorical import basic_rappor
from optldp.mechanisms.combinators.personalised import PersonalisedReports
from redone.febsf.emoa import emoa_printed
from redone.febsf.personalised_baselines import apldp_levels, combine_levels, ppda, split_levels

from .full_tables import Row, chosen, geometric, number
from .repetitions import Errors, repeat

TITLE = "Personalised budgets"
SETS = {
    "Education": ("adult", "education"),
    "Job": ("bank_full", "job"),
    "Country": ("adult", "native_country"),
}
LAWS = ("even", "power law")
EXPONENT = 0.6
EPSILONS = tuple(round(0.1 * k, 1) for k in range(1, 11))
LEVEL_EPSILONS = (0.1, 0.2, 0.3, 0.5, 1.0)
PROTECTED = ("AUEM", "AUEM clipped", "AUEM norm-sub", "EMOA", "maximum likelihood")
OTHERS = ("RCF", "APLDP", "PPDA", "maximum likelihood, levels in the clear")
BLENDED = ("PBP, true shares", "PBP, random shares", *PROTECTED)
FIRST_THREE = ("AUEM", "AUEM clipped", "EMOA")
MEASURES = {"MSE": mse, "MAE": mae}
"""Times 10^4 and 10^2."""

LIKELIHOOD = PROTECTED[-1]
HIDDEN, CLEAR, TWO = "levels protected", "levels in the clear or not sent", "budgets 0.1 and 0.2 alone"


def rows(data: Path, repetitions: int, workers: int) -> list[Row]:
    """Return a row for each measure, way of sending levels, column, law and, of protected levels, epsilon_p."""
    cases = [(data, name, law) for name in SETS for law in LAWS]
    found = list(zip(cases, repeat(_errors, cases, repetitions, workers), strict=True))
    blended = list(zip(cases, repeat(_two_levels, cases, repetitions, workers), strict=True))
    made = list[Row]()
    for measure in MEASURES:
        for levels, some, methods in ((CLEAR, found, OTHERS), (TWO, blended, BLENDED)):
            for (_, name, law), one in some:
                row = {"measure": measure, "levels": levels, "data": name, "users": law, "epsilon_p": ""}
                made.append(row | {m: one.show(f"{measure} {m}") for m in methods})
        for (_, name, law), one in found:
            for e in LEVEL_EPSILONS:
                row = {"measure": measure, "levels": HIDDEN, "data": name, "users": law, "epsilon_p": f"{e:g}"}
                row |= {m: one.show(f"{measure} {m} {e}") for m in PROTECTED}
                made.append(row | ({"bound": f"{one.mean(f'bound {e}'):.3g}"} if measure == "MSE" else {}))
    return made


def page(found: list[Row]) -> str:
    """Return mean squared errors: of protected levels by epsilon_p, and of the other two comparisons."""
    hidden = chosen(found, measure="MSE", levels=HIDDEN)
    lines = []
    for e in LEVEL_EPSILONS:
        some = chosen(hidden, epsilon_p=f"{e:g}")
        ratios = [number(row[LIKELIHOOD]) / min(number(row[m]) for m in FIRST_THREE) for row in some]
        rivals = (geometric(number(row[m]) / number(row[LIKELIHOOD]) for row in some) for m in PROTECTED[:-1])
        lines.append((f"{e:g}", *(f"{ratio:.3g}" for ratio in rivals), f"{min(ratios):.2f} to {max(ratios):.2f}"))
    header = ("epsilon_p", *PROTECTED[:-1], "likelihood / best of AUEM, clipped, EMOA")
    parts = [
        "Mean squared errors with protected levels, as multiples of that of the maximum likelihood, geometric means "
        "over columns and laws:",
        table(header, lines),
    ]
    for levels, methods, note in ((CLEAR, OTHERS, OTHER_NOTE), (TWO, BLENDED, PBP_NOTE)):
        some = chosen(found, measure="MSE", levels=levels)
        lines = [(row["data"], row["users"], *(f"{number(row[m]):g}" for m in methods)) for row in some]
        parts += [f"Mean squared errors, 10^-4, {levels}. {note}", table(("data", "users", *methods), lines)]
    return "\n\n".join(parts)


OTHER_NOTE = """RCF, APLDP and the last column know every user's level; PPDA's users append as many zeros as there
are categories and send no level. At these budgets APLDP chooses RAPPOR at every level: it is RCF with other noise."""

PBP_NOTE = """epsilon_p 0.1. PBP knows the users' shares of the two levels and is sent none; "random" shares, drawn
evenly, are what the paper gave it."""


def _errors(data: Path, name: str, law: str, rng: np.random.Generator) -> Errors:
    codes, labels, truth = _column(data, name)
    shares = _shares(law, EPSILONS)
    levels = rng.choice(len(EPSILONS), codes.size, p=shares)
    clear = PersonalisedMechanism([basic_rappor(labels.tolist(), e) for e in EPSILONS])
    sent = clear.sample(labels[codes], levels, rng)
    errors = {}
    for epsilon in LEVEL_EPSILONS:
        mechanism = PersonalisedMechanism(clear.levels, epsilon)
        counts = PersonalisedCounts.from_reports(mechanism, _reported(mechanism, levels, sent, rng))
        errors |= _measured(_estimates(counts), truth, f" {epsilon}")
        errors[f"bound {epsilon}"] = 1e4 * _bound(counts, shares, truth)
    counts = PersonalisedCounts.from_reports(clear, sent)
    others = {
        OTHERS[0]: combine_levels(split_levels(counts)).value,
        OTHERS[1]: _apldp(codes, labels, levels, rng),
        OTHERS[2]: _ppda(codes, labels, levels, rng),
        OTHERS[3]: personalised_mle(counts).value,
    }
    return errors | _measured(others, truth)


def _two_levels(data: Path, name: str, law: str, rng: np.random.Generator) -> Errors:
    codes, labels, truth = _column(data, name)
    shares = _shares(law, EPSILONS[:2])
    levels = rng.choice(2, codes.size, p=shares)
    mechanism = PersonalisedMechanism([basic_rappor(labels.tolist(), e) for e in EPSILONS[:2]], 0.1)
    counts = PersonalisedCounts.from_reports(mechanism, mechanism.sample(labels[codes], levels, rng))
    guessed = rng.random()
    blended = {
        BLENDED[0]: invert_supports(counts, shares),
        BLENDED[1]: invert_supports(counts, [guessed, 1.0 - guessed]),
    }
    return _measured(blended | _estimates(counts), truth)


def _estimates(counts: PersonalisedCounts) -> dict[str, np.ndarray]:
    inverted = auem(counts).value
    found = inverted, clipped(inverted), norm_sub(inverted), emoa_printed(counts).frequencies
    return dict(zip(PROTECTED, (*found, personalised_mle(counts).value), strict=True))


def _measured(found: dict[str, np.ndarray], truth: np.ndarray, suffix: str = "") -> Errors:
    scale = {"MSE": 1e4, "MAE": 1e2}
    return {
        f"{measure} {name}{suffix}": scale[measure] * error(estimate, truth)
        for measure, error in MEASURES.items()
        for name, estimate in found.items()
    }


def _reported(
    mechanism: PersonalisedMechanism, levels: np.ndarray, sent: PersonalisedReports, rng: np.random.Generator
) -> PersonalisedReports:
    """The same reports of the values, with levels reported anew."""
    law = mechanism.level_response.cumsum(axis=1)[levels]
    return PersonalisedReports((rng.random(levels.size)[:, None] > law[:, :-1]).sum(axis=1), sent.reports)


def _bound(counts: PersonalisedCounts, shares: np.ndarray, truth: np.ndarray) -> float:
    """Mean over the categories of the least variance given the users' values, from the scores at the truth."""
    scores = derivatives(personalised_likelihood(counts), shares, truth).scores
    centre = np.zeros_like(scores)
    for block in (slice(0, shares.size), slice(shares.size, None)):
        size = len(scores[block])
        centre[block, block] = np.eye(size) - 1.0 / size
    least = np.linalg.pinv(centre @ scores @ centre, hermitian=True, rcond=1e-10)[shares.size :, shares.size :]
    return float(np.trace(least) - (1.0 - truth @ truth)) / counts.n_users / truth.size


def _apldp(codes: np.ndarray, labels: np.ndarray, levels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    groups = [
        CategoryCounts.from_reports(made, made.sample(labels[codes[levels == i]], rng))
        for i, made in enumerate(apldp_levels(labels.tolist(), EPSILONS))
    ]
    return combine_levels(groups).value


def _ppda(codes: np.ndarray, labels: np.ndarray, levels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    padded = [*labels, *(f"zero {k}" for k in range(labels.size))]
    ones = np.zeros(len(padded))
    for i, epsilon in enumerate(EPSILONS):
        made = basic_rappor(padded, epsilon)
        ones += made.bits(made.sample_codes(codes[levels == i], rng)).sum(axis=0)
    return ppda(ones, codes.size, labels.size)


def _shares(law: str, epsilons: tuple[float, ...]) -> np.ndarray:
    weights = np.array(epsilons) ** (-EXPONENT if law == "power law" else 0.0)
    return weights / weights.sum()


def _column(data: Path, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes of the users' values, the categories' labels, and their shares among the users."""
    file, column = SETS[name]
    with np.load(data / f"{file}.npz", allow_pickle=False) as arrays:
        codes, size = arrays[column].astype(np.int64), len(arrays[f"{column}_vocab"])
    return codes, np.array([str(k) for k in range(size)]), np.bincount(codes, minlength=size) / codes.size
