"""Options of earlier versions: a command line that has one is read as one that has the new, which a note names.

They work for one version more. No command knows them, and help has none of them: an option that has gone is an entry
of `OLD`, and nothing else.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ....mechanisms.errors import InputError
from ....mechanisms.option_grammar import name_asked


class Old(NamedTuple):
    """What an old option has become.

    Attributes
    ----------
    option : str
        The new one.
    told : str
        What is added to its text, with {} for each value.
    names : tuple of str
        What the new one must ask for, () for anything.
    alone : str
        What the new one says where it is not given; "" where it must be.
    beside : str
        The option beside which it has its old meaning, where the command has another option of its name today.
    """

    option: str
    told: str
    names: tuple[str, ...] = ()
    alone: str = ""
    beside: str = ""

    @property
    def values(self) -> int:
        """How many values the old option takes."""
        return max(self.told.count("{}"), self.alone.count("{}"))


OLD: Mapping[str, tuple[Old, ...]] = {
    "--expected": (Old("--objective", "expected={}", ("trade-off",)),),
    "--worst": (Old("--objective", "worst={}", ("trade-off",)),),
    "--ambiguity": (Old("--objective", "ambiguity={}", ("robust",)),),
    "--radius": (Old("--objective", "radius={}", ("robust",)),),
    "--criterion": (Old("--objective", "criterion={}", ("information",)),),
    "--patterns": (Old("--objective", "patterns={}", ("information",)),),
    "--trust": (
        Old("--objective", "trust={}", ("error",), "error:{}"),
        Old("--method", "trust={}", ("bias-aware",), "bias-aware:trust={}"),
    ),
    "--trust-from": (Old("--objective", "last={},before={}", ("error",), "error:last={},before={}"),),
    "--intervals": (Old("--method", "intervals={}", ("aaa",)),),
    "--window": (Old("--method", "window={}", ("aaa",)),),
    "--tail-ratio": (Old("--method", "tail-ratio={}", ("aaa",)),),
    "--eta": (Old("--method", "eta={}", ("ptt", "ptt2")),),
    "--delta": (Old("--privacy", "delta={}", ("approximate",), "approximate:delta={}"),),
    "--per-unit": (Old("--privacy", "", ("metric",), "metric"),),
    "--gap": (Old("--knots", "gap={}", ("auto",), "auto:gap={}"),),
    "--level-method": (Old("--level-epsilon", "method={}"),),
    "--level-shares": (Old("--leakage", "shares={}"),),
    "--outputs": (Old("--leakage", "outputs={}", beside="--levels"),),
    "--delimiter": (Old("--format", "delimiter={}", ("csv",), "csv:delimiter={}"),),
    "--decimal": (Old("--format", "decimal={}", ("csv",), "csv:decimal={}"),),
    "--encoding": (Old("--format", "encoding={}", ("csv",), "csv:encoding={}"),),
    "--stop": (Old("--method", "stop={}", ("em", "ule")),),
    "--threshold": (Old("--method", "threshold={}", ("mr", "base-cut")),),
    "--least-components": (Old("--method", "least-components={}", ("mr",)),),
    "--prune": (Old("--method", "prune", ("mr",)),),
    "--preselect": (Old("--method", "preselect={}", ("mr",)),),
    "--quantile": (Old("--of", "{}", ("quantiles",)),),
    "--round": (Old("--period", "", alone="{}"),),
    "--worst-case": (Old("--method", "worst-case", ("ptt", "ptt2")),),
}
"""What each has become: the first whose option a command has that has, but for what stands beside it, not the old."""


class Given(NamedTuple):
    """An option on a command line, with its values; or an argument, whose option is ""."""

    option: str
    values: tuple[str, ...]


def as_now(words: Sequence[str], takes: Mapping[str, int], several: Sequence[str] = ()) -> tuple[list[str], str]:
    """Return a command line in today's options, and the note on those that will go, "" for none.

    Parameters
    ----------
    words : sequence of str
    takes : mapping of str to int
        How many values each option of the command takes.
    several : sequence of str
        Those that may be repeated.

    Raises
    ------
    InputError
        An old option without the new one that it tells something, or of something else than is asked for.

    Example
    -------
    >>> as_now(["a.csv", "--objective", "robust", "--radius", "0.1"], {"--objective": 1})
    (['a.csv', '--objective', 'robust:radius=0.1'], 'note: --radius will go: write --objective robust:radius=0.1')
    """
    old = {
        name: each
        for name, become in OLD.items()
        for each in [each for each in become if each.option in takes][:1]
        if name not in takes or any(each.beside == word.partition("=")[0] for word in words)
    }
    found = list(_given(words, {**takes, **{name: each.values for name, each in old.items()}}))
    now = [each for each in found if each.option not in old]
    changed: dict[int, None] = {}
    gone = [each for each in found if each.option in old]
    for each in gone:
        changed[_tell(now, each, old[each.option], old[each.option].option in several)] = None
    if not gone:
        return list(words), ""
    names = " and ".join(dict.fromkeys(each.option for each in gone))
    instead = " ".join(shlex.join([now[at].option, *now[at].values]) for at in changed)
    line = [word for each in now for word in (*([each.option] if each.option else ()), *each.values)]
    return line, f"note: {names} will go: write {instead}"


def _tell(now: list[Given], given: Given, old: Old, several: bool) -> int:
    """Tell the new option what an old one says, and return its place; it comes last where it was not given."""
    places = [at for at, each in enumerate(now) if each.option == old.option]
    for at in places if old.told else ():
        text = now[at].values[0]
        if not old.names or name_asked(text) in old.names:
            mark = ":" if old.names and text == name_asked(text) else ","
            now[at] = Given(old.option, (text + mark + old.told.format(*given.values),))
            return at
    if not old.alone or (places and not several):
        wanted = f"for {old.option} {' or '.join(old.names)}" if old.names else f"of no use without {old.option}"
        raise InputError(f"{given.option} is {wanted}: leave it out")
    end = next((at for at, each in enumerate(now) if each.option == "--"), len(now))
    now.insert(end, Given(old.option, (old.alone.format(*given.values),)))
    return end


def _given(words: Sequence[str], takes: Mapping[str, int]) -> Iterator[Given]:
    """Yield the options of a command line with their values, and its arguments."""
    at = 0
    while at < len(words):
        name, equals, value = words[at].partition("=")
        at += 1
        if name == "--":
            yield Given("--", tuple(words[at:]))
            return
        if name not in takes or (equals and not takes[name]):
            yield Given("", (words[at - 1],))
            continue
        many = takes[name] - bool(equals)
        if at + many > len(words):
            yield Given("", tuple(words[at - 1 :]))  # what it lacks is said where options are read
            return
        yield Given(name, (*([value] if equals else []), *words[at : at + many]))
        at += many
