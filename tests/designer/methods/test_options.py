"""Every method that may be told something is a file and an entry: all of it works, or it is refused by its name."""

import json
import subprocess
import sys

import pytest
from optldp.designer.methods import options
from optldp.designer.methods.base import Method
from optldp.designer.methods.options import TOLD, ToldMethod, in_words, read_method, told_method
from optldp.mechanisms import InputError
from optldp.mechanisms.option_grammar import TYPES, as_asked

from ...naming import NEW

PRIOR = "value,weight\n" + "\n".join(f"{k},{1 + k % 3}" for k in range(9))


@pytest.fixture
def prior(tmp_path):
    path = tmp_path / "prior.csv"
    path.write_text(PRIOR)
    return path


@pytest.mark.parametrize("name", TOLD)
def test_an_entry_makes_a_method_of_its_name_as_its_example_asks(name):
    entry = TOLD[name]
    made = told_method(entry.example)
    assert isinstance(made, Method)
    asked, given = read_method(entry.example)
    assert (asked, made.key) == (name, name)
    assert given
    assert read_method(as_asked(asked, given, entry.options)) == (asked, given)
    assert all(option.type in TYPES and f"{option.name} ({option.help})" in in_words() for option in entry.options)


@pytest.mark.parametrize("option", [(name, each) for name in TOLD for each in TOLD[name].options], ids=str)
def test_every_option_reaches_its_method(option):
    name, each = option
    value = {bool: "", int: "=7", float: "=1.25"}[each.type]
    made = told_method(f"{name},{each.name}{value}")
    assert isinstance(made, Method)
    argument = dict(TOLD[name].arguments).get(each.name, each.name.replace("-", "_"))
    assert argument is not None
    assert getattr(made, argument) == {bool: True, int: 7, float: 1.25}[each.type]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("aaa:4,window=9,tail-ratio=0.9", "aaa --intervals 4 --window 9 --tail-ratio 0.9"),
        ("ptt:worst-case", "ptt --worst-case"),
        ("ptt2:1.5", "ptt2 --eta 1.5"),
    ],
)
def test_an_old_spelling_makes_the_same_and_names_the_new_one(new, old, prior, optldp):
    now = optldp("design", "--prior", prior, "--epsilon", 1, "--public", "--json", "--method", new)
    before = optldp("design", "--prior", prior, "--epsilon", 1, "--public", "--json", "--method", *old.split())
    assert now.exit_code == before.exit_code == 0, now.output + before.output
    made, same = json.loads(now.stdout), json.loads(before.stdout)
    assert {**made, "seconds": 0} == {**same, "seconds": 0}
    (note,) = [line for line in before.stderr.splitlines() if "will go" in line]
    assert read_method(note.partition("will go: write --method ")[2]) == read_method(new)
    assert "will go" not in now.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("duchi:2", "--method duchi takes nothing beside, got '2': write duchi"),
        (
            "aaa,depth=2",
            "--method aaa takes intervals, window, tail-ratio, got 'depth': write aaa:intervals=8,window=12",
        ),
        ("ptt:foo=1", "--method ptt takes eta, worst-case, got 'foo': write ptt:eta=1.5"),
        ("aaa:window=x", "window of --method aaa must be a whole number, got 'x'"),
        ("ptt:worst-case=yes", "worst-case of --method ptt must be its key alone, got 'yes'"),
        ("aaa:4,intervals=5", "intervals of --method aaa must be told once, got 'aaa:4,intervals=5': leave one out"),
        ("aaa:4 --intervals 5", "intervals of --method aaa must be told once, got 'aaa:4,intervals=5': leave one out"),
    ],
)
def test_what_a_method_does_not_take_is_refused_in_a_line(words, said, prior, optldp):
    refused = optldp("design", "--prior", prior, "--epsilon", 1, "--method", *words.split())
    assert refused.exit_code == 2
    assert refused.stderr == f"optldp: error: {said}\n"


@pytest.mark.parametrize("command", ["design", "two-phase"])
def test_help_says_what_methods_are_told_and_hides_how_it_was_said_before(command, optldp):
    shown = optldp(command, "--help-all").stdout
    assert "".join(in_words().split()) in "".join(shown.split())
    assert not any(f"--{option}" in shown for option in ("intervals", "window", "tail-ratio", "worst-case", "eta"))


@pytest.mark.parametrize("at", ["nowhere:Thing", "lattice:Nothing"])
def test_an_entry_without_its_object_is_refused_by_its_name(at, monkeypatch):
    monkeypatch.setattr(options, "TOLD", {**TOLD, NEW: ToldMethod(at, TOLD["aaa"].options, f"{NEW}:4")})
    with pytest.raises(InputError, match=f"method {NEW!r} is known by name, and nothing here works by it"):
        told_method(f"{NEW}:4")


def test_reading_a_method_loads_none():
    program = (
        "import sys; from optldp.designer.methods.options import in_words, read_method\n"
        "in_words(); read_method('aaa:4'); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "numpy" not in loaded
