"""A name that is added to a list of objectives, ways or kinds, and to nothing else, is refused by its name."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from optldp.designer import Information, Prior, Pure, design
from optldp.designer.commands.handlers import pairs
from optldp.designer.commands.handlers.registry import design_bundle
from optldp.designer.commands.rendering.objectives import design_table
from optldp.designer.objectives import information
from optldp.designer.planning import distribution, mean
from optldp.designer.planning.bootstrap import Case, linear_row
from optldp.designer.protocols import first_phase
from optldp.designer.report.fronts.categories import _sent
from optldp.mechanisms import InputError, duchi
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.combinators.rounded_oracle import RoundedOracle
from optldp.mechanisms.exactness.verification import _kept
from optldp.mechanisms.third_party import adopt, written

from ..naming import NEW, extended

REFUSAL = f"{NEW!r} is known by name, and nothing here works by it"

PRIOR = Prior.on_knots([0, 1, 2], [2, 1, 1], source="public")
NUMBERS: Any = NEW


def refused(match=REFUSAL):
    return pytest.raises(InputError, match=match)


@pytest.mark.parametrize("option", ["criterion", "patterns"])
def test_a_criterion_or_patterns_that_nothing_works_by_are_not_taken_for_others(option, monkeypatch):
    name = option.capitalize()
    monkeypatch.setattr(information, name, extended(getattr(information, name)))
    with refused():
        design(PRIOR, 1.0, objective=Information(**{option: NEW}))  # pyright: ignore[reportArgumentType] -- of these there is one


@pytest.mark.parametrize("criterion", ["mutual-information", "cumulative"])
def test_new_patterns_are_refused_by_either_kind_of_criterion(criterion, monkeypatch):
    monkeypatch.setattr(information, "Patterns", extended(information.Patterns))
    with refused():
        design(PRIOR, 1.0, objective=Information(criterion, NUMBERS))


@pytest.mark.parametrize("make", [design_table, design_bundle])
def test_a_kind_of_design_that_nothing_makes_is_no_traceback(make):
    class Kind:
        label = NEW

    asked: Any = SimpleNamespace(kind=Kind())
    with refused("known by name, and nothing here works by it"):
        make(asked)


def test_whose_mean_and_which_distance_are_chosen_by_name(monkeypatch):
    monkeypatch.setattr(mean, "MeanOf", extended(mean.MeanOf))
    with refused():
        mean.plan_error(PRIOR, 1000, 1.0, of=NUMBERS)
    monkeypatch.setattr(distribution, "Distance", extended(distribution.Distance))
    with refused():
        distribution.plan_distribution_error(
            PRIOR, 1000, 1.0, distance=NUMBERS, repetitions=2, rng=np.random.default_rng(1)
        )


def test_an_average_of_reports_is_none_of_a_new_name():
    table = duchi([0, 1, 2], 1.0).with_prior(PRIOR.knot_prior)
    with refused():
        linear_row(Case("duchi", table, PRIOR, 100), NEW)


def test_a_first_phase_does_not_take_a_new_way_for_mixture_reduction(monkeypatch):
    monkeypatch.setattr(first_phase, "OF_ORACLE", extended(first_phase.OF_ORACLE))
    oracle = RoundedOracle(PRIOR.knots, categorical_grr(range(3), 1.0))
    phase = first_phase.FirstOracle(oracle)
    with refused():
        phase.weights(oracle.sample([0, 1, 2], np.random.default_rng(1)), PRIOR.knots, NUMBERS)


def test_fits_of_pairs_are_found_by_their_names():
    with refused():
        pairs.fitted_keys(None, NEW, 0.95)  # pyright: ignore[reportArgumentType]


def test_a_form_of_writing_that_nothing_writes_is_not_written_as_another(monkeypatch):
    monkeypatch.setattr(written, "_READ", extended(written._READ))
    theirs = adopt("grr", ["a", "b", "c"], 1.0)
    with refused():
        written.Written(theirs, NEW).texts(np.array([0, 1]))


def test_a_new_promise_is_never_verified_as_pure():
    class Newer:
        epsilon = 1.0

    table, ratios = duchi([0.0, 1.0], 1.0), np.array([1.0])
    assert _kept(table, Pure(1.0), ratios, None) == 1.0
    with refused("known by name, and nothing here works by it"):
        _kept(table, Newer(), ratios, None)  # pyright: ignore[reportArgumentType]


def test_a_page_does_not_say_what_reports_of_a_new_oracle_are():
    class Oracle:
        categories = ("a", "b")

    with refused("known by name, and nothing here works by it"):
        _sent(Oracle())  # pyright: ignore[reportArgumentType]
