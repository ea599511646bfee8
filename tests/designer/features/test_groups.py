"""Means of groups by signs: they cost what a closed form says, intervals are of that length, bad input is refused."""

# Each case knows which kind of mechanism it made; the types say only that it is one of two.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false

import math

import numpy as np
import pytest
from optldp.designer.features import design_groups, people_of
from optldp.designer.features.groups import SIZES, sign_rows
from optldp.designer.features.signed_sets import signed_sets
from optldp.estimators import influence
from optldp.estimators.features import estimate_features
from optldp.estimators.means.sides import side_decoders
from optldp.mechanisms import InputError, duchi

GROUPS = np.repeat(np.arange(5), 200)
SIGNS = np.tile([-1.0, 1.0], 500)
FIVE = tuple("abcde")


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_groups_of_two_values_cost_what_a_product_of_signs_does(epsilon):
    made = design_groups("g", FIVE, "y", (-1, 1), epsilon, GROUPS, SIGNS, clip=math.inf, uniform_share=0.0, way="signs")
    of_sums = 1 / math.tanh(epsilon / 2) ** 2 / (1 - SIZES)
    assert made.variances == pytest.approx(np.full(5, 25 * of_sums), rel=1e-5)
    assert made.open_variances == pytest.approx(np.full(5, 5.0))


@pytest.mark.parametrize(("epsilon", "size"), [(1.0, 4), (2.0, 2), (4.0, 1)])
def test_signed_sets_of_groups_cost_what_is_counted(epsilon, size):
    """With a the mean of a group's sign in a set: n var = Pr(in the set) / (a share)^2, where means are zero."""
    made = design_groups("g", FIVE, "y", (-1, 1), epsilon, GROUPS, SIGNS, clip=math.inf, way="sets")
    total, with_own = math.comb(5, size) * 2**size, math.comb(4, size - 1) * 2 ** (size - 1)
    whole = total + with_own * math.expm1(epsilon)
    (one,) = made.mechanism.features
    assert (one.mechanism.n_outputs, one.mechanism.epsilon) == (total, epsilon)
    # Each of 5 groups is in size / 5 of all sets that are reported.
    share_of_sign = with_own * math.expm1(epsilon) / whole
    assert made.variances == pytest.approx(np.full(5, 25 * size / 5 / share_of_sign**2), rel=1e-9)
    assert influence(made.mechanism).highest == pytest.approx(np.full(5, 1 / share_of_sign), rel=1e-9)


def test_signs_or_sets_are_taken_as_the_worst_group_errs_less():
    rng = np.random.default_rng(3)
    few = np.concatenate([GROUPS[GROUPS == 0][:20], GROUPS[GROUPS > 0]])
    values = np.clip(rng.normal(size=few.size), -4, 4)
    for epsilon, ways in ((0.5, "signs"), (4.0, "sets")):
        of_way = {
            way: design_groups("g", FIVE, "y", (-4, 4), epsilon, few, values, way=way) for way in ("signs", "sets")
        }
        taken = design_groups("g", FIVE, "y", (-4, 4), epsilon, few, values)
        assert taken.variances == pytest.approx(of_way[ways].variances)
        assert taken.variances.max() == min(made.variances.max() for made in of_way.values())
    # Few people do not tell the rare group's share by signs, of which a tenth report it.
    taken = design_groups("g", FIVE, "y", (-4, 4), 0.5, few, values, users=10_000)
    assert len(taken.mechanism.features) == 1


def test_a_table_that_does_not_tell_sides_apart_is_refused():
    for table, says in ((signed_sets(3, 3, 1.0), "tell every side"), (duchi([0.0, 2.0], 1.0), "got other knots")):
        with pytest.raises(InputError, match=says):
            side_decoders(table, 1.0)


def test_no_sign_of_a_group_goes_with_that_of_another():
    for groups in range(2, 33):
        signs = sign_rows(groups)
        assert (signs.T @ signs == len(signs) * np.eye(groups)).all()


def test_a_file_of_many_groups_and_values_has_room_for_all_its_tables():
    """Of 400 different distances from groups' means each of 15 tables had 401 knots: no file took them."""
    groups = np.arange(4000) % 8
    made = design_groups("g", tuple("abcdefgh"), "y", (0, 40), 4.0, groups, np.arange(4000) // 3 % 41, way="signs")
    assert max(each.mechanism.knots.size for each in made.mechanism.features) <= 101


@pytest.mark.parametrize("way", ["signs", "sets"])
def test_means_that_are_not_the_pilots_are_found(way):
    rng = np.random.default_rng(1)
    values = np.clip(rng.normal(size=1000) + GROUPS, -4, 8)
    made = design_groups("g", FIVE, "y", (-4, 8), 2.0, GROUPS, values, way=way)
    codes = rng.choice(5, 40_000, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    held = np.clip(rng.normal(size=codes.size) + 1.2 * codes, -4, 8)
    found = estimate_features(made.mechanism, made.mechanism.sample(np.column_stack([codes, held]), rng))
    truth = np.bincount(codes, held) / np.bincount(codes)
    assert (found.low < truth).all()
    assert (truth < found.high).all()
    again = np.tile(np.column_stack([GROUPS, values]), (40, 1))
    found = estimate_features(made.mechanism, made.mechanism.sample(again, rng))
    assert found.std_error == pytest.approx(made.std_errors(len(again)), rel=0.25)


def test_people_of_a_rare_group_are_told_by_what_its_share_errs_by_too():
    """1 / (1 + z) has the second moment 1 + 3 v + 15 v^2 of z of variance v: at v = 1/16 a fifth more than 1."""
    made = design_groups("g", FIVE, "y", (-1, 1), 2.0, GROUPS, SIGNS, way="signs")
    least = made.least_people
    assert 16 * made.share_variances == pytest.approx(np.full(5, least), abs=1)
    assert made.std_errors(least) ** 2 * least == pytest.approx(made.variances * (1 + 3 / 16), rel=1e-4)
    for error in (0.01, 0.1):
        assert made.std_errors(made.people(error)).max() == pytest.approx(error, rel=1e-3)
    assert made.people(10.0) == least
    with pytest.raises(InputError, match="share of group 'a' must be told within 25% of itself for its mean, got 50%"):
        people_of(made, least // 4)


@pytest.mark.parametrize(
    ("labels", "values", "more", "says"),
    [
        (tuple("abcdef"), SIGNS, {}, "got none in 'f'"),
        (("a",), SIGNS, {}, "2 to 32 groups of 'g', got 1"),
        (FIVE, SIGNS * 2, {}, "column 'y' must lie within -1 to 1, got -2"),
        (FIVE, SIGNS, {"clip": 0.0}, "the clip must be positive"),
        (FIVE, GROUPS / 5, {}, "must vary within groups"),
    ],
)
def test_bad_input_is_one_line(labels, values, more, says):
    with pytest.raises(InputError, match=says):
        design_groups("g", labels, "y", (-1, 1), 1.0, GROUPS, values, **more)
