"""Questions as commands are asked them, --of: which objective each one is answered best by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ....mechanisms.errors import InputError
from ....mechanisms.option_grammar import Option, Taken, asked_for
from ..base import Objective
from ..registry import OBJECTIVES, AskedObjective

BOTH = 0.7
"""Weight of the mean beside the distribution function for whoever wants both: of .1, .3, .5, .7 and .9 the one by which
the larger of the two costs is least, 13 and 7% at epsilon 1 and 4, on one column of 41 knots, judged where it was
designed. `benchmarks/objectives/questions.py --weights` measures it on two halves."""

QUESTIONS: Mapping[str, Taken] = {
    "mean": Taken("mean"),
    "difference": Taken("difference"),
    "median": Taken("median:within=10:30", (Option("within", str, "where it is expected, LO:HI"),)),
    "share": Taken("share:above=20", (Option("above", float, "the threshold"),)),
    "cdf": Taken("cdf:mean=0.3", OBJECTIVES["cdf"].options),
}
"""What may be asked, and what it may be told."""

OF_MEANS = ("mean", "difference")
"""Questions that the usual objective answers."""


def question_asked(text: str) -> AskedObjective:
    """Return the objective that answers a question best; of "mean,cdf" one for both.

    Raises
    ------
    InputError
        A question that there is not, or what it cannot be told.

    Example
    -------
    >>> [str(question_asked(text)) for text in ("median", "share:above=20", "mean,cdf", "difference")]
    ['quantile:0.5', 'share:20', 'cdf:0.7', 'expected']
    """
    if sorted(text.split(",")) == ["cdf", "mean"]:
        return AskedObjective("cdf", {"mean": BOTH})
    name, told = asked_for(text, QUESTIONS, "--of")
    if name in OF_MEANS:
        return AskedObjective("expected", {})
    return AskedObjective("quantile", {"share": 0.5, **told}) if name == "median" else AskedObjective(name, told)


@dataclass(frozen=True)
class _People:
    """Who is asked a question, and nothing beside."""

    users: int

    def trust_of(self, last: Path, before: Path) -> float:
        raise InputError(f"a question trusts no earlier years, got {str(last)!r} and {str(before)!r}: leave them out")


def objective_of(text: str, n: int) -> Objective:
    """Return the objective that answers a question of n people best.

    Raises
    ------
    InputError
        A question that there is not, or what it cannot be told.

    Example
    -------
    >>> objective_of("share:above=20", 1000).asks
    'the share above 20'
    """
    return question_asked(text).made(_People(n))
