"""What checks are given: a mechanism, its file, values of people, and a command line in a folder of its own."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optldp.designer.command_line import app
from optldp.mechanisms import InputError
from typer.testing import CliRunner

from ..small_channels import columns


@dataclass(frozen=True)
class Case:
    """A mechanism, a table or a bundle, under the name that it has in `SMALL`; its file is table.json, and values stand
    in people.csv. The working folder is the test's own.
    """

    name: str
    mechanism: Any

    @property
    def columns(self) -> tuple[str, ...]:
        """The options that name the columns of people.csv that it perturbs."""
        return columns(self.name)

    @property
    def value(self) -> Any:
        """A value of one user, as a ledger takes it."""
        if "attributes" in self.name or self.name == "features":
            return {"pay": 15.0, "more": 30.0}
        if "directions" in self.name:
            return {"1": 15.0, "2": 15.0, "3": 30.0}
        if "pairs" in self.name:
            return {"cook": 15.0}
        if self.name == "cells":
            return "job=cook&budget=1"
        if self.name == "places":
            return (15.0, 30.0)
        return "cook" if "job" in self.columns else 15.0

    def run(self, *words: object) -> Any:
        """Run a command with --json and return what it answers; InputError if it refuses, in one line."""
        done = CliRunner().invoke(app, [*map(str, words), "--json"], catch_exceptions=False)
        if done.exit_code == 0:
            return json.loads(done.stdout)
        assert done.exit_code == 2, done.output
        assert done.stdout == ""
        last = done.stderr.splitlines()[-1]
        assert last.startswith("optldp: error: "), done.stderr
        raise InputError(last)

    def perturb(self, seed: int, out: str, *more: object) -> Path:
        """Write the reports of people.csv."""
        self.run("perturb", "table.json", "people.csv", *self.columns, "--seed", seed, "--out", out, *more)
        return Path(out)

    def reports(self, seed: int = 1) -> tuple[str, list[str]]:
        """Return the header and the rows of a file of reports."""
        header, *rows = self.perturb(seed, f"reports {seed}.csv", "--force").read_text().splitlines()
        return header, rows


def write(name: str, header: str, rows: Sequence[str]) -> str:
    """Write a file of reports."""
    Path(name).write_text("\n".join([header, *rows]) + "\n")
    return name
