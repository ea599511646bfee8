"""Projective geometry response against all points written out, in whole numbers, and against subset selection."""

import math
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from optldp.mechanisms import InputError, PersonalisedMechanism, Provenance, TableError, load_mechanism, save_bundle
from optldp.mechanisms.categorical import ProjectiveGeometry
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.oracle_choice import oracle_error
from optldp.mechanisms.categorical.projective_geometry import geometry_of_levels, projective_geometry
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.integers.exponential import exponential_below
from optldp.mechanisms.integers.finite_field import finite_field, prime_power
from scipy import stats

D = 2**53

CASES = [(2, 2), (2, 3), (2, 5), (2, 7), (2, 11), (3, 4), (3, 9), (3, 13), (4, 5), (4, 12), (5, 20), (8, 9), (9, 30)]
"""Elements of the field and categories: as many as points, and fewer."""


def geometry(q: int, size: int, epsilon: float = 1.2) -> ProjectiveGeometry:
    return projective_geometry(range(size), epsilon, order=q)


def incidence(q: int, size: int) -> np.ndarray:
    """Which points (n, K) lie on which planes, by sums of products of all canonical vectors one at a time."""
    field, length = finite_field(q), 2
    while sum(q**j for j in range(length)) < size:
        length += 1
    every = [v for v in product(range(q), repeat=length) if next((x for x in v if x), 0) == 1]
    found = np.zeros((len(every), size), dtype=bool)
    for report, u in enumerate(every):
        for code, v in enumerate(every[:size]):
            total = 0
            for one, other in zip(u, v, strict=True):
                total = int(field.sums[total, field.products[one, other]])
            found[report, code] = total == 0
    return found


def law(made: ProjectiveGeometry, supports: np.ndarray, code: int) -> list[Fraction]:
    """By the definition: one of the reports that support the category, or one of the others, each as likely."""
    own, on = Fraction(made.own_supported, D), supports[:, code]
    return [own / int(on.sum()) if one else (1 - own) / int((~on).sum()) for one in on]


@pytest.mark.parametrize(("q", "size"), CASES)
class TestLaw:
    def test_everything_said_of_it_is_that_of_all_points(self, q, size):
        """Probabilities, the largest ratio, and how often one and two categories are supported: exact fractions."""
        made, supports = geometry(q, size), incidence(q, size)
        assert (made.n_reports, size) == supports.shape
        laws = [law(made, supports, code) for code in range(size)]
        assert all(sum(one) == 1 for one in laws)
        columns = list(zip(*laws, strict=True))
        assert max(max(column) / min(column) for column in columns) == made.largest_ratio
        for code, one in enumerate(laws):
            for other in range(size):
                share = sum(chance for chance, on in zip(one, supports[:, other], strict=True) if on)
                assert float(share) == (made.own_support if other == code else made.other_support)
        reports = made.all_reports()
        assert np.array_equal(made.supported(reports), supports)
        assert np.array_equal(np.unpackbits(made.support(reports), axis=1, count=size).astype(bool), supports)
        assert all(np.array_equal(made.supported_at(code, reports), supports[:, code]) for code in range(size))
        np.testing.assert_allclose(made.pmf(reports), [[float(one[r]) for one in laws] for r in reports], rtol=1e-15)
        off = float(min(laws[0]))
        assert np.exp(made.log_elsewhere(reports)) == pytest.approx(off, rel=1e-13)
        assert np.array_equal(made.from_text(made.to_text(reports)), reports)

    def test_every_pair_of_categories_is_supported_by_equally_many_reports(self, q, size):
        """m reports each and l both, and one report by how many of the points there are; None where triples differ."""
        made, supports = geometry(q, size), incidence(q, size).astype(int)
        both = supports.T @ supports
        assert (np.diag(both) == made.n_supporting).all()
        assert (both[~np.eye(size, dtype=bool)] == made.n_supporting_both).all()
        sizes = set(supports.sum(axis=1).tolist())
        assert made.fixed_size == (sizes.pop() if len(sizes) == 1 else None)
        apart = (supports[:, None] != supports[None]).sum(axis=2).max()
        assert apart <= made.most_apart

    def test_what_is_drawn_makes_each_report_once(self, q, size):
        """All points of the other entries make those on the plane, and all their vectors those off it: bijections."""
        made, supports = geometry(q, size), incidence(q, size)
        n, m = made.n_reports, made.n_supporting
        for code in range(size):
            for count, on in ((m, True), (n - m, False)):
                every, codes = np.arange(count), np.full(count, code)
                found = made._completed(codes, np.full(count, on), every % m, every % (n - m))
                assert sorted(found.tolist()) == np.flatnonzero(supports[:, code] == on).tolist()

    @pytest.mark.parametrize("rng", [None, np.random.default_rng(3)], ids=["system", "simulated"])
    def test_reports_come_out_as_often_as_the_law_says(self, q, size, rng):
        """A chi-square test at one in ten million."""
        made = geometry(q, size)
        counts = np.bincount(made.sample_codes(np.full(30_000, size - 1), rng), minlength=made.n_reports)
        expected = 30_000 * made.pmf(made.all_reports())[:, size - 1]
        assert stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > 1e-7


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 4.0, 16.0])
@pytest.mark.parametrize(("q", "size"), [(2, 2), (3, 100), (256, 1000), (5, 20_000)])
def test_the_budget_is_used_up_exactly(epsilon, q, size):
    """The next numerator would break it."""
    made, limit = geometry(q, size, epsilon), exponential_below(epsilon)
    assert made.failures() == ()
    assert made.largest_ratio <= limit
    leaky = ProjectiveGeometry(made.categories, epsilon, Provenance(), q, made.own_supported + 1)
    assert leaky.largest_ratio > limit
    assert leaky.failures() == (f"the log-ratio must be at most {epsilon:g}, got {leaky.max_log_ratio!r}",)


@pytest.mark.parametrize(("q", "size"), [(2, 3), (2, 7), (2, 31), (3, 13), (4, 21), (5, 31), (7, 57)])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_where_each_point_is_a_category_it_errs_as_sets_of_the_same_size(q, size, epsilon):
    """A symmetric design of hyperplanes supports one and two categories as often as all sets of m do."""
    made = geometry(q, size, epsilon)
    sets = subset_selection(range(size), epsilon, n_chosen=made.n_supporting)
    assert made.n_reports == size
    assert made.own_support == sets.own_support
    assert oracle_error(made) == pytest.approx(oracle_error(sets), rel=1e-12)


@pytest.mark.parametrize("q", [2, 3, 4, 5, 8, 9])
def test_at_a_budget_of_its_own_it_errs_as_little_as_can_be(q):
    """Feldman et al. (2022): near 4 e^epsilon / (e^epsilon - 1)^2 for many categories, where q = e^epsilon + 1."""
    epsilon = math.log(q - 1) if q > 2 else 0.01
    made, e = geometry(q, 5000, epsilon), math.exp(epsilon)
    ideal = 4 * e / (e - 1) ** 2
    assert float(made.frequency_variance(0.0)) == pytest.approx(ideal, rel=0.01)


@pytest.mark.parametrize(
    ("size", "rows"),
    [
        (100, ["3 1.0145 1.0224 7 9", "4 1.0214 1.0186 9 9", "11 1.0386 1.0330 8 8", "101 1.1179 1.1097 7 7"]),
        (1000, ["3 1.0097 1.0105 11 12", "4 1.0032 1.0025 11 11", "8 1.0044 1.0043 13 13", "53 1.0189 1.0187 12 12"]),
        (4000, ["3 1.0097 1.0096 14 14", "4 1.0026 1.0024 13 13", "8 1.0009 1.0008 13 13", "64 1.0055 1.0053 13 13"]),
    ],
)
def test_the_table_of_the_page_is_that_of_the_closed_forms(size, rows):
    """docs/theory/categories.md: errors over subset selection's, of which none errs less, and bits."""
    for epsilon, row in zip((0.5, 1.0, 2.0, 4.0), rows, strict=True):
        mine, hashing = projective_geometry(range(size), epsilon), local_hashing(range(size), epsilon)
        least = oracle_error(subset_selection(range(size), epsilon))
        errors = [oracle_error(made) / least for made in (mine, hashing)]
        bits = [(made.n_reports - 1).bit_length() for made in (mine, hashing)]
        assert f"{mine.order} {errors[0]:.4f} {errors[1]:.4f} {bits[0]} {bits[1]}" == row


@pytest.mark.parametrize("size", [2, 5, 12, 41, 300])
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 2.5])
def test_the_field_is_the_best_of_all(size, epsilon):
    """Of all prime powers, by the error of each mechanism; no longer vectors would err less."""
    errors = {q: oracle_error(geometry(q, size, epsilon)) for q in range(2, 257) if prime_power(q)}
    made = projective_geometry(range(size), epsilon)
    assert oracle_error(made) == pytest.approx(min(errors.values()), rel=1e-12)
    assert made.order == min(errors, key=lambda q: errors[q])
    e = math.exp(epsilon)
    for q in errors:
        for length in range(made.length, 7):
            n, m, both = ((q ** (length - less) - 1) // (q - 1) for less in (0, 1, 2))
            if n >= size:
                p = m * e / (m * e + n - m)
                other = p * both / m + (1 - p) * (m - both) / (n - m)
                longer = ((size - 1) * other * (1 - other) + p * (1 - p)) / (p - other) ** 2
                assert longer > (1 - 1e-9) * oracle_error(made)


def test_levels_have_one_field_and_say_all_of_them_together():
    """Whatever the budgets, so that reports are of one kind; one budget is the plain mechanism."""
    epsilons = (0.5, 1.0, 2.0)
    made = geometry_of_levels(range(41), epsilons)
    fields = [q for q in range(2, 257) if prime_power(q)]
    told = {q: sum(1 / oracle_error(geometry(q, 41, e)) for e in epsilons) for q in fields}
    assert {level.order for level in made} == {max(told, key=lambda q: told[q])}
    assert [level.epsilon for level in made] == list(epsilons)
    assert geometry_of_levels(range(41), [1.0])[0].same_law(projective_geometry(range(41), 1.0))
    with pytest.raises(InputError, match="levels must match, got orders 2 and 5"):
        PersonalisedMechanism([geometry(2, 31, 1.0), geometry(5, 31, 2.0)])  # 31 points each


def test_blocks_of_users_change_nothing(monkeypatch):
    """Seven users at a time: reports that support the own category as often as they must."""
    made, codes = geometry(3, 30), np.arange(3000) % 30
    monkeypatch.setattr(sys.modules[ProjectiveGeometry.__module__], "DRAWN_AT_ONCE", 7)
    reports = made.checked_reports(made.sample_codes(codes, np.random.default_rng(1)))
    own = made.supported(reports)[np.arange(codes.size), codes].mean()
    assert abs(own - made.own_support) < 5 * math.sqrt(0.25 / codes.size)


@pytest.mark.nightly
def test_a_million_categories_are_drawn_and_supported():
    """Of vectors of 21 bits, which cannot be listed."""
    made = geometry(2, 2**20, 1.0)
    reports = made.sample_codes([0, 2**20 - 1, 77], np.random.default_rng(1))
    for code in (0, 77, 2**20 - 1):
        assert np.array_equal(made.supported(reports)[:, code], made.supported_at(code, reports))
    with pytest.raises(InputError, match="at most 1048576 reports can be listed, got 2097151"):
        made.all_reports()


def test_a_file_is_read_as_it_was_written(tmp_path):
    made = projective_geometry(range(100), 1.0)
    save_bundle(made, tmp_path / "points.json")
    found = load_mechanism(tmp_path / "points.json")
    assert isinstance(found, ProjectiveGeometry)
    assert made.same_law(found)


@pytest.mark.parametrize(
    ("order", "own", "message"),
    [
        (6, D // 2, "a field must have a prime power of elements, at most 256, got 6"),
        (1, D // 2, "got 1"),
        (0, D // 2, "got 0"),
        (-3, D // 2, "got -3"),
        (257, D // 2, "at most 256, got 257"),
        (10**30, D // 2, "at most 256, got 1000000000000000000000000000000"),
        (True, D // 2, "order must be a whole number, got True"),
        (2.0, D // 2, r"order must be a whole number, got 2\.0"),
        (2, 3 * D // 7, r"own_supported must be a whole number below 2\^53 and more than 3/7 of it"),
        (2, D, r"below 2\^53"),
        (2, 0.75, "got 0.75"),
    ],
)
def test_numbers_out_of_order_are_refused(order, own, message):
    with pytest.raises((TableError, InputError), match=message) as refused:
        ProjectiveGeometry("abcdefg", 1.0, Provenance(), order, own)  # pyright: ignore[reportArgumentType] -- made by it
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("order", [6, 1, 257])
def test_orders_that_are_none_are_refused(order):
    with pytest.raises(InputError, match=f"a field must have a prime power of elements, at most 256, got {order}"):
        projective_geometry("abcd", 1.0, order=order)


@pytest.mark.parametrize("reports", [[7], [-1], [0.5], [[1]]])
def test_reports_of_others_are_refused(reports):
    with pytest.raises(InputError, match=r"reports must (lie in 0\.\.6|be one-dimensional integers)"):
        geometry(2, 6).checked_reports(reports)
