"""The estimates that PLDP-FEBSF compares: AUEM, EMOA, RCF, APLDP, PPDA, PBP; and the joint maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from optldp.estimators import CategoryCounts, PersonalisedCounts, auem, personalised_mle
from optldp.estimators.distributions.metrics import mae, mse
from optldp.estimators.personalised import personalised_shrunk
from optldp.estimators.personalised.auem import clipped, invert_supports
from optldp.mechanisms import PersonalisedMechanism
from optldp.mechanisms.categorical import basic_rappor

from ..experiment.repeated import Errors
from ..experiment.script import Run
from .emoa import emoa_printed, emoa_released
from .personalised_baselines import apldp_levels, combine_levels, ppda, recycle, split_levels

PROTECTED = ("AUEM", "AUEM clipped", "EMOA as printed", "EMOA as released", "likelihood", "shrunk")
OTHERS = ("RCF", "RCF, recycling", "APLDP", "PPDA")
LAWS = ("even", "power law")
EXPONENT = 0.6
"""A user chooses budget e with probability in proportion to e^-0.6, the exponent of the authors' program."""

EPSILONS = tuple(round(0.1 * k, 1) for k in range(1, 11))
COLUMNS = {"Education": ("adult", "education"), "Job": ("bank_full", "job"), "Country": ("adult", "native_country")}
SIZES = {"Education": 16, "Job": 12, "Country": 42}
USERS, COUNTRY_USERS = 32_561, 48_842


@dataclass(frozen=True)
class Population:
    """All users' categories, as numbers, and the share of each category."""

    codes: np.ndarray
    truth: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        """The categories' names."""
        return np.array([str(k) for k in range(self.truth.size)])


def populations(run: Run) -> dict[str, Population]:
    """Adult's education and country and the bank's jobs; without --data Zipf's law on as many categories."""
    if run.data is None:
        return {f"Zipf for {name}": zipf(size, USERS if not run.quick else 8_000) for name, size in SIZES.items()}
    found = {}
    for name, (file, column) in COLUMNS.items():
        with np.load(run.data / f"{file}.npz", allow_pickle=False) as arrays:
            codes, size = arrays[column].astype(np.int64), len(arrays[f"{column}_vocab"])
        found[name] = Population(codes, np.bincount(codes, minlength=size) / codes.size)
    return found


def as_printed(run: Run) -> dict[str, Population]:
    """The paper's sizes: Education, the nine most frequent jobs, and 48,842 draws from Adult's countries."""
    found = populations(run)
    education, job, country = found.values()
    top = np.argsort(-job.truth, kind="stable")[:9]
    place = np.full(job.truth.size, -1)
    place[top] = np.arange(9)
    codes = place[job.codes]
    codes = codes[codes >= 0]
    rng = np.random.default_rng([run.seed, 8])
    draws = rng.choice(country.truth.size, COUNTRY_USERS, p=country.truth)
    return {
        "Education": education,
        "Job, 9 values": Population(codes, np.bincount(codes) / codes.size),
        f"Country, {COUNTRY_USERS:,} draws": Population(
            draws, np.bincount(draws, minlength=country.truth.size) / draws.size
        ),
    }


def zipf(size: int, users: int) -> Population:
    """Return users whose categories follow Zipf's law, as nearly as whole numbers can."""
    weights = 1.0 / np.arange(1, size + 1)
    ends = np.round(users * np.cumsum(weights) / weights.sum()).astype(np.int64)
    counts = np.diff(ends, prepend=0)
    return Population(np.repeat(np.arange(size), counts), counts / counts.sum())


def shares(law: str, epsilons: tuple[float, ...] = EPSILONS) -> np.ndarray:
    """Return the probability with which a user chooses each budget."""
    weights = np.array(epsilons) ** (-EXPONENT if law == "power law" else 0.0)
    return weights / weights.sum()


def protected(population: Population, levels: np.ndarray, epsilon_p: float, rng: np.random.Generator) -> Errors:
    """Return MSE and MAE of the methods that protect the level."""
    mechanism = PersonalisedMechanism([basic_rappor(population.labels.tolist(), e) for e in EPSILONS], epsilon_p)
    sent = mechanism.sample(population.labels[population.codes], levels, rng)
    return errors(with_even(estimates(PersonalisedCounts.from_reports(mechanism, sent))), population.truth)


def estimates(counts: PersonalisedCounts) -> dict[str, np.ndarray]:
    """Return the frequencies by each method that protects the level."""
    inverted = auem(counts).value
    printed, released = emoa_printed(counts).frequencies, emoa_released(counts)
    ours = personalised_mle(counts).value, personalised_shrunk(counts).value
    found = (inverted, clipped(inverted), printed, released, *ours)
    return dict(zip(PROTECTED, found, strict=True))


def others(population: Population, levels: np.ndarray, rng: np.random.Generator) -> Errors:
    """Return MSE and MAE of RCF and APLDP, which see the levels, and PPDA, to which none are sent."""
    labels, codes = population.labels, population.codes
    clear = PersonalisedMechanism([basic_rappor(labels.tolist(), e) for e in EPSILONS])
    counts = PersonalisedCounts.from_reports(clear, clear.sample(labels[codes], levels, rng))
    chosen = enumerate(apldp_levels(labels.tolist(), EPSILONS))
    groups = [CategoryCounts.from_reports(m, m.sample(labels[codes[levels == i]], rng)) for i, m in chosen]
    split = split_levels(counts)
    found = (
        combine_levels(split).value,
        recycle(split, rng),
        combine_levels(groups).value,
        _padded(population, levels, rng),
    )
    return errors(dict(zip(OTHERS, found, strict=True)), population.truth)


def _padded(population: Population, levels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """PPDA: as many zeros appended as there are categories."""
    labels = population.labels
    padded = [*labels, *(f"zero {k}" for k in range(labels.size))]
    ones = np.zeros(len(padded))
    for i, epsilon in enumerate(EPSILONS):
        made = basic_rappor(padded, epsilon)
        ones += made.bits(made.sample_codes(population.codes[levels == i], rng)).sum(axis=0)
    return ppda(ones, population.codes.size, labels.size)


def two_budgets(population: Population, law: str, rng: np.random.Generator) -> Errors:
    """Return MSE and MAE with budgets 0.1 and 0.2 alone and epsilon_p 0.1, PBP among the methods."""
    pair = EPSILONS[:2]
    chances = shares(law, pair)
    levels = rng.choice(2, population.codes.size, p=chances)
    mechanism = PersonalisedMechanism([basic_rappor(population.labels.tolist(), e) for e in pair], 0.1)
    sent = mechanism.sample(population.labels[population.codes], levels, rng)
    counts, guessed = PersonalisedCounts.from_reports(mechanism, sent), rng.random()
    blended = {
        "PBP, true shares": invert_supports(counts, chances),
        "PBP, random shares": invert_supports(counts, [guessed, 1.0 - guessed]),
    }
    return errors(with_even(blended | estimates(counts)), population.truth)


def with_even(found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Add the estimate that looks at no report: even frequencies."""
    size = next(iter(found.values())).size
    return found | {"even": np.full(size, 1.0 / size)}


def errors(found: dict[str, np.ndarray], truth: np.ndarray) -> Errors:
    """Return the mean squared and the mean absolute error of each estimate."""
    measures = {"MSE": mse, "MAE": mae}
    return {f"{m} {name}": error(estimate, truth) for m, error in measures.items() for name, estimate in found.items()}
