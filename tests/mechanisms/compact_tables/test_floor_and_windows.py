"""The floor form against the table that it expands to, and against documents of enemies."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from optldp.mechanisms import InputError, TableError, allow_large, prove
from optldp.mechanisms.compact_tables import FloorForm, form_over
from optldp.mechanisms.compact_tables.floor_and_windows import form_of
from optldp.mechanisms.files.bundle import document_to_mechanism
from optldp.mechanisms.files.identifier import table_identifier
from optldp.mechanisms.integers.exponential import exponential_below
from optldp.mechanisms.sampling.domain import ClippingWarning
from optldp.mechanisms.table.knot_prior import KnotPrior

from ..floor_forms import BAD, SCALE, UNBIASED, D, by_hand, document, random_form, smooth_floor, wide_form

FORMS = {"by hand": by_hand(), "smooth": wide_form(7, 20, 1.0)} | {
    f"random {seed}": random_form(np.random.default_rng(seed), m=3 + seed) for seed in range(6)
}


@pytest.mark.parametrize("name", FORMS)
def test_it_expands_to_the_very_law(name):
    """Numerators, outputs, claims; the exact moments of the one are those of the other, in doubles."""
    form, table = FORMS[name], FORMS[name].expand()
    np.testing.assert_array_equal(table.numerators, form.windows.numerators(form.starts))
    np.testing.assert_array_equal(table.low, np.array([Fraction(form.step) * k for k in form.places.tolist()], float))
    assert (table.exact, table.epsilon, table.units, table.provenance) == (True, form.epsilon, "", form.provenance)
    between = np.linspace(*form.domain, 17)
    np.testing.assert_allclose(form.mean(between), table.mean(between), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(form.var(between), table.var(between), rtol=1e-9)
    np.testing.assert_allclose(form.pmf(between), table.pmf(between), rtol=0, atol=1e-16)
    assert form.worst_case_variance() == pytest.approx(table.worst_case_variance(), rel=1e-9)
    weights = KnotPrior(np.full(form.knots.size, 1 / form.knots.size), np.ones(form.knots.size - 1), "public")
    assert form.expected_variance(weights) == pytest.approx(table.expected_variance(weights), rel=1e-9)


@pytest.mark.parametrize("name", FORMS)
def test_its_moments_are_exact(name):
    """Means as fractions; variances are the doubles nearest to the fractions."""
    form = FORMS[name]
    reports = [Fraction(output) for output in form.outputs.tolist()]
    for row, mean, variance in zip(
        form.windows.numerators(form.starts).tolist(), form.exact_means, form.knot_variances, strict=True
    ):
        assert mean == sum(one * report for one, report in zip(row, reports, strict=True)) / D
        assert variance == float(sum(one * (report - mean) ** 2 for one, report in zip(row, reports, strict=True)) / D)


@pytest.mark.parametrize("name", FORMS)
def test_its_proof_is_that_of_the_table(name):
    """The same facts: tightest output, ratio, limit, bias."""
    form = FORMS[name]
    assert form.proof() == prove(form.expand())


@pytest.mark.parametrize("name", FORMS)
def test_the_same_random_words_make_the_same_reports(name):
    """Of a generator of a simulation, and in blocks of users of every row."""
    form, table = FORMS[name], FORMS[name].expand()
    values = np.random.default_rng(1).uniform(*form.domain, 3000)
    reports = form.sample(values, np.random.default_rng(2))
    np.testing.assert_array_equal(reports, table.sample(values, np.random.default_rng(2)))
    np.testing.assert_array_equal(form.output_index(reports), table.output_index(reports))
    np.testing.assert_array_equal(form.locate(reports + 0.1), table.locate(reports + 0.1))


def test_values_outside_are_refused_or_clipped_as_by_a_table():
    """With the count."""
    form = by_hand()
    with pytest.raises(InputError, match="1 of 2 outside"):
        form.sample([0.0, 10.5])
    with pytest.warns(ClippingWarning, match="1 of 2 values"):
        assert form.sample([0.0, 10.5], clip=True).shape == (2,)
    assert form.clip_to_domain([-1.0, 3.0])[0].tolist() == [0.0, 3.0]
    with pytest.raises(InputError, match="outputs of this table"):
        form.output_index([1.25])


def test_the_stated_ratio_is_compared_with_the_budget_by_whole_numbers():
    """One unit of 2^-128 above what is proved to be below e^epsilon is refused, none above is not."""
    limit = int(exponential_below(1.1) * SCALE)
    assert by_hand(ratio=limit).proof().ok
    (failure,) = by_hand(ratio=limit + 1).failures()
    assert failure.startswith("the log-ratio must be at most 1.1, got 1.1")
    assert failure.endswith(f": {limit + 1} / 2^128")


def test_a_claim_to_be_unbiased_is_decided_by_whole_numbers():
    """A start that is off by a share of 1e-11 of the window moves the mean beyond 1e-12 of the domain."""
    outputs, floor = smooth_floor(20, 1.0)
    good = form_over(np.linspace(0, 100, 5), outputs, floor, 1.0)
    off = good.starts.copy()
    off[2] += int(1e-11 * good.windows.width)
    made = {name: getattr(good, name) for name in ("knots", "places", "step", "floor", "ratio", "epsilon")}
    assert good.failures() == ()
    (failure,) = FloorForm(**made, starts=off, provenance=UNBIASED).failures()
    assert failure.startswith("an exact table that claims to be unbiased must be so within 1e-12 of the domain, got")
    assert failure.endswith("at knot 2")
    assert FloorForm(**made, starts=off).failures() == ()


def test_a_copy_is_the_same_and_checked_again():
    """By copy and by pickle; arrays are read-only."""
    form = by_hand()
    for made in (copy.deepcopy(form), pickle.loads(pickle.dumps(form))):
        assert made.members().keys() == form.members().keys()
        np.testing.assert_array_equal(made.starts, form.starts)
    with pytest.raises(ValueError, match="read-only"):
        form.starts[0] = 1
    with pytest.raises(TypeError, match="FloorForm is final"):
        type("Leaky", (FloorForm,), {})


def test_a_form_too_large_to_be_a_table_says_so(monkeypatch):
    """In one line, before memory is asked for."""
    monkeypatch.setattr("optldp.mechanisms.cost.ENTRY_BYTES", 2**31)
    with pytest.raises(InputError, match=r"of 3 knots and 3 outputs may take .* means of one service need no table"):
        by_hand().expand()
    with allow_large():
        assert by_hand().expand().probabilities.shape == (3, 3)


def test_without_prior_it_is_the_same_mechanism():
    """The prior may be as sensitive as the data."""
    form = wide_form(5, 20, 1.0, with_prior=True)
    bare = form.without_prior()
    assert (form.prior is None, bare.prior is None) == (False, True)
    kept, left = ({**made.members(), "prior": None} for made in (form, bare))
    np.testing.assert_equal(left, kept)


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_floor_form_is_refused_in_one_line(name):
    """By its first fault, and so is each member that is missing."""
    changes, message = BAD[name]
    made = {key: value for key, value in document(by_hand()).items() if key != "checksum"} | changes
    with pytest.raises((TableError, InputError), match=message) as caught:
        document_to_mechanism(made)
    assert "\n" not in str(caught.value)


def test_a_member_that_is_missing_is_named():
    """Each in turn."""
    made = {key: value for key, value in document(by_hand()).items() if key != "checksum"}
    assert isinstance(document_to_mechanism(made), FloorForm)
    for key in set(made) - {"format", "kind"}:
        with pytest.raises(TableError, match=f"must have the key '{key}', which is missing"):
            document_to_mechanism({k: v for k, v in made.items() if k != key})


def test_a_table_is_of_a_form_if_it_was_expanded_from_it_and_not_if_it_is_equal():
    """Of a file of its own it has the name of that, whatever else is in memory."""
    form = by_hand()
    expanded, alone = form.expand(), pickle.loads(pickle.dumps(form.expand()))
    assert alone == expanded
    assert (form_of(expanded), form_of(alone)) == (form, None)
    assert table_identifier(alone) != table_identifier(expanded) == table_identifier(form)
