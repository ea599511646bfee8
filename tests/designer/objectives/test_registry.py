"""Every objective that has a name is a file and an entry: all of it works, or it is refused by its name."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from optldp.designer.command_line import app
from optldp.designer.objectives import registry, variance
from optldp.designer.objectives.base import Objective
from optldp.designer.objectives.registry import OBJECTIVES, ON_OUTPUTS, AskedObjective, NamedObjective, in_words
from optldp.mechanisms import InputError
from optldp.mechanisms.option_grammar import TYPES

from ...naming import NEW

ASKER: Any = SimpleNamespace(users=500, trust_of=lambda last, before: 2.5)

SMALL = ("prior.csv", "--epsilon", "1", "--json")


@pytest.fixture
def options_of_design():
    group: Any = typer.main.get_command(app)
    return {name for param in group.commands["design"].params for name in param.opts}


@pytest.mark.parametrize("name", OBJECTIVES)
def test_an_entry_makes_an_objective_of_its_name_as_its_example_asks(name):
    asked = AskedObjective.read(OBJECTIVES[name].example)
    made = asked.made(ASKER)
    assert isinstance(made, Objective)
    assert (asked.name, made.key, str(asked)) == (name, name, OBJECTIVES[name].example)
    assert all(asked.told.get(key, value) == value for key, value in made.parameters().items())


@pytest.mark.parametrize("name", ON_OUTPUTS)
def test_an_entry_of_given_outputs_makes_an_objective_of_its_name(name):
    made = AskedObjective(name, {"loss": "absolute"}).made(ASKER)
    assert isinstance(made, Objective)
    assert made.key == name


@pytest.mark.parametrize("name", OBJECTIVES)
def test_an_entry_says_what_is_asked_and_names_options_that_there_are(name, options_of_design):
    entry = OBJECTIVES[name]
    assert {use.split()[0] for use in entry.uses} <= options_of_design  # some have a use for a way of one
    assert f"{name} is {entry.says}" in in_words()
    assert all(option.type in TYPES and option.help in in_words() for option in entry.options)
    assert len({option.name for option in entry.options}) == len(entry.options)


@pytest.mark.slow
@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("command", ["design", "compare", "bounds"])
def test_every_objective_is_designed_for_compared_by_and_bounded(name, command, optldp):
    """By its example; what it told is among the facts of the design, and the bound is none that its value passes."""
    people = ("--n", "500") if name in ("error", "quantile", "share", "cdf") or command == "design" else ()
    few = {"design": (), "compare": ("--method", "duchi"), "bounds": ("--method", "duchi")}[command]
    done = optldp(command, "--prior", *SMALL, "--objective", OBJECTIVES[name].example, *people, *few)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    if command == "design":
        sign = -1 if "information_nats" in found and found["trace_lower_bound"] is None else 1
        bound = found.get("lower_bound") or found.get("trace_lower_bound") or found["information_upper_bound"]
        assert sign * found["value"] >= sign * bound * (1 - sign * 1e-6)
        assert found.get("objective", "expected") == name
    else:
        always = command == "bounds" and name in ("expected", "minimax")  # rows of their own
        rows = found["objectives" if command == "bounds" and not always else "rows"]
        assert {name if always else row["objective"] for row in rows} == {name}
        assert {row["method"] for row in rows} >= {"duchi"}


@pytest.mark.parametrize("command", ["design", "compare", "bounds", "plan"])
def test_help_says_every_objective_and_what_it_may_be_told(command, optldp):
    shown = "".join(optldp(command, "--help-all").stdout.split())
    assert "".join(in_words().split()) in shown


def test_a_text_says_a_name_a_first_value_and_others_by_their_keys():
    robust = {"ambiguity": "tv", "radius": 0.2}
    for text in ("robust:tv,radius=0.2", "robust=tv,radius=0.2", "robust,radius=0.2,ambiguity=tv"):
        assert AskedObjective.read(text) == AskedObjective("robust", robust)
    assert AskedObjective.read("error,last=a=b.csv,before=c:d.csv").told == {
        "last": Path("a=b.csv"),
        "before": Path("c:d.csv"),
    }
    assert str(AskedObjective.read("information,patterns=any")) == "information,patterns=any"
    assert AskedObjective.read("error,last=a.csv,before=b.csv").made(ASKER).ambiguity.trust == 2.5  # pyright: ignore[reportAttributeAccessIssue] -- an Error


def test_the_first_value_may_have_its_key_and_no_number_is_nan():
    assert AskedObjective.read("robust:ambiguity=tv,radius=0.1") == AskedObjective.read("robust:tv,radius=0.1")
    with pytest.raises(InputError, match="worst of --objective trade-off must be a number, got 'nan'"):
        AskedObjective.read("trade-off:nan")


def test_asking_for_a_name_loads_no_objective():
    program = (
        "import sys; from optldp.designer.objectives.registry import AskedObjective, in_words\n"
        "in_words(); AskedObjective.read('robust:tv,radius=0.1'); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "numpy" not in loaded
    assert {name for name in loaded if ".objectives." in name} == {"optldp.designer.objectives.registry"}


@pytest.mark.parametrize("at", ["nowhere:Thing", "variance:Nothing"])
def test_an_entry_without_its_object_is_refused_by_its_name(at, monkeypatch, optldp):
    monkeypatch.setattr(registry, "OBJECTIVES", {**OBJECTIVES, NEW: NamedObjective(at, "a new table", "new", NEW)})
    with pytest.raises(InputError, match=f"objective {NEW!r} is known by name, and nothing here works by it"):
        AskedObjective.read(NEW).made(ASKER)
    refused = optldp("design", "--prior", *SMALL, "--objective", NEW)
    assert refused.exit_code == 2
    assert f"{NEW!r} is known by name" in refused.stderr


def test_an_object_that_lacks_what_objectives_have_is_refused_by_both_names(monkeypatch):
    half = type("Half", (Objective,), dict.fromkeys(("key", "label", "quantity", "value", "bound")))  # all but solve
    monkeypatch.setattr(variance, "Half", half, raising=False)
    entry = NamedObjective("variance:Half", "a new table", "new", NEW)
    monkeypatch.setattr(registry, "OBJECTIVES", {**OBJECTIVES, NEW: entry})
    with pytest.raises(InputError, match=f"objective {NEW!r} must have solve, which Half lacks"):
        AskedObjective.read(NEW).made(ASKER)
