"""Nothing lost: an output onto a file that exists needs --force, said before the work; and what was written is said."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from optldp.designer.command_line import COMMANDS, app

from ..conftest import INCOME

RANGE = ("--range", 0, 100)

WRITERS = [
    (("design", "none.csv", "--column", "x", "--epsilon", 1), "--out", "old.json"),
    (("design", "none.csv", "--column", "x", "--categorical", "--epsilon", 1), "--out", "old.json"),
    (("design", "none.csv", "--column", "x", *RANGE, "--n", 9, "--epsilon", 1, "--trust", 2), "--plot", "old.png"),
    (("plan", "none.csv", "--column", "x", "--n", 9, "--epsilon", 1), "--out", "old.json"),
    (("plan", "none.csv", "--column", "x", "--categorical", "--n", 9, "--epsilon", 1), "--out", "old.json"),
    (("bounds", "none.csv", "--column", "x"), "--out", "old.html"),
    (("bounds", "none.csv", "--column", "x", "--categorical"), "--out", "old.html"),
    (("compare", "none.csv", "--column", "x", "--epsilon", 1), "--out", "old.csv"),
    (("show", "none.json"), "--plot", "old.png"),
    (("show", "none.json"), "--out", "old.html"),
    (("perturb", "none.json", "none.csv", "--column", "x"), "--out", "old.csv"),
    (("count", "none.json", "none.csv"), "--out", "old.csv"),
    (("count-sql", "none.json", "--from", "x"), "--cells", "old.csv"),
    (("adopt", "grr", "--categories", "none.csv", "--epsilon", 1), "--out", "old.json"),
    (("estimate", "none.json", "none.csv"), "--out", "old.csv"),
    (("estimate", "none.json", "none.csv"), "--plot", "old.png"),
    (("monitor", "none.json", "none"), "--plot", "old.png"),
]  # fmt: skip
"""Every way to write a file; inputs are missing, so that whoever looks at them first says so."""


@pytest.mark.parametrize(("words", "option", "place"), WRITERS, ids=lambda value: str(value[0]) if value else "")
def test_a_file_is_replaced_by_force_alone(refusal, words, option, place):
    """With it the first complaint is about the inputs, which are missing, and the file is as it was."""
    Path(place).write_text("old")
    expected = f"the output must not replace a file, got '{place}', which exists: --force replaces it"
    assert expected in refusal(*words, option, place)
    assert "none." in refusal(*words, option, place, "--force")


def test_every_command_that_writes_has_a_force_that_is_declared_once():
    """But for results, which are added to what is there."""
    group: Any = typer.main.get_command(app)
    writers, forces = set(), {}
    for name in COMMANDS:
        options = {opt: param for param in group.commands[name].params for opt in param.opts}
        if {"--out", "--plot"} & set(options) or (name == "count-sql"):
            writers.add(name)
        if "--force" in options:
            forces[name] = options["--force"].help
    assert writers == set(forces) == {words[0] for words, *_ in WRITERS}
    assert len(set(forces.values())) == 1


@pytest.mark.nightly
def test_what_was_written_is_said_with_json_too(optldp, table):
    """On stderr, so that stdout holds the result alone; a link to nowhere is a file as well."""
    Path("old.csv").symlink_to("nowhere")
    done = optldp("perturb", table, *INCOME, "--seed", 1, "--out", "old.csv", "--force", "--json")
    assert done.stderr == "optldp: wrote old.csv (300 reports)\n"
    assert json.loads(done.stdout)["out"] == "old.csv"
    assert optldp("estimate", table, "old.csv", "--plot", "p.svg").exit_code == 2
    done = optldp("estimate", table, "old.csv", "--of", "distribution", "--out", "d.csv", "--plot", "p.svg")
    assert [line.removeprefix("optldp: ") for line in done.stderr.splitlines()][:2] == [
        "wrote d.csv (5 rows)",
        "wrote p.svg (a figure)",
    ]
