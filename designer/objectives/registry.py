"""The objectives that have names, as plain data: nothing is imported until one is made.

A new one is a file with its `Objective` and an entry of `OBJECTIVES`; commands, their help and their refusals follow.
How an objective is asked for, `mechanisms/option_grammar.py` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ...mechanisms.errors import InputError
from ...mechanisms.option_grammar import Option, as_asked, asked_for, entry_of
from ...mechanisms.registered import registered

if TYPE_CHECKING:
    from .base import Objective


class NamedObjective(NamedTuple):
    """An objective, as data.

    Attributes
    ----------
    at : str
        "module:class" in `optldp.designer.objectives`; `Objective` has the contract.
    label : str
        What a design by it is called in refusals.
    says : str
        What is wanted, for help.
    example : str
        How it is asked for.
    options : tuple of Option
    uses : tuple of str
        Options of `optldp design` that it has a use for, beside those of all.
    figure : tuple of str
        What --plot draws: "module:function" in `optldp.designer` of what is found by a design, and of its figure.
    """

    at: str
    label: str
    says: str
    example: str
    options: tuple[Option, ...] = ()
    uses: tuple[str, ...] = ()
    figure: tuple[str, ...] = ()


OBJECTIVES: Mapping[str, NamedObjective] = {
    "expected": NamedObjective(
        "variance:Variance",
        "one table of numbers",
        "the least expected variance",
        "expected",
        uses=(
            "--method", "--uniform-share", "--knots auto", "--form", "--omit-prior", "--outputs",
        ),
    ),
    "minimax": NamedObjective(
        "worst_case:WorstCase", "a minimax table", "the least worst case", "minimax",
        uses=("--knots auto", "--form", "--outputs"),
    ),
    "trade-off": NamedObjective(
        "worst_case:TradeOff",
        "a trade-off table",
        "something between the two",
        "trade-off:0.3",
        (
            Option("worst", float, "the worst case's weight, in (0, 1]"),
            Option("expected", float, "the expected variance's", "1 - worst"),
        ),
        ("--form", "--omit-prior", "--outputs"),
    ),
    "robust": NamedObjective(
        "guarantee:Guarantee",
        "a robust table",
        "the least expected variance under the worst prior near this one",
        "robust:tv,radius=0.1",
        (
            Option("ambiguity", str, "the distance of the priors: relative, tv or wasserstein"),
            Option("radius", float, "how far off the prior may be", unit="of wasserstein in units of the data"),
        ),
        ("--form", "--omit-prior", "--assume"),
    ),
    "information": NamedObjective(
        "information:Information",
        "an information-optimal table",
        "the most information",
        "information:cumulative",
        (
            Option("criterion", str, "mutual-information, fisher or cumulative", "mutual-information"),
            Option("patterns", str, "values that a report may favour, interval or any", "interval"),
        ),
        ("--uniform-share", "--omit-prior"),
    ),
    "error": NamedObjective(
        "error:Error",
        "a table for the error of a mean",
        "the least error of the mean of --n users, bias allowed",
        "error:2",
        (
            Option("trust", float, "the factor by which the prior may be off", 3),
            Option("last", Path, "a file with the column's values of last year, to measure it"),
            Option("before", Path, "that of the year before"),
        ),
        ("--uniform-share", "--omit-prior", "--plot", "--assume", "--assume-from"),
        ("designs.clips:clip_curve", "plots:clip_errors"),
    ),
    "workload": NamedObjective(
        "questions.workload:Workload",
        "a table for a workload",
        "the least sum of errors of linear queries of the distribution",
        "workload:prefix",
        (Option("queries", Path, "prefix, ranges, moments, or a file of numbers, queries x values", "prefix"),),
        ("--workload", "--privacy", "--omit-prior"),
    ),
    "quantile": NamedObjective(
        "questions.quantile:Quantile",
        "a table for a quantile",
        "the least variance of a quantile of --n users",
        "quantile:0.9",
        (
            Option("share", float, "the values below it", 0.5),
            Option("off", float, "by how much the prior's share below it may be off", 0.05),
            Option("within", str, "where it is expected, LO:HI, instead of off"),
        ),
        ("--privacy", "--omit-prior"),
    ),
    "share": NamedObjective(
        "questions.share:Share",
        "a table for a share",
        "the shortest interval of the share above a threshold, by --n people",
        "share:0.5",
        (Option("above", float, "the threshold"),),
        ("--uniform-share", "--omit-prior"),
    ),
    "cdf": NamedObjective(
        "questions.cdf:Cdf",
        "a table for the distribution function",
        "the shortest intervals of the distribution function, by --n people",
        "cdf:0.3",
        (
            Option("mean", float, "the weight of the mean's interval beside them", 0),
            Option("largest", bool, "the largest length counts"),
            Option("by", str, "cuts even, or by the prior", "even"),
            Option("cuts", int, "how many", 41),
        ),
        ("--uniform-share", "--omit-prior"),
    ),
}  # fmt: skip
"""What the command line calls them, each with what it may be told, the first without its key."""

ON_OUTPUTS: Mapping[str, NamedObjective] = {
    "loss": NamedObjective(
        "losses.loss:Loss",
        "a table for a loss",
        "the least loss of one report",
        "--loss absolute --biased --outputs 0:1:0.025",
        uses=("--loss", "--biased", "--outputs", "--circle", "--privacy", "--uniform-share", "--omit-prior"),
    ),
}
"""Those of which a design must be told the outputs, by options of their own: comparisons and bounds have none."""


def in_words() -> str:
    """Return for help what there is, and what each may be told.

    Example
    -------
    >>> in_words().split(" trade-off is ")[0][-32:]
    'minimax is the least worst case.'
    """
    *names, last = OBJECTIVES
    example = OBJECTIVES["robust"].example
    first = f"{', '.join(names)} or {last}. Some take settings, such as {example}; the first needs no key."
    each = (
        f"{name} is {entry.says}{': ' * bool(entry.options)}{', '.join(map(_told, entry.options))}."
        for name, entry in OBJECTIVES.items()
    )
    return " ".join([first, *each])


def _told(option: Option) -> str:
    default = "" if option.default is None else f"; default {option.default}"
    return f"{option.name} ({option.help}{f', {option.unit}' if option.unit else ''}{default})"


class Asker(Protocol):
    """What a command knows that an objective may need beside its own options."""

    @property
    def users(self) -> int | None:
        """Who will report."""

    def trust_of(self, last: Path, before: Path) -> float:
        """Return the factor between two years' files of the values."""
        ...


@dataclass(frozen=True)
class AskedObjective:
    """An objective as it was asked for: its name, and what it was told.

    Example
    -------
    >>> AskedObjective.read("robust:tv,radius=0.2")
    AskedObjective(name='robust', told={'ambiguity': 'tv', 'radius': 0.2})
    >>> print(AskedObjective("information", {"patterns": "any"}))
    information,patterns=any
    """

    name: str
    told: Mapping[str, Any]

    @classmethod
    def read(cls, text: str) -> AskedObjective:
        """Return what a text asks for; InputError for a name, a key or a value that there is not."""
        return cls(*asked_for(text, OBJECTIVES, "--objective"))

    def __str__(self) -> str:
        return as_asked(self.name, self.told, named(self.name).options)

    def made(self, asker: Asker) -> Objective:
        """Return the objective; InputError for what it lacks, and where it is a name that nothing works by."""
        kind = registered("optldp.designer.objectives", named(self.name).at, "objective", self.name)
        if lacking := sorted(getattr(kind, "__abstractmethods__", ())):
            raise InputError(
                f"objective {self.name!r} must have {', '.join(lacking)}, which {kind.__name__} lacks: add it there"
            )
        return kind.of_options(self.told, asker)


def named(name: str) -> NamedObjective:
    """Return the entry of a name; InputError for one that there is not."""
    return ON_OUTPUTS.get(name) or entry_of(name, OBJECTIVES, "--objective")
