"""A command line of the version before is read as one of today, whatever stands around the old option."""

import json

import pytest
from optldp.designer.command_line import COMMANDS, _loaded
from optldp.designer.commands.options.old_spellings import OLD, as_now
from optldp.mechanisms import InputError

ONE = "--objective", "--method", "--privacy", "--format", "--levels", "--leakage", "--outputs", "--column"
TAKES = {**dict.fromkeys(ONE, 1), "--json": 0}


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("--objective robust --ambiguity tv --radius=0.1", "--objective robust:ambiguity=tv,radius=0.1"),
        ("--trust 2 x.csv", "x.csv --objective error:2"),
        ("--trust-from a.csv b,c.csv", "--objective error:last=a.csv,before=b,c.csv"),
        ("--eta 2 --method=ptt --json", "--method ptt:eta=2 --json"),
        ("--delta 1e-6 -- --delta", "--privacy approximate:delta=1e-6 -- --delta"),
        ("--column --delta --per-unit", "--column --delta --privacy metric"),
        ("--decimal , --encoding latin-1", "--format csv:decimal=,,encoding=latin-1"),
        ("--level-shares 2,1 --leakage 0.1", "--leakage 0.1,shares=2,1"),
        ("--json --column income", "--json --column income"),
        ("--levels 1,2 --leakage 1 --outputs 0:9:5", "--levels 1,2 --leakage 1,outputs=0:9:5"),
        ("--outputs 0:9:0.5 --leakage 1", "--outputs 0:9:0.5 --leakage 1"),
    ],
)
def test_it_is_read_as_the_new_one_says_it(before, now):
    words, note = as_now(before.split(), TAKES)
    assert words == now.split()
    assert bool(note) == (before != now)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--radius 1", "--radius is for --objective robust: leave it out"),
        ("--delta 1e-6 --per-unit", "--per-unit is for --privacy metric: leave it out"),
        ("--level-shares 2,1", "--level-shares is of no use without --leakage: leave it out"),
        ("--eta 1 --method duchi", "--eta is for --method ptt or ptt2: leave it out"),
    ],
)
def test_what_it_cannot_tell_is_refused(words, says):
    with pytest.raises(InputError) as refused:
        as_now(words.split(), TAKES)
    assert str(refused.value) == says


@pytest.mark.parametrize(("old", "become"), [(old, each) for old in OLD for each in OLD[old]])
def test_every_old_option_tells_an_option_that_there_is_and_no_help_has_it(old, become, optldp):
    takes = {name: {option for each in _loaded(name).params for option in each.opts} for name in COMMANDS}
    new, beside = become.option, become.beside
    commands = [name for name, has in takes.items() if new in has and (old not in has or beside in has)]
    assert commands
    assert beside or f"{old} " not in optldp(commands[0], "--help-all").stdout


def test_an_error_stays_one_line_and_a_note_comes_last(optldp):
    words = ("design", "--range", 0, 10, "--epsilon", 1, "--knots", 5, "--delta")
    done = optldp(*words, 1e-6, "--json")
    assert json.loads(done.stdout)
    assert done.stderr.splitlines()[-1] == ("optldp: note: --delta will go: write --privacy approximate:delta=1e-06")
    refused = optldp(*words, 2)
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 1)
