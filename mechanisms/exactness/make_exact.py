"""Making a table exact: whole numbers over 2^53 in place of doubles, with a proof of privacy by arithmetic."""

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..display.display import Shown
from ..display.summary import Told
from ..errors import TableError
from ..integers.numerators import DENOMINATOR, row_means
from ..promise import Pure
from ..sampling.law import RowFreeLaw
from ..table.exact_rounding import largest_distance, rounded_numerators
from ..table.table import TabulatedMechanism
from .point_outputs import to_points
from .proof import ExactProof, prove
from .verification import require_private

ROOMS = (8, 64)
"""Units of room that stretching makes in a box, on average: rounding costs about one unit per box."""

MOST_STRETCH = 5e-7
"""Of the variance, about twice the share: below a millionth together with the rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class ExactRounding(Shown):
    """An exact table, and what it cost.

    Attributes
    ----------
    mechanism : TabulatedMechanism
        With ``exact=True``.
    proof : ExactProof
        That it is private and, if it claims so, unbiased.
    mean_change : Fraction
        Largest distance, over the knots, between the exact mean of the reports and the one wanted: the knot if the
        table claims to be unbiased, else the old table's mean. Input units.
    variance_change : float
        Largest change of the variance at a knot, as a share of it; rounding to points included.

    Example
    -------
    >>> from ..families.duchi import duchi
    >>> rounded = make_exact(duchi([-1, 1], 1.0))
    >>> rounded.mechanism.exact, rounded.proof.ok, rounded.variance_change < 1e-6
    (True, True, True)
    """

    mechanism: TabulatedMechanism
    proof: ExactProof
    mean_change: Fraction
    variance_change: float

    def _told(self) -> Told:
        return Told(self._line(), picture=self.mechanism._told().picture)

    def _line(self) -> dict[str, Any]:
        changes = {"mean_change": float(self.mean_change), "variance_change": self.variance_change}
        return {"mechanism": repr(self.mechanism), "proved": self.proof.ok} | changes


def make_exact(table: TabulatedMechanism, *, spacing: float | None = None) -> ExactRounding:
    """Round a table's probabilities to whole numbers over 2^53 and prove that it keeps its promise.

    Parameters
    ----------
    table : TabulatedMechanism
        One that `verify` passes. Cells whose law differs between rows (Laplace, tents) become points, see
        `to_points`; all other outputs stay as they are, or are `stretched` slightly at budgets below about 0.3.
    spacing : float, optional
        For `to_points`.

    Returns
    -------
    ExactRounding

    Raises
    ------
    TableError
        The table does not keep its promise, or not by whole numbers; or its means cannot be kept within 1e-12 of the
        domain, or 2^-50 of the largest report.

    Example
    -------
    >>> from optldp import make_exact, verify
    >>> from optldp.mechanisms import piecewise
    >>> made = make_exact(piecewise([0.0, 0.5, 1.0], 1.0))
    >>> found = verify(made.mechanism)
    >>> made.mechanism.exact, str(found.verdict), round(found.max_log_ratio, 6)
    (True, 'proved', 1.0)
    """
    require_private(table)
    before = table.knot_variances
    if not isinstance(table.within, RowFreeLaw):
        table = to_points(table, spacing=spacing)
    exact = table if table.exact else _rounded(table)
    wanted = table.knots if table.provenance.claims_unbiased else table.knot_means
    law = exact.within
    assert isinstance(law, RowFreeLaw)  # to_points saw to it
    means = row_means(exact.numerators, law.exact_means(exact.low, exact.high))
    change = np.divide(exact.knot_variances - before, before, out=np.zeros_like(before), where=before > 0)
    if (proof := prove(exact)).failures:
        raise TableError(f"whole numbers over 2^53 must keep what is promised: {proof.failures[0]}")
    return ExactRounding(
        mechanism=exact,
        proof=proof,
        mean_change=largest_distance(means, [Fraction(mean) for mean in wanted.tolist()])[0],
        variance_change=float(change[np.argmax(np.abs(change))]),
    )


def _rounded(table: TabulatedMechanism) -> TabulatedMechanism:
    """Return the exact table, one of pure privacy stretched if and as little as need be to keep the means."""
    if not isinstance(table.promise, Pure):
        return _in_whole_numbers(table)
    for share in (0.0, *stretches(table.epsilon, table.low.size)):
        made = stretched(table, share) if share else table
        with suppress(TableError):
            return _in_whole_numbers(made)
    return _in_whole_numbers(table)  # raises what is wrong


def stretches(epsilon: float, outputs: int) -> list[float]:
    """Return the shares by which a table of so many outputs may be stretched to make room for its rounding."""
    room = float(DENOMINATOR * np.expm1(epsilon)) / outputs
    return [units / room for units in ROOMS if 2 * units / room <= MOST_STRETCH]


def _in_whole_numbers(table: TabulatedMechanism) -> TabulatedMechanism:
    wanted = table.knots if table.provenance.claims_unbiased else table.knot_means
    arrays = table.knots, table.low, table.high, table.probabilities
    numerators = rounded_numerators(*arrays, table.promise, table.within, wanted)
    return replace(table, probabilities=numerators / DENOMINATOR, exact=True)


def exact_if_possible(table: TabulatedMechanism) -> TabulatedMechanism:
    """Return the exact form of a table, or the table itself where its means cannot be kept in whole numbers.

    Example
    -------
    >>> from ..families.grr import grr
    >>> exact_if_possible(grr([0, 1], 1.0)).exact
    True
    """
    try:
        return make_exact(table).mechanism
    except TableError:
        return table


def stretched(table: TabulatedMechanism, share: float, common: np.ndarray | None = None) -> TabulatedMechanism:
    """Return the table of the same means whose rows are (1 - share) of this one's and share of a law common to all.

    With a law q and its mean c, the probabilities are (1 - share) P + share q and a report y
    becomes (y - share c) / (1 - share). Every ratio falls, every mean stays, and the variance grows by a share of
    about two `share`.

    Parameters
    ----------
    table : TabulatedMechanism
        With a law within outputs that is the same for all rows.
    share : float
        In (0, 1).
    common : (m,) ndarray, optional
        q. Default: the middle of the first and the last row.

    Example
    -------
    >>> from ..families.duchi import duchi
    >>> made = stretched(duchi([0.0, 10.0], 1.0), 0.01)
    >>> made.mean([2.5, 5.0, 10.0]).round(9).tolist(), made.probabilities.round(4).tolist()
    ([2.5, 5.0, 10.0], [[0.7287, 0.2713], [0.2713, 0.7287]])
    """
    law = (table.probabilities[0] + table.probabilities[-1]) / 2 if common is None else common
    centre = float(law @ table.output_mean[0])
    mixed = replace(table, probabilities=(1 - share) * table.probabilities + share * law)
    origin = replace(table.provenance, parameters={**table.provenance.parameters, "stretched": share})
    return mixed.affine(1 / (1 - share), -share * centre / (1 - share)).with_provenance(origin)
