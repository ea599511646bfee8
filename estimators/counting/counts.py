"""Sufficient counts: how many users reported which outputs to which services.

All that an estimator may use of the reports is how often each combination of outputs was seen, because the
tables give all users with the same outputs the same likelihood.  So reports are counted once, and nothing that
follows costs more for more users.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.compact_tables.floor_and_windows import FloorForm, table_of
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Profile, Told
from ...mechanisms.errors import InputError
from ...mechanisms.table.table import TabulatedMechanism
from ...mechanisms.units import units_label
from ..reading.columns.rows.skipped_rows import SkippedRows
from ..reading.columns.table_column import named_tables
from .drawn_outputs import answered_outputs
from .group import NOT_REPORTED, ReportGroup, groups_of, require_positions
from .reported_numbers import ReportedNumbers
from .reported_sums import ReportedSums
from .user_numbers import counts_of_rows, total_users

LARGEST_CODE = 2**62
"""Combinations of outputs are numbered by one 64-bit integer as long as there are at most so many."""


@dataclass(frozen=True, eq=False)
class Service:
    """One collector: its name, for messages, and the table that its reports were made with.

    Parameters
    ----------
    name : str
        Of one service, unlike all others.
    mechanism : TabulatedMechanism

    Example
    -------
    >>> from optldp.estimators import Service
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> service = Service("app", duchi([0.0, 60.0], 1.0))
    >>> service.name, service.mechanism.domain
    ('app', (0.0, 60.0))
    """

    name: str
    mechanism: TabulatedMechanism


@dataclass(frozen=True, eq=False, repr=False)
class ReportCounts(Shown):
    """Reports of several services, reduced to sufficient statistics of their tables.

    Counts of shards with different users add up: ``a + b`` is the counts of the union.

    Parameters
    ----------
    services : tuple of Service
        At least one, of different names, whose tables share domain and units.
    groups : tuple of ReportGroup
        One for each set of services to which some user reported, ordered by that set. Sums of raw reports stand in
        them; they are kept by `only` and ``a + b``, and neither saved nor split.
    numbers : ReportedNumbers, optional
        Of one service whose outputs are intervals, the reports themselves, counted; see `estimate_mean`. Neither saved
        nor split.
    rounds : bool
        Whether the services are files of different times, instead of measurements of one value. A user may have another
        value, or the same report again, in each.

    Raises
    ------
    InputError
        No services, two of the same name, tables of different domains or units, unknown services, outputs that do not
        exist or that no input gives, too many users, or numbers of other reports.

    Example
    -------
    >>> from optldp.estimators import ReportCounts, Service
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> services = [Service("a", duchi([-1.0, 1.0], 1.0)), Service("b", duchi([-1.0, 1.0], 2.0))]
    >>> counts = ReportCounts.from_outputs(services, [[0, 1], [0, 1], [1, -1]])
    >>> counts.n_users, [(group.services, group.counts.tolist()) for group in counts.groups]
    (3, [((0,), [1]), ((0, 1), [2])])
    """

    services: tuple[Service, ...]
    groups: tuple[ReportGroup, ...]
    numbers: ReportedNumbers | None = None
    rounds: bool = False

    def __post_init__(self) -> None:
        if not self.services:
            raise InputError("there must be at least one service, got none")
        names = [service.name for service in self.services]
        if len(set(names)) < len(names):
            raise InputError(f"services must have different names, got {names}")
        first = self.services[0]
        for other in self.services[1:]:
            _require_same(first, other, "domain", first.mechanism.domain, other.mechanism.domain)
            _require_same(first, other, "units", first.mechanism.units, other.mechanism.units)
        require_sets([group.services for group in self.groups], len(self.services))
        for group in self.groups:
            for j, largest in zip(group.services, group.outputs.max(axis=0).tolist(), strict=True):
                require_outputs(self.services[j], largest)
            _require_possible(self.services, group)
        users = total_users(group.n_users for group in self.groups)
        if self.numbers is not None and (len(self.services) > 1 or self.numbers.total != users):
            raise InputError(f"reported numbers must be those of {users:,} users of one service, got others")

    @classmethod
    def from_outputs(cls, services: Sequence[Service], outputs: ArrayLike, users: np.ndarray | None = None) -> Self:
        """Count users from their outputs.

        Parameters
        ----------
        services : sequence of Service
            J of them.
        outputs : (N, J) array_like of int
            Output of each user's report to each service, -1 where there is none; users without any report are
            left out.
        users : (N,) ndarray of int, optional
            How many users have each row; one by default.

        Raises
        ------
        InputError
            Another shape, numbers that are no integers, or outputs that a table does not have.
        """
        matrix = np.asarray(outputs)
        if matrix.ndim != 2 or matrix.shape[1] != len(services) or not np.issubdtype(matrix.dtype, np.integer):
            raise InputError(
                f"outputs must be integers, one column for each of {len(services)} services, "
                f"got shape {matrix.shape} of {matrix.dtype}"
            )
        for service, column in zip(services, matrix.T, strict=True):
            size = service.mechanism.low.size
            if column.size and not (column.min() >= NOT_REPORTED and column.max() < size):
                raise InputError(f"outputs of service {service.name!r} must lie in 0..{size - 1} or be -1")
        often = np.ones(len(matrix), dtype=np.int64) if users is None else counts_of_rows(users, len(matrix))
        return cls(tuple(services), _grouped(tuple(services), matrix, often))

    @classmethod
    def from_reports(cls, mechanism: TabulatedMechanism, reports: ArrayLike, *, name: str = "reports") -> Self:
        """Count the reports of one service; raises InputError for reports that its table cannot make."""
        counts = cls.from_outputs([Service(name, mechanism)], mechanism.output_index(reports)[:, None])
        points = mechanism.low == mechanism.high
        return counts if points.all() else replace(counts, numbers=ReportedNumbers.of(reports))

    @classmethod
    def from_counts(
        cls,
        services: TabulatedMechanism | FloorForm | Sequence[Service],
        rows: Any,
        *,
        skip_invalid: bool | SkippedRows = False,
        rounds: bool = False,
    ) -> Self:
        """Take over what another engine has counted: rows of outputs and of how many users reported them.

        Rows of equal outputs are added up. `optldp count-sql` prints the query that such rows are the answer of.

        Parameters
        ----------
        services : TabulatedMechanism, FloorForm or sequence of Service
            One table, or J services.
        rows : path or table in memory
            A `.csv` or `.parquet` path, a data frame, an Arrow table, or numpy arrays by column name. The column n has
            the numbers of users. One table's outputs, numbered from 0, stand in the column output; those of several
            services in columns by the services' names, empty where there is no report, or as codes of all services in
            output (output_2, ... beyond 63 bits), as that query gives them.
        skip_invalid : bool or SkippedRows
            Leave out, and count, users whose reports are none, instead of refusing them; see `count`.
        rounds : bool
            Whether the services are files of different times; see `count`.

        Raises
        ------
        InputError
            One line each: columns that are not there; numbers of users that are negative, fractional, missing or too
            large; outputs that are missing or none of the table's, or of another table where rows name one; users with
            several reports to a service.

        Example
        -------
        >>> import numpy as np
        >>> from optldp.estimators import ReportCounts
        >>> from optldp.mechanisms.families.duchi import duchi
        >>> rows = {"output": np.array([1, 0]), "n": np.array([6, 4])}
        >>> ReportCounts.from_counts(duchi([0.0, 1.0], 1.0), rows).groups[0].counts
        array([4, 6])
        """
        several = isinstance(services, list | tuple)
        asked = tuple(services) if several else (Service("reports", table_of(services, "services, if no list,")),)
        if not asked or not all(isinstance(each, Service) for each in asked):
            raise InputError(f"services must be a list of Service, at least one, got {services!r:.60}")
        account, skip = SkippedRows.of(skip_invalid)
        able = [(service.name, service.mechanism.possible) for service in asked]
        made = partial(named_tables, [service.mechanism for service in asked])
        matrix, users = answered_outputs(able, rows, made, account if skip else None)
        account.tell(skip_invalid)
        return replace(cls.from_outputs(asked, matrix, users), rounds=rounds)

    def _line(self) -> dict[str, Any]:
        return {
            "n": self.n_users,
            "rounds" if self.rounds else "services": ", ".join(service.name for service in self.services),
            "outputs": sum(mechanism.low.size for mechanism in self.mechanisms),
        }

    def _told(self) -> Told:
        columns = self._columns()
        ends = np.stack([columns["low"], columns["high"]])
        ends = np.where(np.isfinite(ends), ends, ends[::-1])  # of a tail its finite end
        across = units_label("report", self.mechanisms[0].units)
        return Told(self._line(), picture=Profile(0.5 * ends[0] + 0.5 * ends[1], columns["n"], across, "users"))

    def _columns(self) -> dict[str, Any]:
        tables, sizes = self.mechanisms, [mechanism.low.size for mechanism in self.mechanisms]
        return {
            "service": np.repeat(np.array([service.name for service in self.services], dtype=object), sizes),
            "output": np.concatenate([np.arange(size) for size in sizes]),
            "low": np.concatenate([table.low for table in tables]),
            "high": np.concatenate([table.high for table in tables]),
            "n": np.concatenate([self.reports_of(number) for number in range(len(tables))]),
        }

    @property
    def n_users(self) -> int:
        """Number of users with at least one report."""
        return sum(group.n_users for group in self.groups)

    @property
    def mechanisms(self) -> tuple[TabulatedMechanism, ...]:
        """The services' tables."""
        return tuple(service.mechanism for service in self.services)

    def reports_of(self, service: int) -> np.ndarray:
        """Return how often (m,) each output of one service was reported, whatever else its users reported."""
        total = np.zeros(self.services[service].mechanism.low.size, dtype=np.int64)
        for group in self.groups:
            if service in group.services:
                np.add.at(total, group.outputs[:, group.services.index(service)], group.counts)
        return total

    def require_reports(self) -> None:
        """Raise InputError if there is a service that nobody reported to."""
        reported = {service for group in self.groups for service in group.services}
        if silent := [service.name for j, service in enumerate(self.services) if j not in reported]:
            raise InputError(f"every service must have reports, got none for {silent[0]!r}: leave it out")

    def require_one_time(self, what: str) -> None:
        """Raise InputError for files of different times: `what` takes a user's reports for measurements of one value.

        Example
        -------
        >>> from optldp.estimators import ReportCounts
        >>> from optldp.mechanisms.families.duchi import duchi
        >>> ReportCounts.from_reports(duchi([0, 1], 1.0), []).require_one_time("a bias-aware mean")
        """
        if self.rounds:
            raise InputError(
                f"{what} is of one time, got rounds of {len(self.services)}: estimate each by itself, or take the "
                "plain mean or the distribution of all"
            )

    def only(self, services: Sequence[int]) -> ReportCounts:
        """Return the counts as if only these services, by position, had been reported to."""
        if not all(0 <= j < len(self.services) for j in services):
            raise InputError(f"services must be positions in 0..{len(self.services) - 1}, got {list(services)}")
        kept = tuple(self.services[j] for j in services)
        groups = _regrouped(kept, [self], [{j: i for i, j in enumerate(services)}])
        return ReportCounts(kept, groups, self.numbers, self.rounds)

    def split(self, shares: Sequence[float], rng: np.random.Generator) -> tuple[ReportCounts, ...]:
        """Deal the users out at random: every user goes to part f with probability ``shares[f]``.

        Needs no list of users, since users with equal reports are exchangeable: each count is split by a
        multinomial draw.  The shares need not add up to one; InputError for negative ones, or none above zero.
        """
        parts = np.asarray(shares, dtype=np.float64)
        if parts.ndim != 1 or not ((parts >= 0).all() and 0 < parts.sum() < np.inf):
            raise InputError(f"shares must be non-negative numbers with a positive sum, got {shares!r}")
        dealt = [rng.multinomial(group.counts, parts / parts.sum()) for group in self.groups]
        return tuple(
            ReportCounts(self.services, tuple(self._part(drawn[:, part] for drawn in dealt)), rounds=self.rounds)
            for part in range(len(shares))
        )

    def _part(self, columns):
        for group, counts in zip(self.groups, columns, strict=True):
            if (seen := counts > 0).any():
                yield ReportGroup(group.services, group.outputs[seen], counts[seen])

    def __add__(self, other: ReportCounts) -> ReportCounts:
        """Return the counts of the union of two sets of users without a user in common."""
        if not isinstance(other, ReportCounts):
            return NotImplemented
        mine, theirs = ([service.name for service in counts.services] for counts in (self, other))
        if mine != theirs or not all(map(same_table, self.mechanisms, other.mechanisms)):
            raise InputError(f"counts can be added for the same services and tables only, got {mine} and {theirs}")
        if self.rounds != other.rounds:
            raise InputError("counts can be added where both are of rounds or neither is, got one of them: count anew")
        same = {j: j for j in range(len(mine))}
        together = None if self.numbers is None or other.numbers is None else self.numbers + other.numbers
        return ReportCounts(
            self.services, _regrouped(self.services, [self, other], [same, same]), together, self.rounds
        )


def require_sets(sets: Sequence[tuple[int, ...]], n_services: int) -> None:
    """Raise InputError unless sets of services are different, in increasing order, and of services that there are.

    Example
    -------
    >>> require_sets([(0,), (0, 1)], 2)
    """
    for services in sets:
        require_positions(services)
        if services[-1] >= n_services:
            raise InputError(f"a group's services must be among {n_services}, got {services}")
    if any(a >= b for a, b in pairwise(sets)):
        raise InputError(f"groups must be of different sets of services, in increasing order, got {sets}")


def require_outputs(service: Service, largest: int) -> None:
    """Raise InputError if a service's table has no output of that number."""
    size = service.mechanism.low.size
    if largest >= size:
        raise InputError(f"outputs of service {service.name!r} must lie in 0..{size - 1}, got {largest}")


def _require_possible(services: Sequence[Service], group: ReportGroup) -> None:
    """Raise InputError for reports with an output that has probability zero under every input."""
    for j, outputs in zip(group.services, group.outputs.T, strict=True):
        never = ~services[j].mechanism.possible[outputs]
        if never.any():
            raise InputError(
                f"service {services[j].name!r} must have reports that its table can make, got "
                f"{group.counts[never].sum()} with an output of probability zero, the first output "
                f"{outputs[np.argmax(never)]}: use the table that made them"
            )


def _require_same(first: Service, other: Service, what: str, left: object, right: object) -> None:
    if left != right:
        raise InputError(
            f"services must measure the same thing, got {what} {left!r} for {first.name!r} "
            f"but {right!r} for {other.name!r}"
        )


def same_table(left: TabulatedMechanism, right: TabulatedMechanism) -> bool:
    """Whether two tables give the same outputs with the same probabilities.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> same_table(duchi([0, 1], 1.0), duchi([0, 1], 1.0)), same_table(duchi([0, 1], 1.0), duchi([0, 1], 2.0))
    (True, False)
    """
    fields = ("knots", "low", "high", "probabilities")
    return left is right or all(np.array_equal(getattr(left, name), getattr(right, name)) for name in fields)


def _regrouped(
    services: tuple[Service, ...], many: Sequence[ReportCounts], places: Sequence[dict[int, int]]
) -> tuple[ReportGroup, ...]:
    """Groups of several counts together, each one's services at new places or nowhere."""
    rows, weights, sums = [], [], []
    for counts, place in zip(many, places, strict=True):
        for group in counts.groups:
            columns = [place.get(service) for service in group.services]
            matrix = np.full((len(group.counts), len(services)), NOT_REPORTED, dtype=np.int32)
            for outputs, column in zip(group.outputs.T, columns, strict=True):
                if column is not None:
                    matrix[:, column] = outputs
            rows.append(matrix)
            weights.append(group.counts)
            sums.append(None if group.sums is None else group.sums.placed(columns, len(services)))
    if not rows:
        return ()
    kept = [some for some in sums if some is not None]
    together = ReportedSums.together(kept) if len(kept) == len(sums) else None
    return _grouped(services, np.concatenate(rows), np.concatenate(weights), together)


def _grouped(
    services: tuple[Service, ...], outputs: np.ndarray, weights: np.ndarray, sums: ReportedSums | None = None
) -> tuple[ReportGroup, ...]:
    """Count equal rows and split them by who was reported to."""
    if not len(outputs):
        return ()
    sizes = [service.mechanism.low.size + 1 for service in services]  # one more for no report
    rows = outputs.astype(np.int32, copy=False) - NOT_REPORTED
    order, starts = runs(rows.T, sizes)
    distinct, counts = rows[order[starts]], np.add.reduceat(weights[order], starts)
    return groups_of(distinct + NOT_REPORTED, counts, None if sums is None else sums.merged(order, starts))


def runs(columns: Sequence[np.ndarray] | np.ndarray, sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the order (N,) in which equal rows are neighbours, and where in it each run of equal ones starts (R,).

    Runs are in lexicographic order.  Each row becomes one integer, the digits of a number in mixed radix, and sorting
    does the rest: O(N log N).

    Parameters
    ----------
    columns : sequence of (N,) ndarray of int
        At least one row; column j in 0..sizes[j] - 1.
    sizes : sequence of int

    Example
    -------
    >>> order, starts = runs([np.array([1, 0, 1]), np.array([0, 2, 0])], [2, 3])
    >>> order, starts, order[starts]
    (array([1, 0, 2]), array([0, 1]), array([1, 0]))
    """
    code = np.zeros(len(columns[0]), dtype=np.int64)
    largest = 1
    for column, size in zip(columns, sizes, strict=True):
        if largest > LARGEST_CODE // size:  # renumber the prefixes seen, in their order
            prefixes, code = np.unique(code, return_inverse=True)
            largest = prefixes.size
            if largest == code.size:  # all rows are told apart already
                break
        code = code * size + column.astype(np.int64, copy=False)  # unsigned columns would make it a float
        largest *= size
    order = np.argsort(code, kind="stable")
    ordered = code[order]
    return order, np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
