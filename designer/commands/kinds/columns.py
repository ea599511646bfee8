"""Reports of every kind of mechanism as columns of a file: what `perturb` writes, and `report_reading` reads.

| mechanism | columns of values | columns of reports |
|---|---|---|
| table | one of numbers | `report`: numbers |
| categories | one of labels | `report`: whole numbers, or the bits in hexadecimal digits |
| levels | one of either, one of budgets | `report` as above, `level`: the reported budget |
| key-value | one of keys, one of numbers | `report`: what is shown, as place:output |
| attributes | one of numbers for each, by its name | the same, empty where the attribute was not drawn |

Reports of a simulation have "simulated_" before the name of each of their columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....estimators.data.files import FilePath
from ....estimators.data.numbers import read_column, read_sparse_column
from ....estimators.data.simulated_columns import SIMULATED
from ....estimators.data.texts import read_texts
from ....mechanisms.categorical.mechanism import CategoricalMechanism
from ....mechanisms.composed.attributes import AttributeSampling
from ....mechanisms.composed.personalised import PersonalisedMechanism
from ....mechanisms.key_value.mechanism import KeyValueMechanism
from ....mechanisms.table.table import TabulatedMechanism

REPORT_COLUMN = "report"
LEVEL_COLUMN = "level"


@dataclass(frozen=True, eq=False)
class WrittenReports:
    """Reports of n users as columns.

    Attributes
    ----------
    columns : dict of str to (n,) ndarray
        Numbers or text.
    n : int
    clipped : int
        Values that were moved into the domain.
    """

    columns: dict[str, np.ndarray]
    n: int
    clipped: int = 0


def marked(columns: dict[str, np.ndarray], rng: np.random.Generator | None) -> dict[str, np.ndarray]:
    """Return columns of reports under the names that say whether a generator of a simulation drew them.

    Example
    -------
    >>> list(marked({"report": np.zeros(1)}, np.random.default_rng(1)))
    ['simulated_report']
    """
    return columns if rng is None else {SIMULATED + name: column for name, column in columns.items()}


def perturb_categories(
    mechanism: CategoricalMechanism, labels: np.ndarray, rng: np.random.Generator | None
) -> WrittenReports:
    """Perturb labels; InputError for unknown ones, with their count and the first."""
    return WrittenReports(marked({REPORT_COLUMN: _texts(mechanism, mechanism.sample(labels, rng))}, rng), labels.size)


def perturb_levels(
    mechanism: PersonalisedMechanism, values: np.ndarray, budgets: np.ndarray, rng: np.random.Generator | None
) -> WrittenReports:
    """Perturb values, each at the level of the user's own budget; InputError for budgets that are no level's."""
    sent = mechanism.sample(values, mechanism.level_numbers(budgets), rng)
    first = mechanism.levels[0]
    reports = sent.reports if isinstance(first, TabulatedMechanism) else _texts(first, sent.reports)
    columns = {REPORT_COLUMN: reports, LEVEL_COLUMN: np.array(mechanism.epsilons)[sent.levels]}
    return WrittenReports(marked(columns, rng), len(values))


def perturb_pairs(
    mechanism: KeyValueMechanism, data: FilePath, key_column: str, value_column: str, rng: np.random.Generator | None
) -> WrittenReports:
    """Perturb pairs, one a row; a row without both is a user who holds none.

    Raises InputError for values that are no numbers, for half a pair, and for what the mechanism refuses.
    """
    (keys,) = read_texts(data, [key_column])
    reports = mechanism.sample(keys, read_sparse_column(data, value_column), rng)
    return WrittenReports(marked({REPORT_COLUMN: np.array(mechanism.to_text(reports), dtype=object)}, rng), keys.size)


def perturb_attributes(
    mechanism: AttributeSampling, data: FilePath, rng: np.random.Generator | None, *, clip: bool
) -> WrittenReports:
    """Perturb the columns that the attributes are named after; InputError as `AttributeSampling.sample`."""
    values = {name: read_column(data, name) for name in mechanism.attributes}
    clipped = 0
    if clip:
        for name, table in zip(mechanism.attributes, mechanism.mechanisms, strict=True):
            values[name], moved = table.clip_to_domain(values[name])
            clipped += moved
    reports = marked(mechanism.sample(values, rng), rng)
    return WrittenReports(reports, len(values[mechanism.attributes[0]]), clipped)


def _texts(mechanism: CategoricalMechanism, reports: np.ndarray) -> np.ndarray:
    return np.array(mechanism.to_text(reports), dtype=object)
