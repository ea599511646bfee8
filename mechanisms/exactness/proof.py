"""The proof that an exact table is private: by whole numbers alone, with the facts that an auditor can recheck."""

from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np

from ..display.display import Shown
from ..display.summary import Dots, Told
from ..errors import InputError, TableError
from ..integers.numerators import row_means
from ..promise import Promise, as_promise
from ..sampling.law import RowFreeLaw
from ..spaces.interval import Interval
from ..table.exact_rounding import bias_limit, largest_distance
from ..table.table import TabulatedMechanism
from .promises import evidence


@dataclass(frozen=True, eq=False, repr=False)
class ExactProof(Shown):
    """What `prove` found; every number is exact.

    Attributes
    ----------
    ok : bool
        Whether there are no failures.
    promise : Promise
        What was to be proved; its doubles stand for the very fractions that they are.
    output : int
        The tightest output: the one of largest ratio; of a promise of pairs, of the largest share of what its
        pair may have.
    largest, smallest : int
        Its largest and smallest numerator over 2^53.
    limit : Fraction
        A number proved to be at most e^epsilon; of a promise of pairs, at most e to the log-ratio that its pair may
        have.
    divergence : Fraction or None
        Where `Approximate` is promised, the largest sum of max(0, P(y | x) - limit P(y | x')) over outputs y, of all
        pairs of knots: at most delta.
    bias : Fraction
        Largest distance between a knot and the mean of its reports; input units.
    relative_bias : Fraction
        The same as a share of the domain.
    failures : tuple of str
        Each broken requirement, with where and how much.

    Example
    -------
    >>> prove(TabulatedMechanism([0, 1], [0, 1], [0, 1], [[0.75, 0.25], [0.25, 0.75]], 1.1, exact=True))
    ExactProof(ok=True, promise='epsilon 1.1', ratio='3', output=0, bias=0.25)
    """

    ok: bool
    promise: Promise
    output: int
    largest: int
    smallest: int
    limit: Fraction
    divergence: Fraction | None
    bias: Fraction
    relative_bias: Fraction
    failures: tuple[str, ...]

    def _line(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "promise": str(self.promise),
            "ratio": None if self.ratio is None else str(self.ratio),
            "output": self.output,
            "bias": float(self.bias),
            "failures": "; ".join(self.failures) or None,
        }

    def _told(self) -> Told:
        ratio = np.inf if self.ratio is None else float(self.ratio)
        ratios = np.array([float(self.limit), ratio])
        picture = Dots(["largest that is allowed", "largest of the table"], ratios, "ratio")
        return Told(self._line(), picture=picture)

    @property
    def epsilon(self) -> float:
        """The budget of the promise."""
        return self.promise.epsilon

    @property
    def ratio(self) -> Fraction | None:
        """largest / smallest in lowest terms; None where the smallest is zero and the ratio thus infinite."""
        return Fraction(self.largest, self.smallest) if self.smallest else None

    @property
    def slack(self) -> Fraction | None:
        """limit - ratio, not negative for a table of pure privacy; None for an infinite ratio."""
        return None if self.ratio is None else self.limit - self.ratio


@singledispatch
def failures_of(mechanism: Any) -> tuple[str, ...]:
    """Return what breaks the promise of any exact mechanism, recomputed from its numbers by whole-number arithmetic.

    Raises TableError for a table in doubles.

    Example
    -------
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> failures_of(categorical_grr(["yes", "no"], 1.0))
    ()
    """
    return mechanism.failures()


@failures_of.register
def _(mechanism: TabulatedMechanism) -> tuple[str, ...]:
    return prove(mechanism).failures


def require_numbers(mechanism: Any) -> None:
    """Raise InputError unless a mechanism is a table of numbers, whose rows and bias can be proved.

    Example
    -------
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> try:
    ...     require_numbers(categorical_grr(["yes", "no"], 1.0))
    ... except ValueError as error:
    ...     print(str(error)[:59])
    a proof of numbers needs a table of numbers, got Categorica
    """
    if not isinstance(getattr(mechanism, "inputs", None), Interval):
        raise InputError(
            f"a proof of numbers needs a table of numbers, got {mechanism!r:.60}: failures() of other mechanisms says "
            "what is broken"
        )


def prove(table: TabulatedMechanism, *, epsilon: Promise | float | None = None) -> ExactProof:
    """Prove by whole numbers that an exact table keeps its promise, and is unbiased if it claims to be; or list what
    fails.

    Of a pure promise: for every output, largest numerator <= L * smallest numerator with a rational L <= e^epsilon. Of
    `Approximate`: the sum over outputs of max(0, P(y | x) - L P(y | x')) <= delta for all pairs of knots. Between knots
    the law is a mixture of two rows, and both are convex, so what holds at the knots holds everywhere. Of
    promises of pairs: numerators of i at most L times those of k with a rational L <= e^D_ik, for pairs that imply all
    others, such as neighbours on a line; such a table takes no values between knots.

    Parameters
    ----------
    table : TabulatedMechanism
        With ``exact=True``: its rows sum to 2^53, as was checked when it was made.
    epsilon : float or Promise, optional
        The promise to prove; a number means `Pure`. Default: the table's own.

    Returns
    -------
    ExactProof

    Raises
    ------
    TableError
        The table is not exact.
    InputError
        An epsilon that is not usable, or a promise of other knots.

    Example
    -------
    >>> from optldp import TabulatedMechanism, prove
    >>> matrix = [[0.75, 0.25], [0.25, 0.75]]
    >>> ends = [-5.0, 15.0]
    >>> proof = prove(TabulatedMechanism([0.0, 10.0], ends, ends, matrix, 1.1, exact=True))
    >>> proof.ok, proof.ratio, float(proof.slack), proof.bias
    (True, Fraction(3, 1), 0.004166023946433379, Fraction(0, 1))
    """
    require_numbers(table)
    law = table.within
    if not (table.exact and isinstance(law, RowFreeLaw)):
        raise TableError("a proof needs an exact table, got probabilities in doubles: make one with make_exact")
    promise = table.promise if epsilon is None else as_promise(epsilon)
    if misfit := promise.misfit(table.knots):
        raise InputError(misfit)
    found = evidence(promise, table.knots, table.numerators)
    knots = [Fraction(knot) for knot in table.knots.tolist()]
    means = law.exact_means(table.low, table.high)
    bias, knot = largest_distance(row_means(table.numerators, means), knots)
    width = knots[-1] - knots[0]
    failures = [found.fault] if found.fault else []
    if table.promise.holds_between_knots and not promise.holds_between_knots:
        failures.append(f"a table must promise {promise} itself to keep it, as it then takes no values between knots")
    if table.provenance.claims_unbiased and bias > (most := bias_limit(width, means)):
        failures.append(
            f"an exact table that claims to be unbiased must be so within {float(most / width):.3g} of the domain, "
            f"got {float(bias / width):.3e} at knot {knot}"
        )
    return ExactProof(
        ok=not failures,
        promise=promise,
        output=found.output,
        largest=found.largest,
        smallest=found.smallest,
        limit=found.limit,
        divergence=found.divergence,
        bias=bias,
        relative_bias=bias / width,
        failures=tuple(failures),
    )
