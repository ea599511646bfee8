"""Every kind of privacy is a class and an entry: it is made as its example asks, or refused by its name."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from optldp.designer import privacies
from optldp.designer.privacies import carries_budgets, in_words, privacy_asked, privacy_name
from optldp.mechanisms import InputError, load_table, verify
from optldp.mechanisms.option_grammar import Option
from optldp.mechanisms.promise import (
    Blocks,
    ByValue,
    Metric,
    OfPairs,
    Promise,
    Ratios,
    Sensitive,
    document,
    ratios,
    registry,
)
from optldp.mechanisms.promise.members import numbers
from optldp.mechanisms.promise.registry import PRIVACIES, NamedPrivacy

from ..naming import NEW

VALUES = np.array([0.0, 0.5, 2.0])
FILES = {
    "numbers:epsilon": "value,epsilon\n0.5,3\n0,2\n2,1\n",
    "labels:block": "value,block\n0.5,low\n0,low\n2,high\n",
    "values": "value\n2\n0\n",
    "matrix": "0,1,2\n1,0,1.5\ninf,1.5,0\n",
}


def register(monkeypatch, entry):
    """Give an entry a name, wherever the registry is looked at."""
    for room in (registry, privacies, document):
        monkeypatch.setattr(room, "PRIVACIES", {**PRIVACIES, NEW: entry})


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A file FILE.csv in the working folder for what an entry reads."""
    monkeypatch.chdir(tmp_path)
    return lambda entry: [tmp_path.joinpath("FILE.csv").write_text(FILES[holds]) for holds in entry.files.values()]


@pytest.mark.parametrize("name", PRIVACIES)
def test_an_entry_makes_a_promise_of_its_name_as_its_example_asks(written, name):
    entry = PRIVACIES[name]
    written(entry)
    made = privacy_asked(entry.example.replace("FILE", "FILE.csv"), 0.5 if entry.budgeted else None, VALUES)
    assert isinstance(made, Promise)
    assert (privacy_name(entry.example), made.kind, made.carries_budgets) == (name, name, not entry.budgeted)
    assert carries_budgets(entry.example) is made.carries_budgets
    assert made.epsilon == (0.5 if entry.budgeted else made.limits(VALUES)[np.isfinite(made.limits(VALUES))].max())
    assert f"{entry.example}" in in_words()
    assert all(getattr(made, option.replace("-", "_")) is not None for option in entry.needs)
    assert set(entry.needs) | set(entry.files) <= {option.name for option in entry.options}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("by-value:FILE", ByValue((2.0, 3.0, 1.0))),
        ("blocks:FILE,within=1,across=3", Blocks((0, 0, 1), 1.0, 3.0)),
        ("sensitive:FILE", Sensitive(0.5, (True, False, True))),
        ("ratios:FILE", Ratios(((0.0, 1.0, 2.0), (1.0, 0.0, 1.5), (math.inf, 1.5, 0.0)))),
        ("metric:distance=FILE", Metric(0.5, ((0.0, 1.0, 2.0), (1.0, 0.0, 1.5), (math.inf, 1.5, 0.0)))),
    ],
)
def test_what_a_file_says_is_put_in_the_order_of_the_prior(written, text, said):
    entry = PRIVACIES[privacy_name(text)]
    written(entry)
    assert privacy_asked(text.replace("FILE", "FILE.csv"), 0.5 if entry.budgeted else None, VALUES) == said


@pytest.mark.parametrize(
    ("text", "content", "says"),
    [
        ("by-value:FILE", "value,epsilon\n0,1\n0.5,1\n", "must have a row for each value of the prior, got none for 2"),
        ("by-value:FILE", "value,epsilon\n0,1\n0.5,1\n3,1\n", "must have values of the prior alone, got 3"),
        ("by-value:FILE", "value,epsilon\n0,1\n0.5,1\n2,1\n2,1\n", "must have each value once, got 2 2 times"),
        ("by-value:FILE", "value,budget\n0,1\n", "epsilon"),
        ("by-value:FILE", "value,epsilon\n0,1\n0.5,1\n2,-1\n", "epsilon must be positive and finite, got -1.0"),
        ("by-value:FILE,rule=max", FILES["numbers:epsilon"], "rule must be average or min, got 'max'"),
        ("by-value:rule=min", "", "needs epsilons, got none: write by-value:FILE,rule=min"),
        ("blocks:FILE,within=1", FILES["labels:block"], "needs across, got none"),
        ("blocks:FILE,within=1,across=0", FILES["labels:block"], "across: epsilon must be positive"),
        ("blocks:FILE,within=1,across=2", "value,block\n0,a\n0.5,a\n2,a\n", "there must be at least two blocks, got 1"),
        ("sensitive:FILE", "value\n0\n0.5\n2\n", "some values must be sensitive and some not, got all"),
        ("sensitive:FILE", "value\n0.7\n", "must have values of the prior alone, got 0.7"),
        ("ratios:FILE", "0,1\n1,0\n", "must be 3 x 3, as the prior has 3 values, got 2 x 2"),
        ("ratios:FILE", "0,1,x\n1,0,1\n1,1,0\n", "must have numbers with commas between them"),
        ("ratios:FILE", "", "must have numbers with commas between them"),
        ("ratios:FILE", "0,1,-1\n1,0,1\n1,1,0\n", "got -1.0 for values 0 and 2: inf promises nothing"),
        ("ratios:FILE", "0,1,nan\n1,0,1\n1,1,0\n", "got nan for values 0 and 2"),
        ("ratios:FILE", "0,0,1\n0,0,1\n1,1,0\n", "got 0.0 for values 0 and 1: 0 makes two values the same"),
        ("ratios:FILE", "1,1,1\n1,0,1\n1,1,0\n", "and 0 of a value and itself alone, got 1.0 for values 0 and 0"),
        ("ratios:FILE", "0,inf,inf\ninf,0,inf\ninf,inf,0\n", "must be finite for some pair, got inf for all"),
        ("ratios:FILE", "0,17,17\n17,0,17\n17,17,0\n", "must be from 1e-06 to 16, got 17 once paths are followed"),
        ("metric:distance=FILE,period=3", FILES["matrix"], "must be a matrix or round a circle, got both"),
        ("metric:period=-1", "", "period must be a positive number, got -1.0"),
    ],
)
def test_what_a_file_must_not_say_is_refused_in_a_line(tmp_path, monkeypatch, text, content, says):
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("FILE.csv").write_text(content)
    with pytest.raises(InputError) as refused:
        privacy_asked(text.replace("FILE", "FILE.csv"), None if carries_budgets(text) else 1.0, VALUES)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("secret", f"--privacy must be one of {', '.join(PRIVACIES)}, got 'secret'"),
        ("approximate", "--privacy approximate needs delta, got none: write approximate:delta=1e-6"),
        ("metric:distance=F", "--privacy metric says something of each value of a prior, got none: give --prior"),
        ("pure:3", "--privacy pure takes nothing beside, got '3': write pure"),
    ],
)
def test_what_there_is_not_is_refused_in_a_line(text, says):
    with pytest.raises(InputError) as refused:
        privacy_asked(text, 1.0)
    assert str(refused.value) == says


def test_an_entry_without_its_class_is_refused_by_its_name(monkeypatch):
    entry = NamedPrivacy("ratios:Nothing", "nothing", NEW)
    register(monkeypatch, entry)
    with pytest.raises(InputError, match=f"privacy {NEW!r} is known by name, and nothing here works by it"):
        privacy_asked(NEW, 1.0)


@dataclass(frozen=True)
class Doubling(OfPairs):
    """Epsilon for neighbours, and once more each time that ranks double."""

    ranks: tuple[float, ...]

    kind: ClassVar[str] = NEW
    members: ClassVar[Mapping[str, Callable[[object], Any]]] = {"ranks": numbers}

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "ranks", tuple(np.asarray(self.ranks).tolist()))

    def __str__(self):
        return f"epsilon {self.epsilon:g} a doubling"

    @property
    def size(self):
        return len(self.ranks)

    def said(self, knots):
        apart = np.abs(np.subtract.outer(self.ranks, self.ranks))
        return np.where(apart > 0, self.epsilon * (1 + np.log2(np.maximum(apart, 1))), 0)


@pytest.mark.slow
def test_a_class_and_one_entry_are_enough_for_commands_and_files(optldp, monkeypatch, tmp_path):
    """It is designed for, saved, read back and proved, and nothing else knows of it."""
    monkeypatch.setattr(ratios, "Doubling", Doubling, raising=False)
    ranks = Option("ranks", Path, "columns value, rank")
    register(monkeypatch, NamedPrivacy("ratios:Doubling", "", NEW, (ranks,), ("ranks",), {"ranks": "numbers:rank"}))
    (tmp_path / "p.csv").write_text("value,weight\n0,1\n1,1\n2,2\n")
    (tmp_path / "r.csv").write_text("value,rank\n0,1\n1,2\n2,4\n")
    asked = ("design", "--prior", tmp_path / "p.csv", "--epsilon", 0.5, "--biased", "--outputs", "0:2:1", "--public")
    optldp(*asked, "--privacy", f"{NEW}:{tmp_path / 'r.csv'}", "--out", tmp_path / "m.json")
    table = load_table(tmp_path / "m.json")
    assert table.promise == Doubling(0.5, (1, 2, 4))
    assert verify(table).verdict == "proved"
    assert "proved" in optldp("verify", tmp_path / "m.json").stdout
