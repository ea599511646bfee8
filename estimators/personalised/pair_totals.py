r"""How many users hold each key and what their values sum to, of reports at several levels: an average of reports.

What is seen of a key is a report of the level, r, and a symbol s at the key's place: nothing, or an output. With rho
the shares of the levels, f the share of the users who sampled the key and F the distribution of their values, it has
the probability

    sum_i rho_i T[i, r] ((1 - f) E_i(s) + f sum_v F(v) H_i(s | v)),

T[i, r] the probability that level i is reported so, H_i and E_i the laws of level i where the key is held, and where it
is not. A decoder is a number g(r, s) whose average over the users is unbiased for f, or for f times the mean value u on
[-1, 1].

- *Levels in the clear.* g is what PCKV's estimate of each level adds, times a weight of the level: the inverse of the
  variance that a user of the level adds, exact for a key that one in K users sampled, with values evenly on the knots.
  Frequencies and means have weights of their own. No weight depends on a report, so all is unbiased.
- *Levels protected.* g has the least variance, for the same key, among those that are unbiased for the mixture of all
  levels with the estimated shares, and whose average over the users of any one level is affine in the value. So it is
  unbiased up to the noise of the shares, which standard errors count.

To first order a user adds psi(r, s) = g(r, s) - sum_i D[r, i] mu_i, D the decoder of the level's report and mu_i the
average of g over users of level i: in the clear the deviation from the own level's average, else also what the shares'
noise does. The covariance is that of the average of psi over the users.
"""

from __future__ import annotations

import numpy as np

from ...mechanisms.combinators.personalised import PersonalisedMechanism
from ...mechanisms.errors import InputError
from ...mechanisms.table.unit_interval import UnitInterval
from ..input_grid import InputGrid
from ..key_values.likelihood import key_law
from ..key_values.published import KeyTotals, contributions
from ..means.decoding import plain_decoder
from .estimate import shares_of_reports

BIASED = 1e-8
"""Bias of a decoder, as a share of the domain's half-width, that is more than rounding."""


def pair_totals(mechanism: PersonalisedMechanism, seen: np.ndarray) -> KeyTotals:
    """Return the totals of what (K, r, 1 + m) was seen at each key under each report of a level, of two users at least.

    Raises InputError where nothing unbiased can be had.
    """
    by_level = seen[0].sum(axis=1)
    shares, n = shares_of_reports(mechanism, by_level).value, int(by_level.sum())
    clear = mechanism.level_epsilon is None
    decoders = published_decoders(mechanism, shares) if clear else mixture_decoders(mechanism, shares)
    holders, users, sums = np.einsum("drs,krs->dk", decoders, seen) / n
    affine = averages_by_level(mechanism, decoders)  # (3, t, 3)
    ones = np.ones(users.size)
    own = np.stack([np.stack([ones, f, sums]) for f in (holders, users, users)])  # (3, 3, K)
    told = np.einsum("ri,dia,dak->kdr", mechanism.level_report.decoder, affine, own)
    moved = decoders - told[:, :, :, None]  # psi (K, 3, r, 1 + m)
    products = np.einsum("krs,kdrs,kers->dek", seen, moved, moved) * n / (n - 1)
    covariance = np.stack([products[1, 1], products[1, 2], products[2, 2]])
    return KeyTotals(n * holders, products[0, 0], n * np.stack([users, sums]), covariance)


def laws_of_keys(mechanism: PersonalisedMechanism) -> np.ndarray:
    """Return the laws (t, J + 1, 1 + m) of what is shown at a key, held with the value of each knot, or not held."""
    grid = InputGrid.knots(mechanism.levels[0].value.knots)  # of all levels
    return np.stack([key_law(level, grid) for level in mechanism.levels])


def _unit_knots(mechanism: PersonalisedMechanism) -> np.ndarray:
    return UnitInterval.of(mechanism.levels[0].value.domain).places(mechanism.levels[0].value.knots)


def published_decoders(mechanism: PersonalisedMechanism, shares: np.ndarray) -> np.ndarray:
    """Return decoders (3, t, 1 + m) of levels in the clear for frequencies, and for the means' number and sum.

    Parameters
    ----------
    mechanism : PersonalisedMechanism
    shares : (t,) ndarray
        Of the users, summing to one; those of levels without a report are zero.

    Raises
    ------
    InputError
        Value tables that no unbiased mean can be had from.

    Source: Gu et al. (2020), for the estimate of each level.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> made = PersonalisedMechanism([key_value_unary(["a", "b"], duchi([0.0, 1.0], e), e) for e in (0.5, 1.0)])
    >>> published_decoders(made, np.array([0.5, 0.5]))[0].round(2)
    array([[-2.16,  2.85,  2.85],
           [-3.84,  7.14,  7.14]])
    """
    unit, knots, laws = (
        UnitInterval.of(mechanism.levels[0].value.domain),
        _unit_knots(mechanism)[:, None],
        laws_of_keys(mechanism),
    )
    share, decoders, weights = 1.0 / len(mechanism.levels[0].keys), [], []
    for level, law in zip(mechanism.levels, laws, strict=True):
        shown, hidden, holds = contributions(level, unit.places(plain_decoder(level.value)))
        numbers, sums = np.append(holds[1], np.full(shown.size, holds[0])), np.append(hidden, shown)
        held = share * law[:-1] + (1 - share) * law[-1]  # by the value of those who hold it
        of_frequency = float((held @ numbers**2).mean()) - share**2
        of_mean = float((held * (sums - knots * numbers) ** 2).sum(axis=1).mean())
        decoders.append([numbers, numbers, sums])
        weights.append([1 / of_frequency, 1 / of_mean, 1 / of_mean])
    often = np.array(weights) / (shares @ weights)  # (t, 3)
    return often.T[:, :, None] * np.swapaxes(decoders, 0, 1)


def mixture_decoders(mechanism: PersonalisedMechanism, shares: np.ndarray) -> np.ndarray:
    """Return decoders (3, r, 1 + m) of levels that are protected; the first two are the same.

    Parameters
    ----------
    mechanism : PersonalisedMechanism
        t levels, r reports of them.
    shares : (t,) ndarray
        Unbiased ones of the users, summing to one.

    Raises
    ------
    InputError
        Shares or value tables for which nothing is unbiased.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> made = PersonalisedMechanism([key_value_unary(["a", "b"], duchi([0.0, 1.0], e), e) for e in (0.5, 1.0)], 0.1)
    >>> mixture_decoders(made, np.array([0.5, 0.5]))[1].round(2)
    array([[-3.48,  5.44,  5.44],
           [-3.61,  5.65,  5.65]])
    """
    laws, response, knots = laws_of_keys(mechanism), mechanism.level_response, _unit_knots(mechanism)
    many, size = len(laws), knots.size
    basis = np.stack([np.ones(size), knots], axis=1)
    affine, curved = np.linalg.pinv(basis), np.linalg.svd(basis)[0][:, 2:].T  # (2, J), (J - 2, J)
    more = laws[:, :-1] - laws[:, -1:]  # what holding the key adds, (t, J, 1 + m)
    cells = np.einsum("ir,ijs->ijrs", response, more).reshape(many, size, -1)
    elsewhere = np.einsum("ir,is->irs", response, laws[:, -1]).reshape(many, -1)
    rows = np.vstack([np.vstack(list(curved @ cells)), affine @ np.tensordot(shares, cells, 1), shares @ elsewhere])
    wanted = np.zeros((len(rows), 2))
    wanted[-3, 0] = wanted[-2, 1] = 1.0
    held = np.maximum(shares, 0.0) / np.maximum(shares, 0.0).sum()
    often = held @ (elsewhere + cells.mean(axis=1) / len(mechanism.levels[0].keys))
    scale = np.where(often > 0, 1.0 / np.sqrt(np.where(often > 0, often, 1.0)), 0.0)
    found = scale[:, None] * np.linalg.lstsq(rows * scale, wanted, rcond=None)[0]
    if not np.abs(rows @ found - wanted).max() <= BIASED:
        raise InputError(
            "reports at these levels must tell keys and values apart, got ones from which nothing unbiased can be had: "
            "use method em"
        )
    number, total = found.T.reshape(2, *response.shape[1:], -1)
    return np.stack([number, number, total])


def averages_by_level(mechanism: PersonalisedMechanism, decoders: np.ndarray) -> np.ndarray:
    """Return (d, t, 3) what decoders (d, r, 1 + m) average over a level's users: a constant, times f, times the sum."""
    laws, knots = laws_of_keys(mechanism), _unit_knots(mechanism)
    told = np.einsum("ir,drs,ijs->dij", mechanism.level_response, decoders, laws)  # (d, t, J + 1)
    affine = np.linalg.pinv(np.stack([np.ones(knots.size), knots], axis=1))
    return np.concatenate([told[:, :, -1:], (told[:, :, :-1] - told[:, :, -1:]) @ affine.T], axis=2)
