"""An exact unbiased table as short as it is: outputs, the floor of each, and where the window of each knot starts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..channel import Channel
from ..cost import Cost, affordable, require_affordable, table_cost
from ..display.summary import Profile, Told
from ..documents.bundle import Bundle, Nested
from ..documents.exact_table import whole_numbers
from ..documents.table import require_sides
from ..errors import InputError, TableError
from ..exactness.promises import log_ratio
from ..exactness.proof import ExactProof
from ..exactness.verification import Verdict, Verification, verification_of
from ..integers.exponential import SCALE
from ..integers.numerators import DENOMINATOR
from ..promise import Pure
from ..sampling.domain import numbers
from ..sampling.drawing import in_blocks
from ..sampling.law import Uniform, Words
from ..sampling.random_words import draw53, random_words
from ..table.between_knots import BetweenKnots
from ..table.checks import check_outputs
from ..table.exact_sampling import ordered_bits, rounded
from ..table.knot_prior import KnotPrior
from ..table.knots import check_knots
from ..table.moments import require_prior
from ..table.outputs import find_outputs, locate_outputs
from ..table.provenance import Provenance
from ..table.table import TabulatedMechanism
from ..units import units_label
from .document import fields_of, members_of
from .proof import form_proof
from .windows import MOST_RAISED, Moments, Windows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST_RATIO = SCALE << 24
"""Above e^16 2^128, so that no whole number is longer than it need be."""

SMALLEST_STEP, LARGEST_STEP = 2.0**-1000, 2.0**400
"""Any whole number up to 2^53 times a power of two between these is a double; reports must be within 1e120."""


@dataclass(frozen=True, eq=False, repr=False)
class FloorForm(BetweenKnots, Bundle):
    r"""A randomizer in 2 m + n numbers: m outputs with a floor each, and a whole number for each of n knots.

    Output j is the point ``places[j] * step``. At a knot it has probability ``floor[j] / 2^53`` at least, and up to
    ``ratio / 2^128`` times that in the knot's window. The window is an interval from the knot's start, in the cumulated
    room of outputs above their floors. So rows sum to one and no ratio exceeds the stated one, for all numbers; `proof`
    compares it with e^epsilon. Between knots values are rounded to them, as by `TabulatedMechanism`: `expand` gives the
    table of the same law, which draws the same reports from the same random words.

    Parameters
    ----------
    knots : (n,) array_like
        As of a `TabulatedMechanism`.
    places : (m,) array_like of int
        Increasing, at most 2^53 in size.
    step : float
        A power of two.
    floor : (m,) array_like of int
        Over 2^53; at least 1 each.
    starts : (n,) array_like of int
        From 0 to the mass that the floors leave, see `Windows`. Doubles with whole values.
    ratio : int
        Over 2^128, above 1.
    epsilon : float
        The privacy budget that it claims to keep.
    provenance : Provenance
        Its parameter "unbiased" is a claim, which `failures` decides.
    prior : KnotPrior, optional
    units : str

    Raises TableError where any of this fails; InputError for epsilon.

    Source: docs/floor-form.md; the windows are those of the solver's `window_rows`.

    Example
    -------
    >>> from optldp.mechanisms.compact_tables import FloorForm
    >>> ratio = 3 * 2**128
    >>> form = FloorForm([0, 10, 20], [-10, 30], 1.0, [2**51] * 2, [0, 2**51, 2**52], ratio, 1.1)
    >>> form, form.pmf([0.0, 5.0]), form.var([0.0, 10.0])
    (FloorForm('unspecified', epsilon=1.1, knots=3, outputs=2), array([[0.75 , 0.25 ],
           [0.625, 0.375]]), array([300., 400.]))
    """

    kind: ClassVar[str] = "floor"
    vectors: ClassVar[Mapping[str, type[np.generic]]] = {
        "knots": np.float64,
        "places": np.int64,
        "floor": np.int64,
        "starts": np.int64,
        "prior.weights": np.float64,
        "prior.rounding": np.float64,
    }
    knots: np.ndarray
    places: np.ndarray
    step: float
    floor: np.ndarray
    starts: np.ndarray
    ratio: int
    epsilon: float
    provenance: Provenance = field(default_factory=Provenance)
    prior: KnotPrior | None = None
    units: str = ""

    def __post_init__(self) -> None:
        try:
            knots = check_knots(self.knots)
        except InputError as error:
            raise TableError(str(error)) from None
        require_sides(knots, self.places, self.floor, self.starts)
        knots.setflags(write=False)
        object.__setattr__(self, "knots", knots)
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        limits = {"places": (-DENOMINATOR, DENOMINATOR), "floor": (1, DENOMINATOR), "starts": (0, MOST_RAISED)}
        for name, ends in limits.items():
            given = getattr(self, name)
            held = whole_numbers(name, list(given) if isinstance(given, tuple) else given, *ends)
            held.setflags(write=False)
            object.__setattr__(self, name, held)
        self._check_numbers()
        for name, kind in (("provenance", Provenance), ("units", str)):
            if not isinstance(getattr(self, name), kind):
                raise TableError(f"{name} must be a {kind.__name__}, got {getattr(self, name)!r:.60}")
        if self.prior is not None:
            require_prior(self.prior, self.knots.size)

    def _check_numbers(self) -> None:
        """What must be so for rows to be there; the sums are looked at where `Windows` are made."""
        if type(self.ratio) is not int or not SCALE < self.ratio <= LARGEST_RATIO:
            raise TableError(f"ratio must be a whole number above 2^128 and at most 2^152, got {self.ratio!r:.60}")
        if (
            not isinstance(self.step, float)
            or math.frexp(self.step)[0] != 0.5
            or not SMALLEST_STEP <= self.step <= LARGEST_STEP
        ):
            raise TableError(f"step must be a power of two from 2^-1000 to 2^400, got {self.step!r:.60}")
        if self.places.size != self.floor.size:
            raise TableError(f"outputs need a floor each, got {self.places.size} places and {self.floor.size} floors")
        if self.starts.size != self.knots.size:
            raise TableError(f"knots need a start each, got {self.knots.size} knots and {self.starts.size} starts")
        check_outputs(self.outputs, self.outputs)
        wrong = np.flatnonzero((self.starts > self.windows.latest) | (self.starts.astype(float) != self.starts))
        if wrong.size:
            found = f"{self.starts[wrong[0]]} at knot {wrong[0]}"
            raise TableError(f"starts must be doubles from 0 to {self.windows.latest}, got {found}")

    def __repr__(self) -> str:
        n, m = self.knots.size, self.places.size
        return f"FloorForm({self.provenance.method!r}, epsilon={self.epsilon:g}, knots={n}, outputs={m})"

    def _told(self) -> Told:
        facts = {
            "method": self.provenance.method,
            "epsilon": self.epsilon,
            "knots": self.knots.size,
            "outputs": self.places.size,
            "domain": units_label("{:.6g} to {:.6g}".format(*self.domain), self.units),
        }
        across, up = units_label("value", self.units), units_label("standard deviation of a report", self.units)
        return Told(facts, picture=Profile(self.knots, np.sqrt(self.knot_variances), across, up))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the table, if it is small enough to be made, else what a report scatters by; return the axes.

        Raises InputError where matplotlib is not there.
        """
        return self.expand().plot(ax) if self.expands else super().plot(ax)

    def _columns(self) -> dict[str, Any]:
        return {"knot": self.knots, "mean": self.knot_means, "variance": self.knot_variances}

    def members(self) -> dict[str, Any]:
        return members_of({each.name: getattr(self, each.name) for each in fields(self)})

    @classmethod
    def from_members(cls, members: Mapping[str, Any], nested: Nested) -> Self:
        return cls(**fields_of(members))

    @cached_property
    def windows(self) -> Windows:
        """The rows, by where they start."""
        return Windows(self.floor, self.ratio)

    def with_provenance(self, provenance: Provenance) -> Self:
        """Return the same form with another record of how it was made."""
        return replace(self, provenance=provenance)

    @cached_property
    def outputs(self) -> np.ndarray:
        """(m,) reports, increasing; every one an exact product."""
        return self.places * self.step

    @property
    def n_outputs(self) -> int:
        """How many outputs there are."""
        return self.places.size

    @property
    def promise(self) -> Pure:
        """Pure privacy of its budget."""
        return Pure(self.epsilon)

    @cached_property
    def exact_means(self) -> list[Fraction]:
        """The mean of the report at each knot."""
        unit = Fraction(self.step) / DENOMINATOR
        return [total * unit for total in Moments(self.windows, self.places.tolist()).at(self.starts.tolist())]

    @cached_property
    def knot_variances(self) -> np.ndarray:
        """(n,) variance of the report at each knot, rounded once; squared units."""
        squares = Moments(self.windows, [place * place for place in self.places.tolist()])
        unit = Fraction(self.step) ** 2 / DENOMINATOR
        seconds = squares.at(self.starts.tolist())
        pairs = zip(seconds, self.exact_means, strict=True)
        return np.array([float(second * unit - mean * mean) for second, mean in pairs])

    @cached_property
    def knot_means(self) -> np.ndarray:
        """(n,) mean of the report at each knot, rounded once."""
        return np.array([float(mean) for mean in self.exact_means])

    def proof(self) -> ExactProof:
        """Prove by whole numbers that it is private, and unbiased if it says so: in n + m steps, or log m as many.

        The facts are those of `prove` for the table that it expands to, whichever of the two is asked.
        """
        means = self.windows.spans(self.starts), self.exact_means
        ends = self.outputs[[0, -1]].tolist()
        return form_proof(self.ratio, self.epsilon, self.knots, ends, *means, unbiased=self.provenance.claims_unbiased)

    def verification(self) -> Verification:
        """Return what `verify` says of the table that it expands to, without making it."""
        proof = self.proof()
        kept = log_ratio(proof.largest, proof.smallest)
        return Verification(
            verdict=Verdict.PROVED if proof.ok else Verdict.BROKEN,
            promise=self.promise,
            kept=kept,
            max_log_ratio=kept,
            max_abs_bias=float(proof.bias),
            max_row_sum_error=0.0,
            expected_variance=None if self.prior is None else self.expected_variance(self.prior),
            worst_case_variance=self.worst_case_variance()[0],
            failures=proof.failures,
        )

    def failures(self) -> tuple[str, ...]:
        return self.proof().failures

    def pmf(self, x: ArrayLike) -> np.ndarray:
        """Return the (N, m) probability of each output at each value."""
        index, right = self.row_weights(x)
        left, next_row = (self.windows.numerators(self.starts[k]) / DENOMINATOR for k in (index, index + 1))
        return (1 - right)[:, None] * left + right[:, None] * next_row

    def sample(self, x: ArrayLike, rng: np.random.Generator | None = None, *, clip: bool = False) -> np.ndarray:
        """Draw one report (N,) for each value, as `TabulatedMechanism.sample` does, in log m steps.

        Example
        -------
        >>> from optldp.mechanisms.compact_tables import FloorForm
        >>> form = FloorForm([0, 1], [-1, 1], 2.0**-1, [2**51] * 2, [0, 2**52], 3 * 2**128, 1.1)
        >>> set(form.sample([0.0, 0.5, 1.0]).tolist()) <= {-0.5, 0.5}
        True
        """
        return self.drawn(x, rng, clip=clip)

    def sample_index(self, x: ArrayLike, rng: np.random.Generator | None = None, *, clip: bool = False) -> np.ndarray:
        """Draw a report for each value and return the number (N,) of its output, as `TabulatedMechanism` does.

        Example
        -------
        >>> from optldp.mechanisms.compact_tables import FloorForm
        >>> form = FloorForm([0, 1], [-1, 1], 2.0**-1, [2**51] * 2, [0, 2**52], 3 * 2**128, 1.1)
        >>> set(form.sample_index([0.0, 0.5, 1.0]).tolist()) <= {0, 1}
        True
        """
        words, values = random_words(rng), self.admitted(x, clip=clip)
        return in_blocks(values, lambda block: self.draw_index(block, words))

    def draw(self, held: np.ndarray, words: Words) -> np.ndarray:
        """Draw one report (N,) for each value in the domain."""
        return self.outputs[in_blocks(held, lambda block: self.draw_index(block, words))]

    def draw_index(self, held: np.ndarray, words: Words) -> np.ndarray:
        """Draw the output (N,) of one report for each value in the domain."""
        rows = rounded(self.knots, self._knot_bits, held, words)
        units = draw53(words, rows.size)
        users = np.argsort(rows.astype(np.uint16), kind="stable")  # 16 bits sort by radix, in linear time
        order = rows[users]  # in which random numbers are dealt, as a table deals them
        found = np.empty(rows.size, dtype=np.intp)
        found[users] = self.windows.locate(units, self.starts[order], self._borders[:, order])
        return found

    @cached_property
    def _borders(self) -> np.ndarray:
        return self.windows.borders(self.starts)

    @cached_property
    def _knot_bits(self) -> np.ndarray:
        return ordered_bits(self.knots)

    def output_index(self, reports: ArrayLike) -> np.ndarray:
        """Return which output (N,) each report is; InputError for reports that are none."""
        return find_outputs(self.outputs, self.outputs, Uniform(), numbers("reports", reports))

    def locate(self, reports: np.ndarray) -> np.ndarray:
        """Return which output (N,) each of these doubles is, and -1 for what is none."""
        return locate_outputs(self.outputs, self.outputs, Uniform(), reports)

    @property
    def expands(self) -> bool:
        """Whether its table costs no more than may be taken here, see `allow_large`."""
        return affordable(self.expanded_cost)

    @property
    def expanded_cost(self) -> Cost:
        """What its table would cost."""
        return table_cost(self.knots.size, self.places.size)

    def expand(self) -> TabulatedMechanism:
        """Return the table of the same law: same numerators, and same reports of the same random words.

        Raises
        ------
        InputError
            Its table would cost too much, see `allow_large`.

        Example
        -------
        >>> from optldp.mechanisms.compact_tables import FloorForm
        >>> form = FloorForm([0, 1], [-1, 1], 2.0**-1, [2**51] * 2, [0, 2**52], 3 * 2**128, 1.1)
        >>> form.expand().probabilities
        array([[0.75, 0.25],
               [0.25, 0.75]])
        """
        require_affordable(
            f"the table of a floor form of {self.knots.size} knots and {self.places.size} outputs",
            self.expanded_cost,
            "means of one service need no table, for what else is asked design fewer knots",
        )
        table = TabulatedMechanism(
            knots=self.knots,
            low=self.outputs,
            high=self.outputs,
            probabilities=self.windows.numerators(self.starts) / DENOMINATOR,
            epsilon=self.epsilon,
            provenance=self.provenance,
            prior=self.prior,
            units=self.units,
            exact=True,
        )
        object.__setattr__(table, _FORM, self)  # of this very table: one that is equal may be of a file of its own
        return table

    def without_prior(self) -> Self:
        """Return the same without the prior, which may be as sensitive as the data it came from."""
        given = (self.knots, self.places, self.step, self.floor, self.starts, self.ratio, self.epsilon)
        return type(self)(*given, self.provenance, None, self.units)


_FORM = "_expanded_from"
"""Attribute of a table that was expanded."""


def expanded(mechanism: Any) -> Any:
    """Return the table that a floor form stands for, and whatever else it may be as it is.

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> form, table = FloorForm([0, 1], [-1, 1], 2.0**-1, [2**51] * 2, [0, 2**52], 3 * 2**128, 1.1), duchi([0, 1], 1.1)
    >>> form_of(expanded(form)) is form, expanded(table) is table
    (True, True)
    """
    return mechanism.expand() if isinstance(mechanism, FloorForm) else mechanism


def table_of(mechanism: object, what: str) -> TabulatedMechanism:
    """Return the table of numbers that a mechanism is, in its floor form too, or raise InputError, of `what` is wanted.

    Example
    -------
    >>> table_of("duchi", "the first phase")
    Traceback (most recent call last):
        ...
    optldp.mechanisms.errors.InputError: the first phase must be a table of numbers, got str
    """
    if not isinstance(table := expanded(mechanism), TabulatedMechanism):
        raise InputError(f"{what} must be a table of numbers, got {type(mechanism).__name__}")
    return table


def form_of(table: Channel) -> FloorForm | None:
    """Return the floor form that a table was expanded from, in whose file it is; None for any other.

    Example
    -------
    >>> form = FloorForm([0, 1], [-1, 1], 2.0**-1, [2**51] * 2, [0, 2**52], 3 * 2**128, 1.1)
    >>> from optldp.mechanisms import duchi
    >>> form_of(form.expand()) is form, form_of(duchi([0, 1], 1.1))
    (True, None)
    """
    return getattr(table, _FORM, None)


@verification_of.register
def _(mechanism: FloorForm) -> Verification:
    return mechanism.verification()
