"""The central object: a tabulated mechanism, the conditional law of a report given one of n input knots."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..display.over_floor import FAVOUR, favour
from ..display.summary import HeatMap, Told
from ..errors import TableError
from ..integers.numerators import to_numerators
from ..promise import Promise, Pure
from ..sampling.domain import numbers
from ..sampling.drawing import draw_outputs, in_blocks, rising_distribution, round_to_knots
from ..sampling.law import Words
from ..sampling.random_words import random_words
from ..sampling.within_cell import Uniform, WithinCell
from ..statistics import Outputs
from ..units import units_label
from .between_knots import BetweenKnots
from .checks import check_exact, checked_fields, checked_promise, read_only
from .exact_sampling import ExactLaw
from .knot_prior import KnotPrior
from .knots import check_knots
from .moments import require_prior
from .outputs import find_outputs, locate_outputs, relabel_outputs
from .provenance import Provenance


@dataclass(frozen=True, eq=False, repr=False)
class TabulatedMechanism(BetweenKnots):
    r"""A randomizer in numbers: knots, outputs and the probability of every output at every knot.

    A value x between knots x_k and x_{k+1} is first rounded at random to one of them, to x_{k+1} with probability (x -
    x_k) / (x_{k+1} - x_k). Then an output is drawn from that knot's row, and the report from the law within the output.
    The law at x is thus a mixture of two rows, so privacy and unbiasedness at the knots hold on the whole domain.

    Parameters
    ----------
    knots : (n,) array_like
        Input values with a row of their own; at least two, strictly increasing, in the user's units.
    low, high : (m,) array_like
        Ends of the outputs, in the units of the reports. ``low == high`` is a point, else a cell. Sorted by
        low, then high; cells do not overlap; points may lie inside cells and do not repeat. The
        first cell may start at -inf and the last end at inf if the law within allows it.
    probabilities : (n, m) array_like
        Probability of each output at each knot; rows sum to one.
    epsilon : float
        The privacy budget that the table claims to keep; `verify` checks the claim.
    within : WithinCell
        Law of a report inside its output.
    provenance : Provenance
        How the table was made.
    prior : KnotPrior, optional
        The prior that it was made for.
    units : str
        Of the knots, for people to read.
    exact : bool
        Whether the probabilities are whole multiples of 2^-53, in rows that sum to one exactly, with a law within
        outputs that is the same for all rows (checked); see `make_exact`.
    promise : Promise, optional
        The claim: `Pure(epsilon)` by default, else a promise with this epsilon, which needs the same law within outputs
        for all rows.

    Raises TableError where any of this fails, with the row and the output; InputError for epsilon.

    Example
    -------
    >>> from optldp import TabulatedMechanism
    >>> table = TabulatedMechanism.from_points([-1, 1], [-3, 3], [[2 / 3, 1 / 3], [1 / 3, 2 / 3]], 0.7)
    >>> table.mean([0.0, 0.5]), table.var(0.0)
    (array([0. , 0.5]), array([9.]))
    """

    of_levels: ClassVar[str | None] = "personalised"
    knots: np.ndarray
    low: np.ndarray
    high: np.ndarray
    probabilities: np.ndarray
    epsilon: float
    within: WithinCell = field(default_factory=Uniform)
    provenance: Provenance = field(default_factory=Provenance)
    prior: KnotPrior | None = None
    units: str = ""
    exact: bool = False
    promise: Promise = None  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride] -- from `__post_init__` on

    def __init_subclass__(cls) -> None:
        raise TypeError(
            "TabulatedMechanism is final: a subclass could draw by other numbers than those that are proved"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are checked and read-only as the table is."""
        return type(self), tuple(getattr(self, each.name) for each in fields(self))

    def __post_init__(self) -> None:
        given = self.knots, self.low, self.high, self.probabilities, self.epsilon, self.within
        for name, value in checked_fields(*given).items():
            object.__setattr__(self, name, value)
        self._check_labels()
        check_exact(self.exact, self.within)
        if self.exact:
            _ = self.numerators  # raises where there are none
        object.__setattr__(self, "promise", checked_promise(self.promise, self.epsilon, self.within, self.knots))

    def _check_labels(self) -> None:
        for name, kind in (("provenance", Provenance), ("units", str)):
            if not isinstance(getattr(self, name), kind):
                raise TableError(f"{name} must be a {kind.__name__}, got {getattr(self, name)!r}")
        if self.prior is not None:
            require_prior(self.prior, self.knots.size)

    @classmethod
    def from_points(
        cls,
        knots: ArrayLike,
        outputs: ArrayLike,
        probabilities: ArrayLike,
        epsilon: float,
        *,
        provenance: Provenance | None = None,
        prior: KnotPrior | None = None,
        units: str = "",
        promise: Promise | None = None,
    ) -> Self:
        """Return a table whose outputs are points."""
        points, matrix = read_only("outputs", outputs, 1), read_only("probabilities", probabilities, 2)
        law, origin = Uniform(), provenance or Provenance()
        return cls(check_knots(knots), points, points, matrix, epsilon, law, origin, prior, units, False, promise)  # pyright: ignore[reportArgumentType] -- None is pure

    @classmethod
    def from_edges(
        cls,
        knots: ArrayLike,
        edges: ArrayLike,
        probabilities: ArrayLike,
        epsilon: float,
        *,
        within: WithinCell | None = None,
        provenance: Provenance | None = None,
        prior: KnotPrior | None = None,
        units: str = "",
        promise: Promise | None = None,
    ) -> Self:
        """Return a table whose outputs are the cells between m + 1 neighbouring edges."""
        ends, matrix = read_only("edges", edges, 1), read_only("probabilities", probabilities, 2)
        law, origin = within or Uniform(), provenance or Provenance()
        return cls(check_knots(knots), ends[:-1], ends[1:], matrix, epsilon, law, origin, prior, units, False, promise)  # pyright: ignore[reportArgumentType] -- None is pure

    @property
    def n_outputs(self) -> int:
        """How many outputs there are."""
        return self.low.size

    @property
    def statistic(self) -> Outputs:
        """Its outputs, with the law at each knot."""
        return Outputs(self.probabilities)

    def __repr__(self) -> str:
        n, m = self.probabilities.shape
        method = self.provenance.method
        more = "" if isinstance(self.promise, Pure) else f", promise={str(self.promise)!r}"
        return f"TabulatedMechanism({method!r}, epsilon={self.epsilon:g}, knots={n}, outputs={m}{more})"

    def _told(self) -> Told:
        (low, high), m = self.domain, self.low.size
        facts = {
            "method": self.provenance.method,
            "promise": str(self.promise),
            "exact": self.exact,
            "knots": self.knots.size,
            "outputs": m,
            "domain": units_label(f"{low:.6g} to {high:.6g}", self.units),
        }
        ends = f"{low:.4g}", f"{high:.4g}"
        across = units_label("value", self.units)
        rows = favour(self.probabilities), across, "report, by its output"
        return Told(facts, picture=HeatMap(*rows, ends, ("0", str(m - 1)), FAVOUR))

    def _columns(self) -> dict[str, Any]:
        n, m = self.probabilities.shape
        return {
            "knot": np.repeat(self.knots, m),
            "output": np.tile(np.arange(m), n),
            "low": np.tile(self.low, n),
            "high": np.tile(self.high, n),
            "probability": self.probabilities.ravel(),
        }

    @property
    def is_discrete(self) -> bool:
        """Whether every output is a single point."""
        return bool(np.array_equal(self.low, self.high))

    @cached_property
    def _output_moments(self) -> tuple[np.ndarray, np.ndarray]:
        return self.within.moments(self.low, self.high, self.knots.size)

    @property
    def output_mean(self) -> np.ndarray:
        """(n, m) mean of the report given the knot and the output."""
        return self._output_moments[0]

    @cached_property
    def output_second(self) -> np.ndarray:
        """(n, m) mean of the squared report given the knot and the output."""
        mean, variance = self._output_moments
        return mean**2 + variance

    @cached_property
    def knot_bias(self) -> np.ndarray:
        """(n,) mean of the report minus the knot, summed as differences so that offsets cost no digits."""
        return np.sum(self.probabilities * (self.output_mean - self.knots[:, None]), axis=1)

    @cached_property
    def knot_means(self) -> np.ndarray:
        """(n,) mean of the report at each knot."""
        return self.knots + self.knot_bias

    @cached_property
    def knot_variances(self) -> np.ndarray:
        """(n,) variance of the report at each knot, about its own mean; squared units."""
        mean, variance = self._output_moments
        distance = (mean - self.knots[:, None]) - self.knot_bias[:, None]
        return np.sum(self.probabilities * (distance**2 + variance), axis=1)

    def pmf(self, x: ArrayLike) -> np.ndarray:
        """Return the (N, m) probability of each output at each value."""
        index, right = self.row_weights(x)
        return (1 - right)[:, None] * self.probabilities[index] + right[:, None] * self.probabilities[index + 1]

    def worst_case_variance(self) -> tuple[float, float]:
        """Return the largest variance over all values that it takes, squared units, and a value that attains it."""
        if not self.promise.holds_between_knots:
            at = int(np.argmax(self.knot_variances))
            return float(self.knot_variances[at]), float(self.knots[at])
        return super().worst_case_variance()

    @cached_property
    def numerators(self) -> np.ndarray:
        """(n, m) int64: the probabilities over 2^53 of an exact table; TableError for one in doubles."""
        if not self.exact:
            raise TableError(f"the table must be exact, got {self!r} in doubles: make it exact with make_exact")
        return to_numerators(self.probabilities)

    def sample(self, x: ArrayLike, rng: np.random.Generator | None = None, *, clip: bool = False) -> np.ndarray:
        """Draw one report for each value: by the operating system's generator, or as a simulation.

        Parameters
        ----------
        x : (N,) array_like
            Values in the domain, in the units of the knots; knots alone where the promise holds for these alone.
        rng : numpy.random.Generator, optional
            For simulations only: whoever knows its seed can undo the noise. Without it the table must be exact, and
            reports are drawn by whole numbers and the operating system's generator.
        clip : bool
            Move values outside the domain to its nearer end, and warn with their count, instead of raising.

        Returns
        -------
        (N,) ndarray
            Reports, in the units of the outputs.

        Raises InputError for values or an rng that are not usable; without an rng, TableError for a table in doubles.

        Example
        -------
        >>> import numpy as np
        >>> from optldp import TabulatedMechanism
        >>> table = TabulatedMechanism([0, 1], [0, 1], [0, 1], [[0.75, 0.25], [0.25, 0.75]], 1.1, exact=True)
        >>> table.sample([0.0, 0.5, 1.0]).shape, table.sample([0.0], np.random.default_rng(3)).shape
        ((3,), (1,))
        """
        if self.exact or rng is None:
            return self.drawn(x, rng, clip=clip)
        random_words(rng)  # refuses what is no generator
        values = self.admitted(x, clip=clip)
        return in_blocks(values, lambda block: self._simulate(block, rng))

    def sample_index(self, x: ArrayLike, rng: np.random.Generator | None = None, *, clip: bool = False) -> np.ndarray:
        """Draw a report for each value and return the number (N,) of its output, from 0: all that estimators use.

        What `output_index` would say of a report, as whole numbers; arguments and errors are those of `sample`.

        Example
        -------
        >>> from optldp import TabulatedMechanism
        >>> table = TabulatedMechanism([0, 1], [0, 1], [0, 1], [[0.75, 0.25], [0.25, 0.75]], 1.1, exact=True)
        >>> table.sample_index([0.0, 0.5, 1.0]).dtype
        dtype('int64')
        """
        words, values = random_words(rng), self.admitted(x, clip=clip)
        if self.exact or rng is None:
            return in_blocks(values, lambda block: self.draw_index(block, words))
        return in_blocks(values, lambda block: self._simulate_index(block, rng)[1])

    def _simulate_index(self, values: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        rows = round_to_knots(self.knots, values, rng)
        return rows, draw_outputs(*self._rising, rows, rng)

    def _simulate(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.within.draw(self.low, self.high, *self._simulate_index(values, rng), rng)

    def draw(self, held: np.ndarray, words: Words) -> np.ndarray:
        """Draw one report (N,) for each value in the domain; TableError for a table in doubles."""
        return in_blocks(held, lambda block: self.exact_law.draw(block, words))

    def draw_index(self, held: np.ndarray, words: Words) -> np.ndarray:
        """Draw the output (N,) of one report for each value in the domain; TableError for a table in doubles."""
        return self.exact_law.draw_index(held, words)

    @cached_property
    def _rising(self) -> tuple[np.ndarray, np.ndarray]:
        return rising_distribution(self.probabilities)

    @cached_property
    def exact_law(self) -> ExactLaw:
        """The table made ready to draw from by whole numbers; TableError for one in doubles."""
        return ExactLaw.of(self.knots, self.low, self.high, self.numerators, self.within)

    def output_index(self, reports: ArrayLike) -> np.ndarray:
        """Return which output (N,) each report is; InputError for reports that this table cannot produce."""
        return find_outputs(self.low, self.high, self.within, numbers("reports", reports), self.possible)

    def locate(self, reports: np.ndarray) -> np.ndarray:
        """Return which output (N,) each of these doubles is, as `output_index` does, and -1 for what is none."""
        return locate_outputs(self.low, self.high, self.within, reports, self.possible)

    @cached_property
    def possible(self) -> np.ndarray:
        """(m,) whether some knot gives the output a positive probability; no report is any of the others."""
        return self.probabilities.max(axis=0) > 0

    def affine(self, scale: float, shift: float) -> Self:
        """Return the mechanism that reports scale y + shift wherever this one reports y.

        Privacy is untouched, the claim "unbiased" dropped. Raises InputError for a scale that is zero or not finite.

        Example
        -------
        >>> from optldp import TabulatedMechanism
        >>> table = TabulatedMechanism.from_points([0, 1], [0, 1], [[0.75, 0.25], [0.25, 0.75]], 1.1)
        >>> table.affine(2.0, -0.5).mean([0.0, 1.0])
        array([0., 1.])
        """
        columns, low, high = relabel_outputs(self.low, self.high, scale, shift)
        parameters = {k: v for k, v in self.provenance.parameters.items() if k != "unbiased"}
        parameters["relabelled"] = [float(scale), float(shift)]
        return replace(
            self,
            low=low,
            high=high,
            probabilities=self.probabilities[:, columns],
            within=self.within.take(columns).scaled(scale),
            provenance=replace(self.provenance, parameters=parameters),
        )

    def with_prior(self, prior: KnotPrior | None) -> Self:
        """Return the same table with another prior."""
        return self._labelled(prior=prior)

    def without_prior(self) -> Self:
        """Return the same table without the prior, which may be as sensitive as the data it came from."""
        return self._labelled(prior=None)

    def with_provenance(self, provenance: Provenance) -> Self:
        """Return the same table with another record of how it was made."""
        return self._labelled(provenance=provenance)

    def with_units(self, units: str) -> Self:
        """Return the same table with another name of its units."""
        return self._labelled(units=units)

    def _labelled(self, **labels: Any) -> Self:
        """The same law, whose numbers are checked and computed already, under other labels."""
        made = object.__new__(type(self))
        vars(made).update(vars(self) | labels)
        made._check_labels()
        return made
