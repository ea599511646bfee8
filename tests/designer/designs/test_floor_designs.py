"""Designs whose mechanism is a floor form: the numbers are the table's, and many knots have no table on the way."""

import numpy as np
import pytest
from optldp.designer import CategoricalPrior, KnotChoice, Levels, Prior, WorstCase, continuum_certificate, design
from optldp.designer.objectives import variance
from optldp.mechanisms import InputError, TableError, prove, verify
from optldp.mechanisms.compact_tables import FloorForm, floor_form


def sloping(n: int) -> Prior:
    """Weights of round sizes, some of them none."""
    x = np.linspace(-5.0, 95.0, n)
    return Prior.on_knots(x, np.maximum(np.cos(x / 20) + 0.5, 0.0), source="public", units="EUR")


@pytest.mark.slow
@pytest.mark.parametrize(("n", "epsilon"), [(12, 1.0), (300, 0.5), (300, 4.0)])
def test_the_floor_forms_design_is_the_tables(n, epsilon):
    """Value, variances, bound and evidence, to the gap that both are solved to; the form is proved without a table."""
    prior = sloping(n)
    made, plain = design(prior, epsilon, form="floor"), design(prior, epsilon)
    form = made.mechanism
    assert isinstance(form, FloorForm)
    assert form.prior is not None
    assert (form.units, form.provenance.method) == ("EUR", "optimal")
    assert made.status == "optimal"
    assert made.bound == pytest.approx(plain.bound, rel=1e-6)
    for name in ("value", "expected_variance", "worst_case_variance", "max_log_ratio"):
        assert getattr(made, name) == pytest.approx(getattr(plain, name), rel=2e-6), name
    assert made.max_abs_bias < 1e-12 * 100
    assert form.provenance.certificate is not None
    assert form.provenance.certificate["gap"] == pytest.approx(made.gap)


def test_what_is_said_of_it_is_what_is_said_of_its_table(monkeypatch):
    """The evidence is recomputed from the form alone, and equals that of the table that it expands to."""
    monkeypatch.setattr(variance, "LARGE", 20)
    made = design(sloping(65), 2.0, form="floor")
    whole = made.mechanism.expand()
    assert prove(whole).ok
    checked, theirs = made.certificate.check(), verify(whole)
    assert (checked.value, checked.bound) == (made.value, made.bound)
    mine = made.verification
    assert mine is not None
    assert str(mine.verdict) == str(theirs.verdict) == "proved"
    assert mine.expected_variance == pytest.approx(theirs.expected_variance, rel=1e-10)
    assert mine.worst_case_variance == pytest.approx(theirs.worst_case_variance, rel=1e-10)
    assert mine.max_log_ratio == pytest.approx(theirs.max_log_ratio, rel=1e-14)
    assert mine.max_abs_bias == pytest.approx(theirs.max_abs_bias, abs=1e-12)
    assert made.against(made.prior) == pytest.approx(made.expected_variance)
    assert continuum_certificate(made).total_gap < 1e-2
    assert "proved: largest log-ratio" in made.summary()
    assert made.plot().get_title() is not None


@pytest.mark.slow
def test_no_rows_are_made_for_many_knots(monkeypatch):
    """Neither by the solver nor by making whole numbers of it; fewer knots are solved as ever."""

    def table(*args: object, **options: object) -> None:
        raise AssertionError("a table was made")

    monkeypatch.setattr(variance, "solve_unbiased", table)
    assert design(sloping(variance.LARGE + 1), 1.0, form="floor").status == "optimal"
    with pytest.raises(AssertionError, match="a table was made"):
        design(sloping(variance.LARGE), 1.0, form="floor")


@pytest.mark.slow
def test_where_no_floor_is_found_the_table_has_one(monkeypatch):
    """The barrier may be lost, or its floor too rough for whole numbers."""
    monkeypatch.setattr(variance, "LARGE", 20)
    with monkeypatch.context() as patched:
        patched.setattr(variance, "solve_floor", lambda *args, **options: None)
        lost = design(sloping(25), 1.0, form="floor")

    def refused(*args: object, **options: object) -> None:
        raise TableError("a floor form must reach")

    monkeypatch.setattr(variance, "form_over", refused)
    rough = design(sloping(25), 1.0, form="floor")
    for made in (lost, rough):
        assert isinstance(made.mechanism, FloorForm)
        assert made.status == "optimal"


@pytest.mark.nightly
def test_other_objectives_and_closed_forms_have_floor_forms_too():
    """By way of their tables."""
    prior = sloping(9)
    worst = design(prior, 1.0, objective=WorstCase(), form="floor")
    assert worst.value == pytest.approx(design(prior, 1.0, objective=WorstCase()).value, rel=1e-6)
    duchi = design(prior, 1.0, method="duchi", form="floor")
    assert duchi.mechanism.places.tolist() == floor_form(design(prior, 1.0, method="duchi").mechanism).places.tolist()
    assert duchi.certificate.check().value == duchi.value


def test_what_has_no_floor_form_is_refused():
    """One line each."""
    prior = sloping(9)
    with pytest.raises(TableError, match="of points"):
        design(prior, 1.0, method="piecewise", form="floor")
    with pytest.raises(InputError, match="form must be table, or floor for one prior of numbers and one budget"):
        design(KnotChoice(prior.on), 1.0, form="floor")
    with pytest.raises(InputError, match="form must be table, or floor"):
        design(prior, Levels([0.5, 1.0]), form="floor")
    with pytest.raises(InputError, match="form must be table, or floor"):
        design(CategoricalPrior(["a", "b"], [1, 1]), 1.0, form="floor")
    with pytest.raises(InputError, match="exact=False"):
        design(prior, 1.0, exact=False, form="floor")
