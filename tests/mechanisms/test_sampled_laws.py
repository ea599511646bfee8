"""For everything that can be drawn from, the law of the sampler, enumerated, is the law that was proved."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import optldp.mechanisms
import pytest
from optldp.designer import METHODS
from optldp.mechanisms import FAMILIES, CategoricalMechanism
from optldp.mechanisms.documents.bundle import Bundle
from optldp.mechanisms.files.bundle import bundle_kinds
from optldp.mechanisms.integers.exponential import exponential_below
from optldp.mechanisms.sampling.geometric import digit_odds
from optldp.mechanisms.sampling.random_words import draw53, random_words
from optldp.mechanisms.sampling.within_cell import LAWS, GeometricTails, Uniform, WithinCell

from .drawable_cases import all_cases
from .drawable_tables import Case, tables
from .law_enumeration import D, Idle, Residues, Turns, always, enumerated_law, marginal, words_given_outcome

CASES = {case.name: case for case in all_cases()}

WAYS = ("sample", "sample_index", "sample_codes", "sample_sets", "draw", "draw_index", "draw_exact", "report", "rows")
"""Names of methods that draw."""

AS_DRAWN = ("KeyValueUnary.sample", "KeyValueUnary.sample_sets")
"""The longest of all, by the draws that `_Pairs.draw of KeyValueUnary` is enumerated for in CI."""

WITHIN = ("Uniform.draw_exact", "GeometricTails.draw_exact")
"""Laws inside an output, which have tests of their own below."""

HIDING = ("_Held.report",)
"""One call of a table's `sample`, whose failures it hides, the enumeration's own among them; see test_one_report.py."""

OF_OTHERS = tuple(f"SeededHashing.{way}" for way in ("sample", "sample_codes", "draw"))
"""Reports that others drew: each of these refuses, see test_adopted.py."""

SIMULATIONS = tuple(f"{law.__name__}.draw" for law in LAWS.values())
"""Draws of a numpy Generator in doubles, for tables that no client draws from."""


def subclasses(of: type) -> set[type]:
    return {of} | {deeper for one in of.__subclasses__() for deeper in subclasses(one)}


def modules() -> list[object]:
    found = pkgutil.walk_packages(optldp.mechanisms.__path__, "optldp.mechanisms.")
    return [importlib.import_module(module.name) for module in found]


def drawables(classes: Iterable[type], functions: Iterable[object]) -> set[str]:
    """Every method that draws, of every class that is not abstract, and every function that is handed random words."""
    found = set()
    for one in classes:
        if not inspect.isabstract(one):
            for way in WAYS:
                method = getattr(one, way, None)
                if callable(method) and not getattr(method, "__isabstractmethod__", False):
                    found.add(f"{one.__name__}.{way}")
    for function in functions:
        if "words" in inspect.signature(function).parameters:  # pyright: ignore[reportArgumentType] -- functions
            found.add(function.__name__)  # pyright: ignore[reportAttributeAccessIssue] -- functions
    return found


def all_drawables() -> set[str]:
    classes, functions = subclasses(Bundle) | subclasses(WithinCell), set()
    for module in modules():
        own = [thing for thing in vars(module).values() if getattr(thing, "__module__", None) == module.__name__]  # pyright: ignore[reportAttributeAccessIssue] -- modules
        classes |= {thing for thing in own if isinstance(thing, type)}
        functions |= {thing for thing in own if inspect.isfunction(thing) and not thing.__name__.startswith("_")}
    return drawables((one for one in classes if one.__module__.startswith("optldp.")), functions)


def covered() -> set[str]:
    return (
        {name for case in CASES.values() for name in case.covers}
        | set(WITHIN)
        | set(HIDING)
        | set(SIMULATIONS)
        | set(OF_OTHERS)
    )


def test_everything_that_draws_has_a_case():
    """A new mechanism, method or function without one fails here, and so does a case of what is gone."""
    missing = all_drawables() - covered()
    assert not missing, f"add a case of {sorted(missing)} to drawable_cases.py"
    gone = covered() - all_drawables()
    assert not gone, f"nothing draws as {sorted(gone)}"


def test_a_new_mechanism_would_be_missed_without_a_case():
    """Wherever it is defined: its own draws and those that it inherits."""

    class Leaky(CategoricalMechanism):
        def draw(self, codes, words):
            return codes

    Leaky.__abstractmethods__ = frozenset()

    def leaky(codes, words):
        return codes

    assert drawables([Leaky], [leaky]) - covered() == {"Leaky.sample", "Leaky.sample_codes", "Leaky.draw", "leaky"}


def test_every_family_every_kind_and_the_lattice_are_there():
    """By the names that users know them by."""
    assert set(FAMILIES) | {"aaa"} <= set(tables())
    draws = [
        kind for kind in bundle_kinds().values() if hasattr(kind, "sample")
    ]  # a way over time has its mechanism draw
    assert {f"{kind.__name__}.sample" for kind in draws} <= covered()
    assert set(METHODS) - {"optimal"} <= set(tables())


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] * (name in AS_DRAWN)) for name in CASES]
)
def test_the_sampler_draws_the_very_law_that_was_proved(name):
    """Fractions equal for every input; idle words change nothing; ratios within what was proved, and e^epsilon."""
    case: Case = CASES[name]
    both = {value: enumerated_law(lambda x=value: case.draw(x), case.calls(value)) for value in case.inputs}
    laws = {value: marginal(law, 0) for value, law in both.items()}
    for value, law in laws.items():
        assert sum(law.values()) == 1
        assert law == {k: p for k, p in case.expected(value).items() if p}
    if case.epsilon is not None:
        compare(case, laws)
        require_words_tell_nothing(case, both)


def require_words_tell_nothing(case: Case, both: dict) -> None:
    """The number of words must have the same law for all values; or, given the report, for all that can make it."""
    for kind in {case.alike(value) for value in both}:
        alike = [law for value, law in both.items() if case.alike(value) == kind]
        counts, given = [marginal(law, 1) for law in alike], [words_given_outcome(law) for law in alike]
        of_the_report = {outcome: law for laws in given for outcome, law in laws.items()}
        assert all(count == counts[0] for count in counts) or all(
            law == of_the_report[outcome] for laws in given for outcome, law in laws.items()
        )


def compare(case: Case, laws: dict) -> None:
    """All pairs of inputs that must be alike, outcome by outcome."""
    limit = exponential_below(case.epsilon or 0)
    for kind in {case.alike(value) for value in laws}:
        alike = [law for value, law in laws.items() if case.alike(value) == kind]
        for outcome in set().union(*alike):
            chances = [law.get(outcome, Fraction(0)) for law in alike]
            assert max(chances) <= limit * min(chances)
            assert case.proved is None or max(chances) <= case.proved * min(chances)


@pytest.mark.parametrize("name", [name for name in CASES if "TabulatedMechanism.sample" in CASES[name].covers])
def test_the_proved_ratio_is_attained_by_a_table(name):
    """So that the comparison above is with the least number that it could be."""
    case = CASES[name]
    laws = [case.expected(value) for value in case.inputs]
    outcomes = set().union(*laws)
    attained = max(max(law[o] for law in laws) / min(law[o] for law in laws) for o in outcomes)
    assert attained == case.proved


@pytest.mark.parametrize("off", [-1, 1, 2**20])
@pytest.mark.parametrize("hinted", [True, False])
def test_the_enumeration_sees_a_threshold_that_is_off(off, hinted):
    """By one unit of 2^53, where the threshold is expected elsewhere or nowhere."""
    wanted = 3 * 2**50 + 7
    calls = [always(Turns.at53([wanted] if hinted else []))]
    law = enumerated_law(lambda: bool(draw53(random_words(None), 1)[0] < wanted + off), calls)
    assert marginal(law, 0)[True] == Fraction(wanted + off, D)


def test_the_enumeration_sees_words_that_should_be_idle_and_remainders_that_are_none():
    """A last bit that tells, and a comparison where a remainder was promised."""
    with pytest.raises(AssertionError, match="idle"):
        enumerated_law(lambda: int(random_words(None)(1)[0] & 1), [always(Idle())])
    with pytest.raises(AssertionError, match="remainder"):
        enumerated_law(lambda: bool(random_words(None)(1)[0] < 2**63), [always(Residues(2))])


@pytest.mark.parametrize("leak", [1, 2])
def test_the_enumeration_sees_a_unit_of_one_draw_only(monkeypatch, leak):
    """A sampler that adds one to its random number, for the knot or for the output."""
    case, asked = CASES["duchi"], []

    def leaking(words, size):
        asked.append(size)
        return np.minimum(draw53(words, size) + (len(asked) == leak), D - 1)

    def draw():
        asked.clear()
        return case.draw(0.1)

    assert marginal(enumerated_law(draw, case.calls(0.1)), 0) == case.expected(0.1)
    monkeypatch.setattr("optldp.mechanisms.table.exact_sampling.draw53", leaking)
    assert marginal(enumerated_law(draw, case.calls(0.1)), 0) != case.expected(0.1)


@pytest.mark.parametrize("width", [8.0, 2.0**-1000, 2.0**300])
def test_places_in_a_wide_cell_are_drawn_evenly(width):
    """Each eighth of the cell with probability one eighth, and the middle as mean."""
    low, high = np.array([0.0]), np.array([width])

    def eighth():
        report = Uniform().draw_exact(low, high, np.array([0]), random_words(None))[0]
        return int(report / width * 8)

    law = marginal(enumerated_law(eighth, [always(Turns(tuple(k << 61 for k in range(8))))]), 0)
    assert law == {k: Fraction(1, 8) for k in range(8)}
    assert Uniform().exact_means(low, high) == [Fraction(width) / 2]


@pytest.mark.parametrize("start", [1.0, -1.0, 1e16, -1e100, 0.0, 5e-324, 2.0**-1022])
@pytest.mark.parametrize("doubles", [1, 2, 3, 7])
def test_places_in_a_cell_of_a_few_doubles_stay_in_it_and_keep_its_mean(start, doubles):
    """All of it is found by bisection; the mean is within half a unit in the last place of the middle."""
    ends = [start]
    for _ in range(doubles):
        ends.append(float(np.nextafter(ends[-1], np.inf)))
    low, high = np.array([start, ends[-1]]), np.array([ends[-1], ends[-1] + 4 * np.spacing(abs(ends[-1]))])

    def place():
        return float(Uniform().draw_exact(low, high, np.array([0]), random_words(None))[0])

    turns = Turns(tuple(k * 2**64 // (8 * doubles) for k in range(8 * doubles)))
    law = marginal(enumerated_law(place, [always(turns)]), 0)
    assert set(law) <= set(ends[:-1])
    mean = sum(Fraction(report) * share for report, share in law.items())
    ulp = max(Fraction(b) - Fraction(a) for a, b in pairwise(ends))
    assert abs(mean - (Fraction(ends[0]) + Fraction(ends[-1])) / 2) <= ulp / 2


@pytest.mark.parametrize("ratio", [0.5, 0.03, 2.0**-26, 2.0**-54, 1e-300])
def test_the_steps_of_a_tail_have_the_law_of_their_digits(ratio):
    """All digits enumerated: their product law, near (1 - r) r^k, with the mean that proofs of unbiasedness use."""
    law, odds = GeometricTails(1.0, ratio), digit_odds(ratio)
    low, high = np.array([-np.inf, 3.0]), np.array([-2.0, np.inf])
    for side, end, column in ((-1, -2.0, 0), (1, 3.0, 1)):

        def steps(side=side, end=end, column=column):
            return int(side * (law.draw_exact(low, high, np.array([column]), random_words(None))[0] - end))

        found = marginal(enumerated_law(steps, [always(Turns.at53([digit])) for digit in odds] or [always(Turns())]), 0)
        for k, probability in found.items():
            digits = [Fraction(one if k >> i & 1 else D - one, D) for i, one in enumerate(odds)]
            product = Fraction(1)
            for digit in digits:
                product *= digit
            assert probability == product
            assert abs(probability - (1 - Fraction(ratio)) * Fraction(ratio) ** k) <= Fraction(2 * len(odds) + 2, D)
        mean = Fraction(end) + side * sum(k * probability for k, probability in found.items())
        assert mean == law.exact_means(low, high)[column]
