"""`optldp estimate` for a way over time: one way, any number of files of its periods' reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ....estimators import count, estimate_frequencies, estimate_mean
from ....estimators.over_time import PeriodMeans, estimate_periods, joined
from ....estimators.reading.columns.rows.skipped_rows import SkippedRows
from ....mechanisms.errors import InputError
from ..handlers.bundle import MOST_ROWS
from ..handlers.kind import Found, Kind, Layout, Rows
from ..handlers.over_time import said_promise
from ..handlers.reading import column_in, read_laid_out
from ..output.output import readable, told_of_reports
from .linear import of_histories, require_rows

if TYPE_CHECKING:
    from ....estimators import Estimate
    from ..handlers.options import EstimateOptions

PERIOD = "period"

OF = ("each", "average", "change")

SHOWN = ("period", "value", "std_error", "low", "high", "reports")
"""Columns of a file, and of what people are shown."""

OF_WHOM = {
    "population": "of the population that these users are a random sample of",
    "users": "of these very users, of whom those who report in a period are a random sample",
}
"""What the target's intervals are of."""

TITLES = {
    "each": "mean of each period",
    "average": "average over the periods",
    "change": "change since the period before",
}

NOT_OVER_TIME = (
    "--counts", "--method", "--attribute", "--level-column", "--cells", "--between", "--above", "--prior", "--plot",
    "--winsorise", "--raw", "--alike", "--keep-first", "--allow-disjoint", "--rounds", "--versus", "--by", "--weights",
    "--simultaneous", "--top",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Read:
    """Reports of all files, in the order of the files, beside their periods and their users, if these are named."""

    reports: Any
    periods: np.ndarray
    users: np.ndarray | None
    beside: dict[str, np.ndarray]
    simulated: bool
    skipped: SkippedRows


def estimate_over_time(kinds: Sequence[Kind], files: Sequence[Sequence[Path]], asked: EstimateOptions) -> Found:
    """Return what files of the reports of each way tell of periods, of the average over them, or of their changes."""
    asked.refuse("of no use over time", *(name for name in NOT_OVER_TIME if name in asked.given()))
    of = asked.of or "each"
    if of not in OF:
        raise InputError(f"--of must be one of {', '.join(OF)} over time, got {of!r}")
    if not all(files):
        raise InputError("there must be reports of at least one period, got none: WAY REPORTS [REPORTS ...]")
    reads = [_checked_read(kind, mine, asked) for kind, mine in zip(kinds, files, strict=True)]
    kind, read = kinds[0], reads[0]
    if len(kinds) > 1:
        return _found(_of_several(kinds, reads, asked, of), kind, asked, of, read)
    way: Any = kind.mechanism
    found = of_histories(way, read.reports, read.beside | {PERIOD: read.periods}, of, asked.smooth, asked.target)
    if found is not None:
        return _found({"": found}, kind, asked, of, read)
    joint = way.most_reports > 1 and (of != "each" or asked.smooth is not None)
    if joint and read.users is None:
        raise InputError(
            f"users report {way.most_reports} times, and what they say in two periods hangs together: name their "
            "column by --key"
        )
    series = {
        label: _asked(estimate_periods(each, smooth=asked.smooth, covariance=spread if joint else None), of)
        for label, each, spread in _each(way, read, asked, joint)
    }
    return _found(series, kind, asked, of, read)


def _checked_read(kind: Kind, files: Sequence[Path], asked: EstimateOptions) -> _Read:
    read = _read(kind, files, asked)
    _require_turns(kind.mechanism, read)
    require_rows(kind.mechanism, read.periods, read.users, read.beside)
    return read


def _of_several(
    kinds: Sequence[Kind], reads: Sequence[_Read], asked: EstimateOptions, of: str
) -> dict[str, PeriodMeans]:
    """The series of several ways together: a period that is in several is weighed by how well each tells it."""
    parts: dict[str, list[PeriodMeans]] = {}
    together = of != "each" or asked.smooth is not None
    for kind, read in zip(kinds, reads, strict=True):
        way: Any = kind.mechanism
        if (
            of_histories(way, read.reports, read.beside | {PERIOD: read.periods}, of, asked.smooth, asked.target)
            is not None
        ):
            raise InputError(f"reports of {way.kind} are of whole histories: estimate them by themselves")
        joint = way.most_reports > 1 and together
        if joint and read.users is None:
            raise InputError("users report several times, and two reports of one hang together: name them by --key")
        for label, each, spread in _each(way, read, asked, joint):
            parts.setdefault(label, []).append(estimate_periods(each, covariance=spread if joint else None))
    if any(len(mine) < len(kinds) for mine in parts.values()):
        raise InputError("ways must be of numbers, or of the same categories, to be estimated together, got others")
    _require_apart(reads, together)
    series = {label: joined(mine) for label, mine in parts.items()}
    if asked.smooth is not None:
        series = {label: mine.smoothed(asked.smooth) for label, mine in series.items()}
    return {label: _asked(mine, of) for label, mine in series.items()}


def _require_apart(reads: Sequence[_Read], together: bool) -> None:
    """Refuse users in several ways where estimates are weighed together: their reports would hang together."""
    periods = [np.unique(read.periods) for read in reads]
    if not together and np.unique(np.concatenate(periods)).size == sum(map(len, periods)):
        return
    if any(read.users is None for read in reads):
        raise InputError("users of several ways must be different people, which --key shows: name their column")
    users = [np.unique(cast(np.ndarray, read.users).astype(str)) for read in reads]
    several = sum(map(len, users)) - np.unique(np.concatenate(users)).size
    if several:
        raise InputError(
            f"users of several ways must be different people, got {several} in several: ask --of each, of ways that "
            "share no period, or of one way at a time"
        )


def _each(
    way: Any, read: _Read, asked: EstimateOptions, joint: bool
) -> Iterator[tuple[str, dict[int, Estimate], np.ndarray | None]]:
    """Yield the estimates of all periods, once for numbers, for categories of each label, with their covariance."""
    one = way.mechanism
    times = np.unique(read.periods).tolist()
    few = [period for period in times if (read.periods == period).sum() < 2]
    if few:
        raise InputError(f"a period must have at least two reports, got one in period {few[0]}: leave its file out")
    counts = {period: count(one, read.reports[read.periods == period]) for period in times}
    if hasattr(one, "knots"):
        yield "", _numbers(way, estimate_mean, counts, asked, 0), _joint(read, read.reports) if joint else None
        return
    if joint:
        raise InputError("averages and changes of categories need one report a user, got a panel of several")
    for place, label in enumerate(one.categories.labels):
        yield label, _numbers(way, estimate_frequencies, counts, asked, place), None


def _numbers(
    way: Any, estimate: Callable[..., Any], counts: dict[int, Any], asked: EstimateOptions, place: int
) -> dict[int, Estimate]:
    """One number of the estimate of each period, with the standard error about whom the target names.

    Of these very users a share f reports in a period, at random: to the noise comes 1 - f of what a sample of a large
    population would add.
    """
    made = {}
    for period, mine in counts.items():
        found = estimate(mine, target=asked.target)
        value, error = float(np.ravel(found.value)[place]), float(np.ravel(found.std_error)[place])
        if asked.target == "users":
            whole = float(np.ravel(estimate(mine, target="population").std_error)[place])
            error = math.sqrt(error**2 + (1 - way.part(period)) * max(whole**2 - error**2, 0.0))
        made[period] = _Number(value, error, int(np.ravel(found.n)[0]), asked.target)
    return made


@dataclass(frozen=True)
class _Number:
    """One number of an estimate, perhaps of several: what `estimate_periods` asks."""

    value: float
    std_error: float
    n: int
    target: str


def _joint(read: _Read, numbers: np.ndarray) -> np.ndarray:
    """The covariance (K, K) of the averages of numbers by period, where users have several."""
    assert read.users is not None
    periods, place = np.unique(read.periods, return_inverse=True)
    many = np.bincount(place)
    apart = numbers - (np.bincount(place, weights=numbers) / many)[place]
    _, who = np.unique(read.users.astype(str), return_inverse=True)
    order = np.argsort(who, kind="stable")
    ends = np.flatnonzero(np.diff(who[order])) + 1
    found = np.zeros((periods.size, periods.size))
    for mine in np.split(order, ends):
        found[np.ix_(place[mine], place[mine])] += np.outer(apart[mine], apart[mine])
    free = np.sqrt(many / np.maximum(many - 1, 1))
    return found / np.outer(many, many) * np.outer(free, free)


def _asked(means: PeriodMeans, of: str) -> PeriodMeans:
    return {"each": lambda: means, "average": means.average, "change": means.changes}[of]()


def _found(series: dict[str, PeriodMeans], kind: Kind, asked: EstimateOptions, of: str, read: _Read) -> Found:
    """Return a row for each period, with a value or one for each category."""
    way: Any = kind.mechanism
    ends = {label: one.interval(asked.confidence) for label, one in series.items()}
    first = next(iter(series.values()))
    single = list(series) == [""]

    said = {"confidence": asked.confidence, "method": first.method, "target": asked.target}

    def of_period(place: int) -> dict[str, Any]:
        each = {
            "value": [float(one.value[place]) for one in series.values()],
            "std_error": [float(one.std_error[place]) for one in series.values()],
            "low": [float(end.low[place]) for end in ends.values()],
            "high": [float(end.high[place]) for end in ends.values()],
        }
        numbers = {name: values[0] for name, values in each.items()} if single else each
        reports = int(first.n[place])
        return {"period": int(first.periods[place]), **numbers, "reports": reports, "n": reports, **said}

    rows = [of_period(place) for place in range(first.periods.size)]
    facts = {
        "of": of,
        "way": way.kind,
        "n": int(read.periods.size),
        **said,
        "of_whom": OF_WHOM[asked.target],
        "smooth": asked.smooth,
        "promise": said_promise(way),
        **({} if single else {"categories": list(series)}),
        **told_of_reports(read.simulated, read.skipped),
    }
    columns = {name: [row[name] for row in rows] for name in SHOWN} if single else _long(series, rows)
    cells = [[readable(cell) for cell in row] for row in zip(*columns.values(), strict=True)]
    last = f"the last {MOST_ROWS} of {len(cells)}; all of them: --out FILE or --json"
    shown = Rows(TITLES[of], list(columns), cells[-MOST_ROWS:], last if len(cells) > MOST_ROWS else None)
    return Found("estimate over time", facts, {"periods": rows}, shown, columns)


def _long(series: dict[str, PeriodMeans], rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """A row for each period and category."""
    columns: dict[str, list[Any]] = {name: [] for name in ("period", "category", *SHOWN[1:])}
    for row in rows:
        for place, label in enumerate(series):
            told = [row["period"], label, *(row[name][place] for name in SHOWN[1:-1]), row["reports"]]
            for name, cell in zip(columns, told, strict=True):
                columns[name].append(cell)
    return columns


def _read(kind: Kind, files: Sequence[Path], asked: EstimateOptions) -> _Read:
    skipped, parts = SkippedRows(), []
    simulated = []
    told = [path for path in files if not _is_bare(path)]
    for path in told or files:  # a period in which nobody was in turn has a file of its header alone
        layout = _with_period(kind.layout(column_in(path, asked.column)[0], ""), kind.mechanism, asked.key)
        read = read_laid_out(
            layout, path, kind.identifier, drop_missing=asked.drop_missing, skip_invalid=asked.skip_invalid
        )
        parts.append(read.reports)
        simulated.append(read.simulated)
        skipped.note(read.skipped.count, [])
    if any(simulated) and not all(simulated):
        other = told[simulated.index(not simulated[0])]
        raise InputError(f"files must all be of a simulation or all in earnest, got {str(other)!r} unlike the first")
    reports, periods, users, beside = zip(*parts, strict=True)
    named = None if asked.key is None else np.concatenate(users)
    public = {name: np.concatenate([each[name] for each in beside]) for name in beside[0]}
    return _Read(np.concatenate(reports), np.concatenate(periods), named, public, simulated[0], skipped)


def _is_bare(path: Path) -> bool:
    """Whether a file of text has one line and no more; whoever reads it says what else is wrong with it."""
    if path.suffix.lower() != ".csv" or not path.is_file():
        return False
    with path.open("rb") as file:
        return bool(file.readline()) and not file.readline()


def _with_period(layout: Layout, way: Any, key: str | None) -> Layout:
    """The layout of one report with the columns after it of its period, of what is public of its user, and of its user
    by name, if that is asked for."""
    many, public = len(layout.columns), tuple(way.beside([]))

    def parse(cells: Sequence[np.ndarray]) -> tuple[Any, np.ndarray, np.ndarray | None, dict[str, np.ndarray]]:
        found = cells[many]
        if ((found != np.rint(found)) | (found < 1) | (found > way.periods)).any():
            raise InputError(f"periods must be whole numbers from 1 to {way.periods}, got others")
        beside = dict(zip(public, cells[many + 1 :], strict=False))
        return layout.parse(cells[:many]), found.astype(int), cells[-1] if key is not None else None, beside

    more = () if key is None else (key,)
    return replace(
        layout,
        columns=(*layout.columns, PERIOD, *public, *more),
        numeric=(*layout.numeric, True, *(True for _ in public), *(False for _ in more)),
        parse=parse,
        wrong=None,
        none="no report of this way in a period that it has",
    )


def _require_turns(way: Any, read: _Read) -> None:
    """Refuse users who reported twice in a period, or in one that was not their turn."""
    if read.users is None:
        return
    users = read.users.astype(str)
    names = np.char.add(np.char.add(users, "\0"), read.periods.astype(str))
    if np.unique(names).size < names.size:
        raise InputError("a user must report once in a period, got several reports: leave the others out")
    if not way.named_turns:
        return  # who was in turn, devices alone know
    others = ~way.in_turn(users.tolist(), read.periods)
    if others.any():
        raise InputError(
            f"users must report in their turns, got {int(others.sum())} reports in others, the first in period "
            f"{int(read.periods[int(np.argmax(others))])}: these are of another way, or forged"
        )
