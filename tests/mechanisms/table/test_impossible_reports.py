"""Reports of probability zero under every input are refused, whatever the kind of mechanism, in one line."""

# Arrays are given as lists, which array_like allows; the law of a table is known.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators import (
    CategoryCounts,
    KeyValueCounts,
    PersonalisedCounts,
    ReportCounts,
    Service,
    count,
)
from optldp.estimators.frequencies.support_counts import SupportCounts
from optldp.mechanisms import (
    AttributeSampling,
    InputError,
    PersonalisedMechanism,
    Provenance,
    TabulatedMechanism,
    duchi,
    laplace,
    make_exact,
)
from optldp.mechanisms.categorical import CategoricalTable, basic_rappor, categorical_grr
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.combinators.personalised import PersonalisedReports
from optldp.mechanisms.key_value import key_value_response, key_value_unary
from optldp.mechanisms.sampling.geometric import digit_odds
from optldp.mechanisms.sampling.random_words import random_words
from optldp.mechanisms.sampling.within_cell import GeometricTails, Uniform

HALF = 2**52


def lattice(step=1.0, ratio=0.5, low=-2.0, high=2.0):
    """An exact table of a point at 0 and two geometric tails."""
    return TabulatedMechanism(
        knots=[-1.0, 1.0],
        low=[-np.inf, (low + high) / 2, high],
        high=[low, (low + high) / 2, np.inf],
        probabilities=[[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]],
        epsilon=1.0,
        within=GeometricTails(step, ratio),
        exact=True,
    )


def with_unused(table, place):
    """The same exact table with a point that no input gives."""
    at = int(np.searchsorted(table.low, place))
    low, high = np.insert(table.low, at, place), np.insert(table.high, at, place)
    rows = np.insert(table.probabilities, at, 0.0, axis=1)
    return TabulatedMechanism(table.knots, low, high, rows, table.epsilon, table.within, exact=True)


def one_line(call, *arguments, match):
    """The call is refused in one line, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match=match) as caught:
            call(*arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("report", [1e295, -1e295, 1.7e308, 2.0 + 64, -2.0 - 64, 2.0 + 2.0**40, 2.5, 0.5])
def test_a_lattice_refuses_what_its_sampler_cannot_make(report):
    """Ratio 1/2 has six digits, so 63 steps are the most."""
    table = lattice()
    one_line(count, table, [0.0, report], match="must be outputs of this table, got 1 of 2")
    assert table.output_index([65.0, -65.0]).tolist() == [2, 0]


@pytest.mark.slow
@given(
    ratio=st.one_of(st.floats(1e-17, 1 - 2**-53), st.integers(1, 53).map(lambda bits: 1 - 2.0**-bits)),
    step=st.floats(1e-12, 1e6),
    end=st.floats(-1e9, 1e9),
    digits=st.integers(0, 2**64 - 1),
)
def test_all_that_the_sampler_can_make_is_admitted(ratio, step, end, digits):
    """Any digits of the number of steps, at any end, step and ratio; one step beyond all digits is not."""
    law, ends = GeometricTails(step, ratio), (np.array([end]), np.array([np.inf]))
    odds = digit_odds(ratio)
    stream = iter((0 if digits >> i & 1 else 2**64 - 1) for i in range(len(odds)))
    made = law.draw_exact(*ends, np.zeros(1, dtype=np.intp), lambda size: np.array([next(stream)], dtype=np.uint64))
    assert law.contains(*ends, np.zeros(1, dtype=np.intp), made).all()
    steps = float(sum(1 << i for i in range(len(odds)) if digits >> i & 1))
    assert made[0] == end + steps * step
    last = end + law.most_steps * step
    beyond = end + 2 * (law.most_steps + 1) * step
    assert law.contains(*ends, np.zeros(2, dtype=np.intp), np.array([last, beyond])).tolist() == [True, beyond <= last]


@pytest.mark.parametrize("ratio", [2.0**-26, 0.5, 1 - 1e-6])
def test_simulations_draw_no_farther_than_clients(ratio):
    """A generator whose geometric numbers are absurdly large is cut at the most steps."""

    class Absurd:
        def geometric(self, p, size):
            return np.full(size, 2**62)

    law = GeometricTails(0.5, ratio)
    rows = np.zeros(3, dtype=np.intp)
    drawn = law.draw(np.array([1.0]), np.array([np.inf]), rows, rows, Absurd())
    assert drawn.tolist() == [1.0 + 0.5 * law.most_steps] * 3
    assert law.most_steps == 2 ** len(digit_odds(ratio)) - 1


def test_the_steps_of_a_lattice_round_as_the_sampler_rounds_them():
    """0.1 steps are no multiples of 0.1 in doubles; the sampler's double passes, its neighbours do not."""
    law, ends = GeometricTails(0.1, 0.9), (np.array([0.7]), np.array([np.inf]))
    made = 0.7 + np.arange(200) * 0.1
    columns = np.zeros(200, dtype=np.intp)
    assert law.contains(*ends, columns, made).all()
    assert not law.contains(*ends, columns, np.nextafter(made, np.inf)).any()


def test_tails_of_densities_end_where_no_generator_comes():
    """Tables in doubles, for research: 64 mean lengths, in every row alike."""
    table = laplace([-1.0, 1.0], 1.0)
    rate = abs(table.within.rate[0, -1])
    last = 1.0 + 64.0 / rate
    assert table.output_index([last, -last]).tolist() == [2, 0]
    for report in (last * 1.001, -last * 1.001, 1e295):
        one_line(table.output_index, [0.0, report], match="must be outputs of this table")


@pytest.mark.parametrize("law", [duchi([-1.0, 1.0], 1.0), lattice()])
def test_outputs_of_probability_zero_are_refused(law):
    table = with_unused(make_exact(law).mechanism, 0.75)
    one_line(count, table, [table.high[0], 0.75], match="got 1 of 2 that cannot be, the first 0.75 in row 2")
    counted = "with an output of probability zero, the first output"
    unused = int(np.flatnonzero(~table.possible)[0])
    one_line(ReportCounts.from_outputs, [Service("web", table)], [[0], [unused]], match=counted)
    one_line(ReportCounts.from_reports, table, [0.75], match="must be outputs")


def test_a_point_of_probability_zero_inside_a_cell_is_the_cell():
    """The cell's sampler may come upon that double."""
    table = TabulatedMechanism(
        [0.0, 1.0], [0.0, 0.5, 1.0], [1.0, 0.5, 1.0], [[0.5, 0.0, 0.5]] * 2, 1.0, Uniform(), exact=True
    )
    assert table.output_index([0.5, 0.25, 1.0]).tolist() == [0, 0, 2]


def test_a_cell_of_probability_zero_leaves_its_edge_to_the_cell_below():
    table = TabulatedMechanism.from_edges([0.0, 1.0], [0.0, 1.0, 2.0], [[1.0, 0.0]] * 2, 1.0)
    assert table.output_index([1.0]).tolist() == [0]
    one_line(table.output_index, [1.5], match="must be outputs")


def test_cells_admit_every_double_between_their_ends():
    """Clients and simulations place reports on different grids; none moves an estimate beyond the cell's ends."""
    knots, low, high = (np.array(ends) for ends in ([0.0, 1.0], [-1.0, 0.5], [0.5, 2.0]))
    table = TabulatedMechanism(knots, low, high, np.full((2, 2), 0.5), 1.0, exact=True)
    drawn = np.concatenate([table.sample(np.zeros(50)), table.sample(np.zeros(50), np.random.default_rng(1))])
    assert (table.output_index(np.append(drawn, 0.1)) >= 0).all()


def unused_category_output():
    rows = np.array([[3 * HALF // 2, 0, HALF // 2], [HALF // 2, 0, 3 * HALF // 2]], dtype=np.int64)
    return CategoricalTable(["a", "b"], 1.1, Provenance("made"), rows)


def test_categories_refuse_what_no_category_gives():
    one_line(CategoryCounts.from_reports, unused_category_output(), [0, 2, 1], match="got 1 in row 3, which no input")
    one_line(CategoryCounts.from_reports, categorical_grr("abc", 1.0), [3], match=r"must lie in 0\.\.2, got 3 in row 1")
    one_line(CategoryCounts.from_reports, categorical_grr("abc", 1.0), [-1], match=r"must lie in 0\.\.2")
    unary = basic_rappor("abc", 1.0)
    for kind in (CategoryCounts, SupportCounts):
        one_line(kind.from_reports, unary, np.array([[0b00010000]], np.uint8), match="a one beyond them in row 1")
    hashing = local_hashing("abc", 1.0)
    many = hashing.n_hashes * hashing.n_values
    one_line(CategoryCounts.from_reports, hashing, [many], match=f"must lie in 0..{many - 1}")
    assert unused_category_output().pmf([1]).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("level_epsilon", [None, 0.5])
def test_levels_refuse_what_no_level_gives_and_in_the_clear_what_their_own_does_not(level_epsilon):
    unused = unused_category_output()
    rows = unused.numerators[:, [0, 2, 1]]
    made = PersonalisedMechanism([unused, CategoricalTable(["a", "b"], 1.2, Provenance("made"), rows)], level_epsilon)
    sent = PersonalisedReports(np.array([0, 1]), np.array([2, 1]))
    assert PersonalisedCounts.from_reports(made, sent).n_users == 2
    swapped = PersonalisedReports(np.array([0, 1]), np.array([1, 2]))
    if level_epsilon is None:
        one_line(PersonalisedCounts.from_reports, made, swapped, match="output of its level's table, got 2")
    else:
        assert PersonalisedCounts.from_reports(made, swapped).n_users == 2
    none = PersonalisedMechanism(
        [unused, CategoricalTable(["a", "b"], 1.2, Provenance("made"), unused.numerators)], level_epsilon
    )
    one_line(PersonalisedCounts.from_reports, none, swapped, match="level's table, got 1 that cannot be")


@pytest.mark.parametrize("level_epsilon", [None, 0.5])
def test_levels_of_numbers_refuse_them_too(level_epsilon):
    tables = [with_unused(make_exact(duchi([-1.0, 1.0], e)).mechanism, 0.5) for e in (1.0, 2.0)]
    made = PersonalisedMechanism(tables, level_epsilon)
    sent = PersonalisedReports(np.array([0, 1]), np.array([0.5, float(tables[1].low[0])]))
    one_line(
        PersonalisedCounts.from_reports, made, sent, match="level's table, got 1 that cannot be, the first in row 1"
    )


def test_pairs_refuse_outputs_that_no_pair_gives():
    value = with_unused(make_exact(duchi([0.0, 10.0], 1.0)).mechanism, 5.0)
    unary, response = (make(["a", "b"], value, 1.0) for make in (key_value_unary, key_value_response))
    unused = int(np.flatnonzero(~value.possible)[0])
    good, bad = np.array([[1, 0], [0, 3]]), np.array([[1, 0], [0, 1 + unused]])
    assert KeyValueCounts.from_reports(unary, good).n_users == 2
    one_line(KeyValueCounts.from_reports, unary, bad, match=f"positive probability, got {unused} in row 2")
    one_line(KeyValueCounts.from_reports, response, [0, unused], match=f"positive probability, got {unused} in row 2")
    dummy = 2 * 3 + unused
    one_line(KeyValueCounts.from_reports, response, [dummy], match="positive probability")
    assert KeyValueCounts.from_reports(response, [0, 2, 3, 5, 6]).n_users == 5


@pytest.mark.parametrize("report", [[np.nan, np.nan], [3.0, 3.0], [np.inf, np.nan], [np.nan, 1e295]])
def test_attributes_refuse_other_than_k_reports_and_foreign_ones(report):
    table = make_exact(duchi([-1.0, 1.0], 1.0)).mechanism
    made = AttributeSampling(["a", "b"], [table, lattice()], 1, 1.0)
    end = float(table.low[0])
    rows = np.array([[end, np.nan], [end, np.nan], [np.nan, 0.0], [np.nan, 2.0], report])
    one_line(count, made, rows, match="every user must have 1 reports|must be outputs of this table")


def test_honest_reports_of_all_these_are_admitted():
    words = random_words(np.random.default_rng(3))
    table = lattice(step=0.3, ratio=0.99, low=-2.1, high=1.7)
    assert (table.output_index(table.sample(np.zeros(5000))) >= 0).all()
    assert (table.output_index(table.sample(np.zeros(5000), np.random.default_rng(1))) >= 0).all()
    grr = unused_category_output()
    assert CategoryCounts.from_reports(grr, grr.draw(np.zeros(500, dtype=np.int64), words)).n_users == 500
