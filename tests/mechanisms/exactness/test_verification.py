"""Verification: what it finds in honest tables, and what it does not let pass."""

import copy
import pickle
import re
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from optldp.mechanisms import InputError, Provenance, TableError, TabulatedMechanism, prove, verify
from optldp.mechanisms.categorical import CategoricalTable, categorical_grr
from optldp.mechanisms.exactness import require_proved, verification
from optldp.mechanisms.exactness.verification import _log_density_ratio, log_ratios, require_private, require_usable
from optldp.mechanisms.integers.exponential import exponential_below
from optldp.mechanisms.sampling.within_cell import ExponentialDensity, LinearDensity
from optldp.mechanisms.table.knot_prior import KnotPrior


def two_by_two(a, b, epsilon=1.0, **options):
    """Randomised response with rows (a, 1 - a) and (1 - b, b)."""
    return TabulatedMechanism.from_points([0, 1], [0, 1], [[a, 1 - a], [1 - b, b]], epsilon, **options)


def test_the_largest_log_ratio_is_over_all_outputs_and_pairs_of_rows():
    """Rows 0 and 2 at output 1: log(0.6 / 0.1)."""
    matrix = [[0.3, 0.6, 0.1], [0.3, 0.3, 0.4], [0.5, 0.1, 0.4]]
    table = TabulatedMechanism.from_points([0, 1, 2], [0, 1, 2], matrix, 2.0)
    result = verify(table)
    assert result.max_log_ratio == pytest.approx(np.log(6), rel=1e-14)
    assert not result.failures


def test_the_ratio_has_no_tolerance():
    """Of all doubles only those at or above ln 3 pass a ratio of 3, whatever the logarithm is rounded to."""
    table, middle = two_by_two(0.75, 0.75), np.log(3)
    with localcontext() as context:
        context.prec = 60
        for epsilon in (middle + k * np.spacing(middle) for k in range(-3, 4)):
            failures = verify(table, epsilon=epsilon).failures
            assert bool(failures) == (Decimal(3).ln() > Decimal(epsilon))
            assert all("log-ratio must be at most" in failure for failure in failures)


def test_probabilities_in_doubles_are_compared_as_the_rational_numbers_that_they_are():
    """The largest double that is e^epsilon times the smallest probability or less, and the next."""
    for epsilon in (1e-6, 0.1, 1.0, 3.0):
        least = 0.01
        most = Fraction(least) * exponential_below(epsilon)
        inside = float(most)
        while Fraction(inside) > most:
            inside = np.nextafter(inside, 0)
        for p, good in ((inside, True), (np.nextafter(inside, 1), False)):
            matrix = [[p, (1 - p) / 2, (1 - p) / 2], [least, (1 - p) / 2, 1 - least - (1 - p) / 2]]
            table = TabulatedMechanism.from_points([0, 1], [0, 1, 2], matrix, epsilon)
            above = [failure for failure in verify(table).failures if "at output 0" in failure]
            assert (not above) == good


def test_only_an_exact_table_is_proved():
    """The same numbers in doubles are not, and a broken table is broken in either form."""
    matrix = [[0.75, 0.25], [0.25, 0.75]]
    ends = np.array([0.0, 1.0])
    for epsilon, exact, verdict in (
        (1.1, True, "proved"), (1.1, False, "not proved"), (1.0, True, "broken"), (1.0, False, "broken")
    ):  # fmt: skip
        table = TabulatedMechanism(ends, ends, ends, np.array(matrix), epsilon, exact=exact)
        assert verify(table).verdict == verdict
        assert verify(table).ok == (verdict == "proved")
        if verdict == "proved":
            require_proved(table)
            continue
        with pytest.raises(TableError):
            require_proved(table)


def hidden_by_underflow(steep, share):
    """Two cells and two laws as far apart as can be, whose densities at the ends are zero in doubles."""
    counter = steep * (1 - share) / share
    rates = ExponentialDensity(np.array([[steep, counter], [counter, steep]]))
    matrix = [[1 - share, share], [share, 1 - share]]
    return TabulatedMechanism.from_edges([0, 1], [0, 1, 2], matrix, 1e-6, within=rates)


@pytest.mark.parametrize("steep", [800.0, -800.0, 1e4, 1e90])
@pytest.mark.parametrize("share", [1e-9, 0.1, 0.5 - 1e-9])
def test_densities_that_underflow_hide_nothing(steep, share):
    """Laws that tell the rows apart nearly always are refused, however small their densities at the ends."""
    table = hidden_by_underflow(steep, share)
    assert verify(table).max_log_ratio > 3e-6
    with pytest.raises(TableError, match="log-ratio must be at most 1e-06"):
        require_private(table)


@pytest.mark.parametrize("tilt", [1.0, -1.0])
def test_a_density_of_zero_where_the_probability_is_not_decides_nothing(tilt):
    """Even if it is zero in all rows: there is no ratio to look at."""
    law = LinearDensity(np.full((2, 1), tilt))
    table = TabulatedMechanism.from_edges([0, 1], [0, 1], [[1.0], [1.0]], 1.0, within=law)
    assert verify(table).max_log_ratio == np.inf
    assert verify(table).verdict == "broken"


def test_ratios_close_to_one_are_measured_accurately():
    """A log-ratio of 1e-9 to twelve digits, against rational arithmetic; log(a / b) would keep seven."""
    share = 0.5 * (1 + 5e-10)
    excess = Fraction(share) / Fraction(1 - share) - 1
    assert verify(two_by_two(share, share)).max_log_ratio == pytest.approx(np.log1p(float(excess)), rel=1e-12, abs=0)


def test_an_output_that_only_some_rows_can_produce_is_an_infinite_ratio():
    """An output that no row can produce is none."""
    assert verify(two_by_two(1.0, 0.9)).max_log_ratio == np.inf
    matrix = [[0.6, 0.0, 0.4], [0.4, 0.0, 0.6]]
    assert not verify(TabulatedMechanism.from_points([0, 1], [0, 1, 2], matrix, 1.0)).failures


@pytest.mark.parametrize(
    ("within", "log_ratio"),
    [
        (LinearDensity(np.array([[0.5], [-0.5]])), np.log(3)),
        (ExponentialDensity(np.array([[1.0], [-1.0]])), 1.0),
    ],
)
def test_densities_inside_a_cell_count_not_only_its_mass(within, log_ratio):
    """Equal masses, but the ends of the cell tell the rows apart."""
    table = TabulatedMechanism.from_edges([0, 1], [0, 1], [[1.0], [1.0]], 0.5, within=within)
    result = verify(table)
    assert result.max_log_ratio == pytest.approx(log_ratio, rel=1e-12)
    assert result.failures


def test_rows_that_do_not_sum_to_one_fail():
    """The table accepts 1e-9, verification 1e-12."""
    matrix = np.array([[0.75, 0.25], [0.25, 0.75 + 1e-11]])
    result = verify(TabulatedMechanism.from_points([0, 1], [0, 1], matrix, 1.2))
    assert result.max_row_sum_error == pytest.approx(1e-11, rel=1e-3)
    assert "rows must sum to 1" in result.failures[0]
    assert "in row 1" in result.failures[0]


def test_bias_is_reported_and_fails_only_where_unbiasedness_is_claimed():
    """Randomised response shrinks towards the middle."""
    assert verify(two_by_two(0.7, 0.7)).max_abs_bias == pytest.approx(0.3)
    assert not verify(two_by_two(0.7, 0.7)).failures
    claimed = verify(two_by_two(0.7, 0.6, provenance=Provenance("x", {"unbiased": True})))
    assert "claims to be unbiased" in claimed.failures[0]
    assert "knot 1" in claimed.failures[0]


def test_variances_are_recomputed_under_the_tables_own_prior():
    """None where it carries none; the worst case lies between the knots."""
    table = two_by_two(0.75, 0.75, 1.2)
    assert verify(table).expected_variance is None
    assert verify(table).worst_case_variance == pytest.approx(0.25)
    with_prior = table.with_prior(KnotPrior(np.array([0.5, 0.5]), np.array([0.25]), "public"))
    assert verify(with_prior).expected_variance == pytest.approx(0.25)


def test_several_failures_are_all_listed():
    """Each one with its place."""
    table = TabulatedMechanism.from_points(
        [0, 1], [0, 1], [[0.9, 0.1], [0.1, 0.9 + 1e-10]], 1.0, provenance=Provenance("x", {"unbiased": True})
    )
    assert len(verify(table).failures) == 3


def test_requiring_privacy_raises_the_first_failure():
    """And returns the evidence otherwise."""
    assert not require_private(two_by_two(0.7, 0.7)).failures
    with pytest.raises(TableError, match="log-ratio must be at most 1, got inf at output 0"):
        require_private(two_by_two(1.0, 1.0))


@pytest.mark.parametrize("epsilon", [0.0, np.nan, 99.0])
def test_a_useless_budget_to_verify_is_refused(epsilon):
    """As everywhere."""
    with pytest.raises(InputError, match="epsilon must be"):
        verify(two_by_two(0.7, 0.7), epsilon=epsilon)


@pytest.mark.parametrize("epsilon", [0.5, 0.6])
def test_the_output_of_the_largest_ratio_is_named(epsilon):
    """Of three above the smaller budget, of two above the other."""
    matrix = [[0.3, 0.6, 0.1], [0.3, 0.3, 0.4], [0.5, 0.1, 0.4]]
    (said,) = verify(TabulatedMechanism.from_points([0, 1, 2], [0, 1, 2], matrix, epsilon)).failures
    assert re.fullmatch(rf"the log-ratio must be at most {epsilon}, got 1\.79175\d+ at output 1", said)


@pytest.mark.parametrize(
    ("probabilities", "logs", "expected"),
    [([0.5, 0.5], [2, -1], 3.0), ([0.75, 0.25], [2, -1], 3 + np.log(3)), ([0.25, 0.75], [2, -1], 3 - np.log(3))],
)
def test_a_ratio_of_densities_is_that_of_masses_and_shapes_rounded_up(probabilities, logs, expected):
    """By 2^-49 of the largest log-ratio of masses and the largest logarithm, in whatever order the rows come."""
    parts = 2 * (2 + abs(expected - 3))
    for order in (1, -1):
        both = np.array([[0.5, 0.5], probabilities]).T[::order], np.array([[0.0, 8.0], logs]).T[::order]
        first, second = _log_density_ratio(*both).tolist()
        assert first == 8 * (1 + 2.0**-49)
        # The logarithm of a ratio may differ in its last digit from machine to machine.
        assert second == pytest.approx(expected + 2.0**-50 * parts, rel=0, abs=np.spacing(expected))


def test_a_density_that_is_zero_in_all_rows_of_a_possible_output_is_an_infinite_ratio_and_else_none():
    """Impossible outputs have none, possible ones of which nothing can be told an infinite one."""
    probabilities = np.array([[0.0, 0.5, 0.5, 0.5], [0.0, 0.5, 0.0, 0.5]])
    logs = np.array([[1.0, -np.inf, 0.0, 0.0], [1.0, -np.inf, 0.0, 0.0]])
    assert _log_density_ratio(probabilities, logs).tolist() == [0.0, np.inf, np.inf, 0.0]


def test_a_density_ratio_that_equals_the_budget_is_kept_to():
    """It is rounded up already; the next smaller budget is exceeded."""
    law = ExponentialDensity(np.array([[1.0], [-1.0]]))
    table = TabulatedMechanism.from_edges([0, 1], [0, 1], [[1.0], [1.0]], 2.0, within=law)
    most = float(log_ratios(table).max())
    assert 1 < most < 1 + 1e-14
    assert not verify(table, epsilon=most).failures
    assert len(verify(table, epsilon=float(np.nextafter(most, 0))).failures) == 1


@pytest.mark.parametrize(("bias", "ok"), [(2e-9 + 5.4e-14, True), (2e-9 + 6e-14, False), (-3e-9, False)])
def test_a_bias_in_doubles_may_be_a_billionth_of_the_domain_and_a_rounding_of_the_reports(bias, ok):
    """Here 2e-9 + 2^-46 * 4; what no row can report counts for nothing."""
    outputs = [-4 + bias, bias, 1e9]
    matrix = [[0.75, 0.25, 0.0], [0.25, 0.75, 0.0]]
    source = Provenance("x", {"unbiased": True})
    table = TabulatedMechanism.from_points([-3, -1], outputs, matrix, 1.1, provenance=source)
    assert (not verify(table).failures) == ok


def test_what_is_drawn_from_must_be_proved_unless_doubles_are_allowed():
    """And not broken in either form; an exact table must be proved in any case."""
    ends, matrix = np.array([0.0, 1.0]), np.array([[0.75, 0.25], [0.25, 0.75]])
    exact = [TabulatedMechanism(ends, ends, ends, matrix, epsilon, exact=True) for epsilon in (1.1, 1.0)]
    doubles = [two_by_two(0.75, 0.75, epsilon) for epsilon in (1.1, 1.0)]
    for allowed in (True, False):
        require_usable(exact[0], allow_unproved=allowed)
        with pytest.raises(TableError, match=r"log-ratio must be at most 1, got .* / 2251799813685248"):
            require_usable(exact[1], allow_unproved=allowed)
    require_usable(doubles[0], allow_unproved=True)
    with pytest.raises(TableError, match="a table must be exact to be proved, got doubles"):
        require_usable(doubles[0], allow_unproved=False)
    with pytest.raises(TableError, match=r"log-ratio must be at most 1, got .* at output 0$"):
        require_usable(doubles[1], allow_unproved=True)


def test_another_budget_than_the_claimed_one_can_be_required():
    ends, matrix = np.array([0.0, 1.0]), np.array([[0.75, 0.25], [0.25, 0.75]])
    require_proved(TabulatedMechanism(ends, ends, ends, matrix, 1.0, exact=True), epsilon=1.1)
    with pytest.raises(TableError, match=r"log-ratio must be at most 1\.05"):
        require_proved(TabulatedMechanism(ends, ends, ends, matrix, 1.1, exact=True), epsilon=1.05)


def test_an_exact_table_breaks_what_its_proof_says_and_no_other():
    """Whole numbers decide, of another budget too, which is named; a bias of 1e-10 is none in doubles."""
    source = Provenance("x", {"unbiased": True})
    knots, matrix = np.array([0.0, 1.0]), np.array([[0.75, 0.25], [0.25, 0.75]])
    ends = np.array([-0.5, 1.5]) + 1e-10
    biased = TabulatedMechanism(knots, ends, ends, matrix, 1.1, provenance=source, exact=True)
    (said,) = verify(biased).failures
    assert (said,) == prove(biased).failures
    assert "an exact table that claims to be unbiased" in said
    assert not verify(TabulatedMechanism(knots, ends, ends, matrix, 1.1, provenance=source)).failures
    result = verify(biased, epsilon=1.0)
    assert result.epsilon == 1.0
    assert result.failures == prove(biased, epsilon=1.0).failures
    assert len(result.failures) == 2


def test_rows_that_are_alike_in_an_output_have_no_ratio_there_whatever_they_have_elsewhere():
    """Not even that of rounding; an impossible output has none whatever its densities."""
    probabilities = np.array([[0.25, 0.25, 0.25, 0.0, 0.25], [0.25, 0.25, 0.0, 0.0, 0.5]])
    logs = np.array([[3.0, 1.0, 3.0, 0.0, 0.0], [3.0, 2.0, 3.0, 1.0, 0.0]])
    found = _log_density_ratio(probabilities, logs)
    assert found[0] == found[3] == 0.0
    assert found[2] == np.inf
    assert found[[1, 4]] == pytest.approx([1.0, np.log(2)])


def test_tiny_probabilities_do_not_hide_a_ratio_between_likelier_rows():
    """Beside a column of probability 1e-300 the ratio is as near, though logarithms of it round to 1e-13."""
    tilt = 0.25
    law = LinearDensity(np.array([[-tilt, 0.0], [tilt * (1 - 5e-14), 0.0], [tilt, 0.0]]))
    matrix = [[1e-300, 1 - 1e-300]] * 3
    table = TabulatedMechanism.from_edges([0, 1, 2], [0, 1, 2], matrix, 1.0, within=law)
    with localcontext() as context:
        context.prec = 60
        truth = ((1 + Decimal(tilt)) / (1 - Decimal(tilt))).ln()
        assert truth <= Decimal(verify(table).max_log_ratio) <= truth * (1 + Decimal("1e-13"))


def test_what_was_proved_cannot_be_changed_afterwards():
    """Neither the numbers, nor by a copy's, nor by a class of one's own."""
    ends = np.array([0.0, 1.0])
    table = TabulatedMechanism(ends, ends, ends, np.array([[0.75, 0.25], [0.25, 0.75]]), 1.1, exact=True)
    _ = table.sample([0.5])
    for made in (table, copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        for array in (made.numerators, made.probabilities, made.knots, made.exact_law.cumulative):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
    for final in (TabulatedMechanism, CategoricalTable):
        with pytest.raises(TypeError, match=f"{final.__name__} is final"):
            type("Liar", (final,), {})


def test_ratios_are_those_of_each_output_and_of_impossible_ones_none():
    """To the last bits: where the law is row-free nothing is rounded up. Beyond all doubles is infinite."""
    matrix = [[0.3, 0.6, 0.0, 0.1], [0.3, 0.3, 0.0, 0.4], [0.5, 0.1, 0.0, 0.4]]
    found = log_ratios(TabulatedMechanism.from_points([0, 1, 2], [0, 1, 2, 3], matrix, 2.0))
    np.testing.assert_allclose(found, np.log([5 / 3, 6, 1, 4]), rtol=4e-16, atol=0)
    tiny = [[1.0, 5e-324], [0.5, 0.5]]
    assert log_ratios(TabulatedMechanism.from_points([0, 1], [0, 1], tiny, 2.0))[1] == np.inf


@pytest.mark.parametrize("beyond", [Fraction(0), Fraction(1, 2**128)])
def test_a_ratio_of_doubles_that_is_the_bound_itself_is_kept_to(beyond, monkeypatch):
    """The bound is put to three, and to a hair less."""
    monkeypatch.setattr(verification, "exponential_below", lambda budget: 3 - beyond)
    assert len(verify(two_by_two(0.75, 0.75), epsilon=np.log(3)).failures) == (beyond > 0)


@pytest.mark.parametrize("proof", [verify, prove])
def test_what_is_no_table_of_numbers_is_refused_in_a_line(proof):
    with pytest.raises(InputError, match="a proof of numbers needs a table of numbers, got Categorical"):
        proof(categorical_grr(["yes", "no"], 1.0))
