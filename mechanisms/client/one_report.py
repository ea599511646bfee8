"""One client: its value, its domain and its budget are fixed before any server speaks to it; one report leaves it.

The place for the promise is the client itself.  A server chooses the table, and reads what comes back, errors too; so
a table is judged before the value is looked at, by what is public, and nothing that can go wrong later is told.
"""

from __future__ import annotations

import math
from typing import NoReturn

import numpy as np

from ..compact_tables.floor_and_windows import FloorForm
from ..errors import InputError
from ..promise import OfPairs, Promise
from ..sampling.domain import nearest_knots
from ..table.table import TabulatedMechanism
from .budget_token import BudgetToken, unproved


class OneReportClient:
    """One real client, which answers the first acceptable table once, by the operating system's randomness.

    The value is moved into the domain when the client is made, so the value never decides whether a report comes back.
    Where privacy is promised per unit it counts as the nearest knot.  A table is refused for its own properties alone:
    it has another domain or kind of promise, exceeds the budget, or is not exact or not proved.  Such a refusal spends
    nothing; any other failure spends the budget and reveals nothing else.  No error, copy, pickle or printout of a
    client holds the value.  Python hides nothing from code in the client's own process, so that code must be trusted
    with the value.

    Parameters
    ----------
    value : float
        Infinite ones are moved to the domain's end as others are.
    epsilon : float or Promise
        Budget that the client agreed to; a number means pure privacy, and pays for no other kind.
    domain : (float, float)
        Lowest and highest value that are reported on: public, and not chosen by the value. Tables must have it.

    Raises
    ------
    InputError
        A value that is no number (it is not named), an epsilon or a domain that is not usable.

    Example
    -------
    >>> from optldp.mechanisms import OneReportClient, duchi, make_exact
    >>> table = make_exact(duchi([0, 1], 1.0)).mechanism
    >>> client = OneReportClient(0.25, 1.0, domain=(0, 1))
    >>> client(table) in table.high
    True
    """

    __slots__ = ("__domain", "__held", "__token")

    def __init__(self, value: float, epsilon: Promise | float, *, domain: tuple[float, float]) -> None:
        held = _Held(value)
        del value  # so that no frame of an error's traceback shows it
        self.__token = BudgetToken(epsilon)
        self.__domain = checked_domain(domain)
        if not held.fits(self.__domain):
            raise InputError("a client's value must be a number, got none: who has none takes no part")
        self.__held = held

    @property
    def epsilon(self) -> float:
        """The budget that there is, or was."""
        return self.__token.epsilon

    @property
    def domain(self) -> tuple[float, float]:
        """What a table's domain must be."""
        return self.__domain

    @property
    def has_reported(self) -> bool:
        """Whether the budget is gone."""
        return self.__token.is_spent

    def __call__(self, mechanism: TabulatedMechanism | FloorForm) -> float:
        """Return the one report.

        Raises
        ------
        InputError
            A table that the client does not answer, or a second call; a failure to draw, which spends the budget.
        """
        require_answerable(mechanism, self.__domain)
        self.__token.spend(mechanism)
        report = self.__held.report(mechanism)
        if report is None:
            raise InputError(
                "a report must be drawn without a fault, got one that is not told, as it may depend on the value: the "
                "budget is spent, ask another client"
            )
        return report

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise InputError("a client must not be copied or pickled, as a copy would be a second budget")

    def __getstate__(self) -> NoReturn:
        self.__reduce_ex__(0)


class SimulatedClient:
    """A client of a simulation: as `OneReportClient`, but a numpy Generator draws its report, which protects nobody.

    Parameters
    ----------
    value, epsilon, domain
        As for `OneReportClient`.
    rng : numpy.random.Generator

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms import SimulatedClient, duchi, make_exact
    >>> table = make_exact(duchi([0, 1], 1.0)).mechanism
    >>> client = SimulatedClient(0.25, 1.0, domain=(0, 1), rng=np.random.default_rng(5))
    >>> round(client(table), 3), table.high.round(3)
    (1.582, array([-0.582,  1.582]))
    """

    def __init__(
        self, value: float, epsilon: Promise | float, *, domain: tuple[float, float], rng: np.random.Generator
    ) -> None:
        if not isinstance(rng, np.random.Generator):
            raise InputError(f"a simulation's rng must be a numpy.random.Generator, got {type(rng).__name__}")
        self._domain = checked_domain(domain)
        self._value = _clipped(value, self._domain)
        if math.isnan(self._value):
            raise InputError("a client's value must be a number, got none: who has none takes no part")
        self._token = BudgetToken(epsilon, owner="this simulated client")
        self._rng = rng

    def __call__(self, mechanism: TabulatedMechanism | FloorForm) -> float:
        """Return the one report; InputError as `OneReportClient`."""
        require_answerable(mechanism, self._domain)
        self._token.spend(mechanism)
        return float(mechanism.sample(_admitted(self._value, mechanism), self._rng)[0])


class _Held:
    """A value that no printout shows, and whatever fails near it fails without a word."""

    __slots__ = ("__number",)

    def __init__(self, value: object) -> None:
        self.__number = value

    def fits(self, domain: tuple[float, float]) -> bool:
        """Move the value into the domain; False where it is no number."""
        self.__number = _clipped(self.__number, domain)
        return not math.isnan(self.__number)

    def report(self, mechanism: TabulatedMechanism | FloorForm) -> float | None:
        """Draw a report by the operating system's generator; None where that fails."""
        failure = None
        try:
            return float(mechanism.sample(_admitted(self.__number, mechanism))[0])  # pyright: ignore[reportArgumentType] -- it fits
        except BaseException as error:
            failure = type(error)  # and not the error, whose traceback holds the value
        if failure in (KeyboardInterrupt, SystemExit):
            raise failure
        return None

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise InputError("a client's value must not be copied or pickled")

    def __getstate__(self) -> NoReturn:
        self.__reduce_ex__(0)


def _clipped(value: object, domain: tuple[float, float]) -> float:
    """The value as a number in the domain, NaN where it is no number; never an error, which could name it."""
    if isinstance(value, str | bytes | bytearray):
        return math.nan
    try:
        number = float(value)  # pyright: ignore[reportArgumentType] -- what is no number is caught
    except OverflowError:  # a whole number beyond all doubles
        number = math.inf if isinstance(value, int) and value > 0 else -math.inf
    except Exception:
        return math.nan
    return number if math.isnan(number) else min(max(number, domain[0]), domain[1])


def _admitted(value: float, mechanism: TabulatedMechanism | FloorForm) -> np.ndarray:
    """The value as a table takes it: where knots alone are private, as the nearest, so that no value is refused."""
    values = np.array([value], dtype=float)
    return values if mechanism.promise.holds_between_knots else nearest_knots(values, mechanism.knots)


def checked_domain(domain: tuple[float, float]) -> tuple[float, float]:
    """Return a domain as two finite floats, the lower first, or raise InputError.

    Example
    -------
    >>> checked_domain((0, 1))
    (0.0, 1.0)
    """
    try:
        low, high = (float(end) for end in domain)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"a client's domain must be two numbers, got {type(domain).__name__}") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"a client's domain must be finite and have low < high, got [{low:g}, {high:g}]")
    return low, high


def require_answerable(mechanism: TabulatedMechanism | FloorForm, domain: tuple[float, float]) -> None:
    """Raise InputError unless a client of this domain may answer the table, whatever its value is.

    Example
    -------
    >>> from optldp.mechanisms import duchi, make_exact
    >>> require_answerable(make_exact(duchi([0, 1], 1.0)).mechanism, (0.0, 1.0))
    """
    if type(mechanism) not in (TabulatedMechanism, FloorForm):
        raise InputError(f"a client must be asked through a table, got {type(mechanism).__name__}")
    if mechanism.domain != domain:
        raise InputError(
            f"a table must have the client's own domain, [{domain[0]:g}, {domain[1]:g}], got "
            f"[{mechanism.domain[0]:g}, {mechanism.domain[1]:g}]: nothing is reported, and nothing spent"
        )
    if isinstance(mechanism.promise, OfPairs) and mechanism.promise.size is not None:
        raise InputError(
            f"a client must be asked through a table for any value of its domain, got one that promises "
            f"{mechanism.promise}, of its knots alone: draw reports of these with a Sampler"
        )
    if unproved(mechanism, mechanism.promise):
        raise InputError(
            "a client must be asked through a table that is exact and proved to keep its promise, got one that is "
            "not: make it with make_exact(table).mechanism"
        )
