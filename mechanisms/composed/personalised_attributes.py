"""Several attributes at budgets of the users' own: some are drawn and reported at the level that the user chose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..laws.law import Words
from .attributes import AttributeSampling, naming
from .levelled import Levelled, PersonalisedReports, require_alike
from .personalised import PersonalisedMechanism

LEVEL_COLUMN = "level"
"""What stands beside the attributes' reports, so that none of them may have its name."""


@dataclass(frozen=True, eq=False, init=False, repr=False)
class PersonalisedAttributes(Levelled[AttributeSampling]):
    """t mechanisms for the same d attributes, of increasing budgets, and a report of which of them was used.

    A user of level i reports k attributes through the i-th mechanism. As the draw of the attributes depends neither on
    values nor on levels, those who have drawn one are a random share of all users, and their reports on it are what
    `of_attribute` would have given alone. What is promised is said at `PersonalisedMechanism`; `level_leakage` is that
    of the k attributes that tell most of the level, together with the level's own report.

    Parameters
    ----------
    levels : sequence of AttributeSampling
        2 to 256 with strictly increasing epsilons, in all and for each attribute: of the same attributes in the same
        order, on the same domains in the same units, of which as many are drawn. None may be named "level".
    level_epsilon : float, optional
        Budget of the level's own report, by randomised response. None: levels are reported in the clear.
    level_mechanism : CategoricalMechanism, optional
        Of as many categories as levels: another protocol for the level's report, in place of `level_epsilon`.

    Raises
    ------
    InputError
        Levels that are too few or many, not in order, or do not match; a budget or a name that is not usable.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import AttributeSampling, make_exact
    >>> from optldp.mechanisms import duchi
    >>> from optldp.mechanisms.composed import PersonalisedAttributes
    >>> def at(epsilon):
    ...     tables = [make_exact(duchi(ends, epsilon)).mechanism for ends in ([18, 90], [0, 80])]
    ...     return AttributeSampling(["age", "hours"], tables, 1, epsilon)
    >>> made = PersonalisedAttributes([at(0.5), at(1.0)])
    >>> sent = made.sample({"age": [20, 64, 33], "hours": [40, 0, 35]}, [0, 1, 1])
    >>> sent.levels, np.isnan(sent.reports).sum(axis=1)
    (array([0, 1, 1]), array([1, 1, 1]))
    """

    kind: ClassVar[str] = "personalised-attributes"

    def _check_kinds(self) -> None:
        for level in self.levels:
            if not isinstance(level, AttributeSampling):
                raise InputError(f"levels must be mechanisms for attributes, got {level!r:.60}")

    def _check_match(self) -> None:
        first, *others = self.levels
        for other in others:
            mine, theirs = ((level.attributes, level.sampled) for level in (first, other))
            require_alike(("attributes", "numbers of sampled attributes"), mine, theirs)
        require_names_beside_levels(self.attributes)
        for name in self.attributes:
            with naming(name):
                self._tables_of(name)

    def _places(self) -> int:
        return sum(table.low.size for level in self.levels for table in level.mechanisms)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return self.levels[0].attributes

    @property
    def sampled(self) -> int:
        """k, how many a user reports, at every level."""
        return self.levels[0].sampled

    @cached_property
    def by_attribute(self) -> Mapping[str, PersonalisedMechanism]:
        """For each attribute, its tables of all levels with the same report of the level."""
        return {name: self.of_attribute(name) for name in self.attributes}

    def of_attribute(self, name: str) -> PersonalisedMechanism:
        """Return one attribute's tables of all levels with the same report of the level; InputError for another name.

        Their budgets are what a report of this attribute spends, not the levels'.
        """
        if name not in self.attributes:
            raise InputError(f"attributes are {', '.join(self.attributes)}, got {name!r:.60}")
        if self.level_mechanism is not None:
            return PersonalisedMechanism(self._tables_of(name).tables, level_mechanism=self.level_mechanism)
        return PersonalisedMechanism(self._tables_of(name).tables, self.level_epsilon)

    def _tables_of(self, name: str) -> PersonalisedMechanism:
        place = self.attributes.index(name)
        return PersonalisedMechanism([level.mechanisms[place] for level in self.levels])

    def sample(
        self,
        values: Mapping[str, ArrayLike] | ArrayLike,
        levels: ArrayLike,
        rng: np.random.Generator | None = None,
        *,
        clip: bool = False,
    ) -> PersonalisedReports:
        """Draw the reports of each user: by the operating system's generator, or as a simulation.

        Parameters
        ----------
        values : mapping of str to (N,) array_like, or (N, d) array_like
            Every attribute of every user; see `AttributeSampling.sample`.
        levels : (N,) array_like of int
            The number of the level that each user chose, from 0, the most private; see `level_numbers`.
        rng : numpy.random.Generator, optional
            For simulations only: whoever knows its seed can undo the noise.
        clip : bool
            Move values outside a domain to its nearer end, and warn with their count, instead of raising.

        Returns
        -------
        PersonalisedReports
            Reports (N, d), NaN where an attribute was not drawn.

        Raises
        ------
        InputError
            Attributes missing, unknown or of different lengths, values outside a domain, unknown levels, or lists of
            different lengths.
        """
        inputs = np.column_stack(self.levels[0].admitted(values, clip=clip))

        def draw(level: AttributeSampling, users: np.ndarray, words: Words) -> np.ndarray:
            return np.column_stack(list(level.sample(inputs[users], rng).values()))

        return self._reported(len(inputs), levels, rng, draw)


def require_names_beside_levels(attributes: Iterable[str]) -> None:
    """Raise InputError if an attribute has the name of the column that tells the level."""
    if LEVEL_COLUMN in attributes:
        raise InputError(f"an attribute must not be named {LEVEL_COLUMN!r}, as the column of levels is: rename it")
