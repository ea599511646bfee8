"""What a mechanism is: tables, the families that become tables, sampling, verification, and the file format.

Everything here turns on one noun, `TabulatedMechanism`: input knots, outputs (points or cells) and the
probability of each output at each knot. A value between knots is rounded at random to a neighbour, so what
holds at the knots, privacy and unbiasedness above all, holds on the whole domain.

- Families (`FAMILIES`: Laplace, Duchi, piecewise, ...) become tables by exact integration, not by sampling or
  quadrature. Where a density varies inside a cell, the table's law within the cell draws from it exactly.
- `verify` never asks how a table was made. It recomputes row sums, the largest log-ratio, bias and variances
  from the numbers, and allows the ratio no tolerance at all: families are built a hair below their budget. Its verdict
  is "proved" for exact tables alone.
- `make_exact` rounds probabilities to whole numbers over 2^53, giving up utility and never privacy; `prove` then shows
  privacy by integer arithmetic alone, and reports are drawn by integers from the operating system's generator.
- Categories have mechanisms of their own (`CategoricalMechanism`): tables, and structures whose table would be too
  large to write down, unary encodings, subset selection, local hashing and projective geometry. What is one document
  without being one table is a `Bundle`.
- `save_table` and `save_bundle` write only what is proved, whole or not at all; `load_mechanism` trusts nothing that
  it reads. Tables in doubles are for research, behind an argument that says so.

This folder needs numpy alone: a client that only perturbs its data needs no solver.
"""

from .lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)  # pyright: ignore[reportUnsupportedDunderAll] -- the stub has it
