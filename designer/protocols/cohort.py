"""Clients who each hold one value and one budget: the only way to a report is through a token.

Two kinds look alike from outside.  A `ValueCohort` holds an array of values, to simulate with, and perturbs all of
them at once.  A `ClientCohort` holds real clients, each a function that takes a table and returns its report, and
asks them one by one.  Neither gives its values away; both report once.  What a client does by itself, on a person's own
device, is in `mechanisms/client/one_report.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms import InputError, TabulatedMechanism
from ...mechanisms.client.budget_token import BudgetToken
from ...mechanisms.client.failures import ClientFailures, report_of
from ...mechanisms.combinators.rounded_oracle import RoundedOracle
from ...mechanisms.compact_tables.floor_and_windows import table_of
from ...mechanisms.sampling.domain import values_inside
from ..priors.checks import as_numbers

Client: TypeAlias = Callable[[TabulatedMechanism], float]
"""A real client: takes a table, perturbs its own value with its own randomness, and returns the report."""


Asked: TypeAlias = TabulatedMechanism | RoundedOracle
"""What a cohort can be asked through."""


class Cohort(ABC):
    """Clients of the same budget who report together, once.

    Parameters
    ----------
    n_clients : int
    token : BudgetToken
        The budget of each.
    """

    def __init__(self, n_clients: int, token: BudgetToken) -> None:
        self._n_clients = n_clients
        self._token = token

    @property
    def n_clients(self) -> int:
        """Number of clients."""
        return self._n_clients

    @property
    def epsilon(self) -> float:
        """Budget of each client."""
        return self._token.epsilon

    @property
    def has_reported(self) -> bool:
        """Whether the budget is gone: reported with, or handed on by `deal`."""
        return self._token.is_spent

    @property
    def failures(self) -> ClientFailures:
        """The clients who were asked and gave no report."""
        return ClientFailures()

    def report(self, mechanism: Asked, rng: np.random.Generator) -> np.ndarray:
        """Spend the budget on one report from each client.

        Parameters
        ----------
        mechanism : TabulatedMechanism or RoundedOracle
        rng : numpy.random.Generator
            For simulated clients; real ones have randomness of their own.

        Returns
        -------
        reports : (n, ...) ndarray
            n of the N clients: `failures` counts those who gave none. Floats, or what the oracle reports.

        Raises
        ------
        InputError
            A second report; a table that needs more than the budget, which is known without looking at a value and
            spends nothing; values outside its domain, which spend the budget all the same, since such a refusal says
            something about a value; no report from anyone.
        """
        self._token.spend(mechanism)
        return self._reports(mechanism, rng)

    def deal(self, n_first: int, rng: np.random.Generator) -> tuple[Cohort, Cohort]:
        """Divide the clients at random into so many and the rest, and hand each its budget on.

        Raises
        ------
        InputError
            A part without clients, or a budget that is spent.
        """
        if not 0 < n_first < self._n_clients:
            raise InputError(f"both parts must have clients, got {n_first} of {self._n_clients} for the first")
        order = rng.permutation(self._n_clients)
        tokens = self._token.pass_on(2)
        return self._part(order[:n_first], tokens[0]), self._part(order[n_first:], tokens[1])

    @abstractmethod
    def _reports(self, mechanism: Asked, rng: np.random.Generator) -> np.ndarray: ...

    @abstractmethod
    def _part(self, members: np.ndarray, token: BudgetToken) -> Cohort: ...


class ValueCohort(Cohort):
    """Simulated clients: an array of values, perturbed all at once.

    Parameters
    ----------
    values : (N,) array_like of float
        Finite; copied.
    epsilon : float
    domain : (float, float), optional
        Where all of them must lie: what any table would find out, said before anything is spent.

    Raises
    ------
    InputError
        No values, values that are not finite or outside the domain, an epsilon that is not usable.

    Example
    -------
    >>> from optldp.mechanisms import duchi, make_exact
    >>> cohort, table = ValueCohort([0.2, 0.4, 0.9], epsilon=1.0), make_exact(duchi([0, 1], 1.0)).mechanism
    >>> cohort.report(table, np.random.default_rng(1)).shape, cohort.has_reported
    ((3,), True)
    """

    def __init__(self, values: ArrayLike, epsilon: float, *, domain: tuple[float, float] | None = None) -> None:
        held = as_numbers(values, "values")
        if domain is not None:
            values_inside(held, *domain)
        self._hold(held, BudgetToken(epsilon, owner="these clients"))

    def _hold(self, values: np.ndarray, token: BudgetToken) -> None:
        super().__init__(values.size, token)
        self.__values = values

    def _reports(self, mechanism: Asked, rng: np.random.Generator) -> np.ndarray:
        return mechanism.sample(self.__values, rng)

    def _part(self, members: np.ndarray, token: BudgetToken) -> ValueCohort:
        part = ValueCohort.__new__(ValueCohort)
        part._hold(self.__values[members], token)
        return part


class ClientCohort(Cohort):
    """Real clients, asked one after the other.

    A client that raises, or returns an impossible report, loses its own report alone. It is counted in `failures`, and
    its budget is spent.  Failures that depend on values bias every estimate, which nothing corrects.

    Parameters
    ----------
    clients : sequence of callable
        Each takes a table and returns one report, such as `OneReportClient`.
    epsilon : float
        Budget that each of them agreed to.

    Raises
    ------
    InputError
        No clients, one that cannot be called, an epsilon that is not usable.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer import ClientCohort
    >>> from optldp.mechanisms import duchi, make_exact
    >>> clients = [lambda table: table.high[0], lambda table: table.high[1], lambda table: None]
    >>> cohort = ClientCohort(clients, epsilon=1.0)
    >>> cohort.report(make_exact(duchi([0, 1], 1.0)).mechanism, np.random.default_rng(1)).round(3)
    array([-0.582,  1.582])
    >>> print(cohort.failures)
    1 of 3 clients gave no report: client 3: NoneType is no number
    """

    def report(self, mechanism: Asked, rng: np.random.Generator) -> np.ndarray:
        """Ask every client once, as `Cohort.report` has it; InputError for anything but a table of numbers."""
        return super().report(table_of(mechanism, "what clients are asked through"), rng)

    def __init__(self, clients: Iterable[Client], epsilon: float) -> None:
        held = tuple(clients)
        if not held or not all(map(callable, held)):
            raise InputError(f"clients must be functions of a table, at least one, got {len(held)} objects")
        self._hold(held, np.arange(1, len(held) + 1), BudgetToken(epsilon, owner="these clients"))

    def _hold(self, clients: tuple[Client, ...], places: np.ndarray, token: BudgetToken) -> None:
        super().__init__(len(clients), token)
        self.__clients, self.__places, self.__failures = clients, places, ClientFailures()

    @property
    def failures(self) -> ClientFailures:
        """The clients who were asked and gave no report, by their places among all, from 1."""
        return self.__failures

    def _reports(self, mechanism: Asked, rng: np.random.Generator) -> np.ndarray:
        table = cast("TabulatedMechanism", mechanism)  # others were refused before anything was spent
        reports, failed = [], ClientFailures()
        for place, client in zip(self.__places.tolist(), self.__clients, strict=True):
            found = report_of(client, table)
            if isinstance(found, str):
                failed = failed.with_one(place, found)
            else:
                reports.append(found)
        self.__failures = failed.asked_of(len(self.__clients))
        if not reports:
            raise InputError(f"at least one client must report, got none: {self.__failures}")
        return np.array(reports)

    def _part(self, members: np.ndarray, token: BudgetToken) -> ClientCohort:
        part = ClientCohort.__new__(ClientCohort)
        part._hold(tuple(self.__clients[i] for i in members), self.__places[members], token)
        return part


def cohort_of(
    clients: ArrayLike | Sequence[Client] | Cohort, epsilon: float, domain: tuple[float, float] | None = None
) -> Cohort:
    """Return the cohort of an array of values or of a sequence of client functions; a cohort is one already.

    Example
    -------
    >>> cohort_of([0.5, 0.75], 1.0).n_clients
    2
    """
    if isinstance(clients, Cohort):
        return clients
    if isinstance(clients, Sequence) and len(clients) and callable(clients[0]):
        return ClientCohort(cast("Sequence[Client]", clients), epsilon)
    return ValueCohort(cast("ArrayLike", clients), epsilon, domain=domain)
