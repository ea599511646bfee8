"""What a device keeps of one way over time and one user, so that nothing is drawn twice, and its mark."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any

STATE = "optldp-periods/1"
UNLIKE = "the state and its mark must be this user's of this way, as they were left, got others"


@dataclass
class Kept:
    """A state. Periods are from 1 on.

    Attributes
    ----------
    owner : str
        A digest of the way and the user: a state of another one is refused.
    number : int
        How often it was written.
    latest : int
        The last period that was asked for.
    lost : int
        Until this period another copy may have sent reports that this one does not hold.
    turns : list of int or None
        Where the device drew them.
    reports : dict of str to str
        What was sent, by period.
    draws : dict of str to str
        Of values that are remembered: each one's report by its place.
    offset : float or None
        Of rounding to knots, once it is drawn.
    last : int or None
        The place that was sent last.
    signs, sign : str or None
        Of "+" and "-": those that were drawn together at first, and the value's own when the last block ended.
    told : int
        How many of the signs are used.
    values : dict of str to float
        Of a history until its report is drawn: the value of each period.
    """

    owner: str
    format: str = STATE
    number: int = 0
    latest: int = 0
    lost: int = 0
    turns: list[int] | None = None
    reports: dict[str, str] = field(default_factory=dict)
    draws: dict[str, str] = field(default_factory=dict)
    offset: float | None = None
    last: int | None = None
    signs: str | None = None
    sign: str | None = None
    told: int = 0
    values: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, owner: str, text: str | None, mark: str | None) -> Kept:
        """Return what a text says, or nothing yet; what a copy that was further may have sent counts as spent."""
        try:
            kept = cls(owner) if text is None else cls(**_members(text, [each.name for each in fields(cls)]))
            kept._require(owner)
            number, latest = (0, 0) if mark is None else _members(mark, ["number", "latest"]).values()
            _need(_are_counts([number, latest]))
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise ValueError(UNLIKE) from None
        if number > kept.number:
            kept.number, kept.latest, kept.lost = number, max(kept.latest, latest), max(kept.lost, latest)
        return kept

    def _require(self, owner: str) -> None:
        _need((self.format, self.owner) == (STATE, owner))
        _need(_are_counts([self.number, self.latest, self.lost, self.told]))
        _need(self.turns is None or (isinstance(self.turns, list) and _are_counts(self.turns)))
        _need(self.last is None or str(self.last) in self.draws)
        _need(self.offset is None or (isinstance(self.offset, float) and 0 <= self.offset < 1))
        _need((self.signs is None) == (self.sign is None) and (self.signs is None or self.offset is not None))
        _need(set(self.signs or "") <= {"+", "-"} and self.sign in (None, "+", "-"))
        _need(all(period.isdecimal() and isinstance(value, float) for period, value in self.values.items()))
        for sent in (self.reports, self.draws):
            _need(all(place.isdecimal() and isinstance(report, str) for place, report in sent.items()))

    def text(self) -> str:
        """The state."""
        return json.dumps(asdict(self))

    def mark(self) -> str:
        """What stands apart, to tell of a copy that was further."""
        return json.dumps({"number": self.number, "latest": self.latest})


def _members(text: str, names: list[str]) -> dict[str, Any]:
    members = json.loads(text)
    _need(isinstance(members, dict) and sorted(members) == sorted(names))
    return {name: members[name] for name in names}


def _are_counts(values: list[Any]) -> bool:
    return all(type(value) is int and value >= 0 for value in values)


def _need(fits: bool) -> None:
    if not fits:
        raise ValueError
