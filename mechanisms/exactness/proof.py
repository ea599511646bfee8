"""The proof that an exact table is private: by whole numbers alone, with the facts that an auditor can recheck."""

import math
from dataclasses import dataclass
from fractions import Fraction

from ..budget import check_epsilon
from ..errors import TableError
from ..integers.exponential import exponential_below
from ..integers.numerators import row_means, tightest_output
from ..laws.law import RowFreeLaw
from ..table.exact_rounding import bias_limit, largest_distance
from ..table.table import TabulatedMechanism


@dataclass(frozen=True)
class ExactProof:
    """What `prove` found; every number is exact.

    Attributes
    ----------
    ok : bool
        Whether there are no failures.
    epsilon : float
        The budget claimed, which stands for the very fraction that the double is.
    output : int
        The tightest output: the one of largest ratio.
    largest, smallest : int
        Its largest and smallest numerator over 2^53.
    limit : Fraction
        A number proved to be at most e^epsilon.
    bias : Fraction
        Largest distance between a knot and the mean of its reports; input units.
    relative_bias : Fraction
        The same as a share of the domain.
    failures : tuple of str
        Each broken requirement, with where and how much.
    """

    ok: bool
    epsilon: float
    output: int
    largest: int
    smallest: int
    limit: Fraction
    bias: Fraction
    relative_bias: Fraction
    failures: tuple[str, ...]

    @property
    def ratio(self) -> Fraction | None:
        """largest / smallest in lowest terms; None where the smallest is zero and the ratio thus infinite."""
        return Fraction(self.largest, self.smallest) if self.smallest else None

    @property
    def slack(self) -> Fraction | None:
        """limit - ratio, not negative for a private table; None for an infinite ratio."""
        return None if self.ratio is None else self.limit - self.ratio


def prove(table: TabulatedMechanism, *, epsilon: float | None = None) -> ExactProof:
    """Prove by whole numbers that an exact table is private and, if it claims so, unbiased; or say what fails.

    For every output, largest numerator <= L * smallest numerator with a rational L <= e^epsilon.  Between knots the
    law is a mixture of two rows, so what holds at the knots holds everywhere.

    Parameters
    ----------
    table : TabulatedMechanism
        With ``exact=True``: its rows sum to 2^53, as was checked when it was made.
    epsilon : float, optional
        The budget to prove; the one that the table claims by default.

    Returns
    -------
    ExactProof

    Raises
    ------
    TableError
        The table is not exact.
    InputError
        An epsilon that is not usable.

    Example
    -------
    >>> matrix = [[0.75, 0.25], [0.25, 0.75]]
    >>> ends = [-5.0, 15.0]
    >>> proof = prove(TabulatedMechanism([0.0, 10.0], ends, ends, matrix, 1.1, exact=True))
    >>> proof.ok, proof.ratio, float(proof.slack), proof.bias
    (True, Fraction(3, 1), 0.004166023946433379, Fraction(0, 1))
    """
    law = table.within
    if not (table.exact and isinstance(law, RowFreeLaw)):
        raise TableError("a proof needs an exact table, got probabilities in doubles: make one with make_exact")
    budget = table.epsilon if epsilon is None else check_epsilon(epsilon)
    limit = exponential_below(budget)
    tightest, largest, smallest = tightest_output(table.numerators)
    knots = [Fraction(knot) for knot in table.knots.tolist()]
    means = law.exact_means(table.low, table.high)
    bias, knot = largest_distance(row_means(table.numerators, means), knots)
    width = knots[-1] - knots[0]
    failures = []
    if largest * limit.denominator > limit.numerator * smallest:
        logarithm = math.log1p((largest - smallest) / smallest) if smallest else math.inf
        failures.append(
            f"the log-ratio must be at most {budget:g}, got {logarithm} at output {tightest}: {largest} / {smallest}"
        )
    if table.provenance.claims_unbiased and bias > (most := bias_limit(width, means)):
        failures.append(
            f"an exact table that claims to be unbiased must be so within {float(most / width):.3g} of the domain, "
            f"got {float(bias / width):.3e} at knot {knot}"
        )
    return ExactProof(
        ok=not failures,
        epsilon=budget,
        output=tightest,
        largest=largest,
        smallest=smallest,
        limit=limit,
        bias=bias,
        relative_bias=bias / width,
        failures=tuple(failures),
    )
