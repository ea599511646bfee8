"""A rational number proved to lie below e^epsilon: what integer proofs of privacy compare with."""

from fractions import Fraction

SCALE = 2**128
"""Denominator of the bound: it lies within 1e-36 of e^epsilon, far below one unit in 2^53 of a ratio."""


def exponential_below(epsilon: float | Fraction) -> Fraction:
    r"""Return p / 2^128 <= e^epsilon, by the Taylor series in whole numbers with every term rounded down.

    With epsilon = a / b exactly, term_0 = 2^128 and term_k = floor(term_{k-1} a / (b k)) <= 2^128 epsilon^k / k!;
    p is the sum of all terms that are not zero.

    Parameters
    ----------
    epsilon : float or Fraction
        Not negative; a double stands for the very fraction that it is.

    Returns
    -------
    Fraction
        Its denominator divides 2^128. The first omitted terms and the roundings cost less than 1e-36 e^epsilon.

    Example
    -------
    >>> float(exponential_below(1.0)), exponential_below(1.0) * 2**128
    (2.718281828459045, Fraction(924983374546220337150911035843336795063, 1))
    """
    a, b = epsilon.as_integer_ratio()
    total, term, k = 0, SCALE, 0
    while term:
        total, k = total + term, k + 1
        term = term * a // (b * k)
    return Fraction(total, SCALE)
