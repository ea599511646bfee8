"""How likely what was drawn is under the law that it should have: probabilities of what is at least as far off.

Counts are compared with binomial laws, which are exact; means by Bernstein's inequality, which is never too small.
"""

from collections.abc import Iterator

import numpy as np
from optldp.estimators import CategoryCounts, count, estimate_frequencies, estimate_mean
from optldp.estimators.means.decoder import mean_decoder
from optldp.estimators.means.unbiasing import affine_unbiasing
from optldp.mechanisms import CategoricalMechanism, InputError, TabulatedMechanism
from optldp.mechanisms.categorical.mechanism import PureProtocol
from optldp.mechanisms.key_value import KeyValueMechanism
from optldp.mechanisms.sampling.within_cell import GeometricTails
from scipy import stats

USERS = 20_000
CUTS = 16
"""Sums of neighbouring outputs that are compared too: many small shifts to one side add up in them."""

DOUBLES_IN_A_CELL = 2.0**20
"""Cells of fewer doubles are not halved exactly by their middle."""

SQUARES_VANISH = 1e-150
"""Distances so small have no variance in doubles."""

TAIL_LENGTHS = 60.0
"""A geometric report lies farther out than so many mean lengths once in 1e26."""

Check = tuple[str, float]
"""What was compared, and the probability, at most, of so large a deviation."""


def binomial(what: str, counts: np.ndarray | int, users: int, law: np.ndarray | float) -> Iterator[Check]:
    """Counts among so many users against their probabilities: the least two-sided probability, times their number."""
    seen, share = np.atleast_1d(counts), np.clip(np.atleast_1d(law), 0.0, 1.0)
    sided = np.minimum(stats.binom.cdf(seen, users, share), stats.binom.sf(seen - 1, users, share))
    j = int(np.argmin(sided))
    yield f"{what}, {j}: {seen[j]} of {users}, {share[j]:.6g} expected", float(min(1.0, 2 * sided[j] * seen.size))


def outputs(what: str, found: np.ndarray, law: np.ndarray) -> Iterator[Check]:
    """The number of every output, and of all below some of them."""
    counts = np.bincount(found, minlength=law.size)
    yield from binomial(f"{what}: output", counts, found.size, law)
    cuts = np.unique(np.linspace(0, law.size - 1, CUTS).astype(int))
    yield from binomial(f"{what}: outputs up to", np.cumsum(counts)[cuts], found.size, np.cumsum(law)[cuts])


def average(what: str, deviations: np.ndarray, variance: float, reach: float, rounding: float) -> Iterator[Check]:
    """Deviations from a mean whose variance and largest size are known: Bernstein's inequality."""
    off = max(abs(float(deviations.mean())) - rounding, 0.0)
    bound = 2 * (variance + reach * off / 3)
    exponent = deviations.size * off * (off / bound) if bound > 0 else np.inf * off if off else 0.0
    yield f"{what}: mean off by {off:.3g}, variance {variance:.3g}", float(min(1.0, 2 * np.exp(-exponent)))


def of_table(table: TabulatedMechanism, x: float, rng: np.random.Generator) -> Iterator[Check]:
    """Reports of one value: outputs, places in cells, steps in tails, mean, and the estimate of the mean."""
    reports = table.sample(np.full(USERS, x), rng)
    found, law = table.output_index(reports), table.pmf(x)[0]
    yield from outputs(f"at {x!r}", found, law)
    yield from places(table, found, reports)
    ulp = SQUARES_VANISH + (2 + law.size) * float(  # the mean is a sum over the outputs, each with its rounding
        np.spacing(max(abs(x), *(abs(e) for e in [*table.low, *table.high] if np.isfinite(e))))
    )
    mean, variance = table.mean(x)[0], float(table.var(x)[0])
    yield from average(f"at {x!r}", (reports - mean), variance, reach(table, mean), ulp)
    try:
        estimate, decoder = estimate_mean(count(table, reports)), mean_decoder(table).values
    except InputError:
        return  # no unbiased estimate exists, which it says
    affine = affine_unbiasing(table)
    if decoder is None and affine is not None:  # the mean of reports decides, as above
        expected = (float(reports.mean()) - affine[1]) / affine[0]
        slack = 1e-9 * abs(expected) + 4 * ulp / abs(affine[0])
        yield f"the {estimate.method} estimate at {x!r}", float(abs(estimate.value - expected) <= slack)
    if decoder is not None:
        second, farthest = float(law @ (decoder - x) ** 2), float(np.abs(decoder - x).max())
        slack = ulp + 1e-7 * farthest
        off = abs(estimate.value - float(decoder[found].mean()))  # two ways to add up as many numbers as users
        yield f"the decoder's estimate at {x!r}", float(off <= slack + 16 * ulp)
        yield from average(f"decoded at {x!r}", decoder[found] - x, second, farthest, slack)


def places(table: TabulatedMechanism, found: np.ndarray, reports: np.ndarray) -> Iterator[Check]:
    """Half of the reports of wide cells lie below their middles; one minus the ratio of a tail's at its end."""
    low, high, law = table.low, table.high, table.within
    if isinstance(law, GeometricTails):
        side = np.isposinf(high[found]).astype(int) - np.isneginf(low[found])
        end = np.where(side > 0, low[found], high[found])
        far = side != 0
        if far.any() and law.step > np.spacing(np.abs(end[far]).max()):
            at_end = int(np.count_nonzero(reports[far] == end[far]))
            yield from binomial("at the ends of tails", at_end, int(far.sum()), 1 - law.ratio)
        return
    wide = high - low > DOUBLES_IN_A_CELL * np.spacing(np.maximum(np.abs(low), np.abs(high)))
    inner = wide[found]
    middle = low + (high - low) / 2
    below = int(np.count_nonzero(reports[inner] < middle[found[inner]]))
    yield from binomial("below the middles of cells", below, int(inner.sum()), 0.5)


def reach(table: TabulatedMechanism, mean: float) -> float:
    """The largest distance of a report from the mean, leaving out what happens never."""
    ends = np.array([*table.low, *table.high])
    farthest = float(np.abs(ends[np.isfinite(ends)] - mean).max())
    if isinstance(table.within, GeometricTails):
        farthest += TAIL_LENGTHS * table.within.step / -np.log(table.within.ratio)
    return farthest


def of_categories(made: CategoricalMechanism, code: int, rng: np.random.Generator) -> Iterator[Check]:
    """Reports of one category: supports or outputs, and the estimated frequencies; and whether text keeps reports."""
    reports = made.sample_codes(np.full(USERS, code), rng)
    yield "reports as text", float(np.array_equal(made.from_text(made.to_text(reports)), reports))
    counts = CategoryCounts.from_reports(made, reports)
    if not isinstance(made, PureProtocol):
        law = made.pmf(made.all_reports())[:, code]
        yield from outputs(f"category {code}", reports, law)
        return
    size, p, q = len(made.categories), made.own_support, made.other_support
    support = np.unpackbits(made.support(reports), axis=1, count=size).sum(axis=0, dtype=np.int64)
    yield from binomial(f"support of category {code}: of", support, USERS, np.where(np.arange(size) == code, p, q))
    if p > q:
        found = estimate_frequencies(counts).value
        expected = (support / USERS - q) / (p - q)
        yield "estimated frequencies", float(np.allclose(found, expected, rtol=1e-7, atol=1e-9 / (p - q)))


def of_pairs(made: KeyValueMechanism, key: int, x: float, rng: np.random.Generator) -> Iterator[Check]:
    """Reports of users who hold one and the same pair."""
    yield from reports_of_pairs(made, key, x, made.sample([made.keys.labels[key]] * USERS, np.full(USERS, x), rng))


def reports_of_pairs(made: KeyValueMechanism, key: int, x: float, reports: np.ndarray) -> Iterator[Check]:
    """Places that were shown of one and the same pair, and outputs at the own and other places."""
    yield "reports as text", float(np.array_equal(made.from_text(made.to_text(reports)), reports))
    _, place, output = made.shown(reports)
    size = len(made.keys)
    sampled = 1 / max(made.padding, 1)
    own = sampled * made.own_shown + (1 - sampled) * made.other_shown
    law = np.where(np.arange(size) == key, own, made.other_shown)
    yield from binomial("shown at place", np.bincount(place, minlength=size)[:size], USERS, law)
    others = (place != key) & (place < size)
    yield from outputs("at other places", output[others], made.fake_law)
    mine = sampled * made.own_shown / own
    shown = mine * made.value.pmf(x)[0] + (1 - mine) * made.fake_law
    yield from outputs("at the own place", output[place == key], shown)
