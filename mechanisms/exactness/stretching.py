"""Making room in a table that is tight everywhere: mix in a hair of one common law, and stretch the reports."""

from dataclasses import replace

from ..table.table import TabulatedMechanism


def stretched(table: TabulatedMechanism, share: float) -> TabulatedMechanism:
    """Return the table of the same means whose rows are (1 - share) of this one's and share of a law common to all.

    With q = (first row + last row) / 2 and c its mean, the probabilities are (1 - share) P + share q and a report y
    becomes (y - share c) / (1 - share). Every ratio falls, every mean stays, and the variance grows by a share of
    about two `share`.

    Parameters
    ----------
    table : TabulatedMechanism
        With a law within outputs that is the same for all rows.
    share : float
        In (0, 1).

    Example
    -------
    >>> from ..families.duchi import duchi
    >>> made = stretched(duchi([0.0, 10.0], 1.0), 0.01)
    >>> made.mean([2.5, 5.0, 10.0]).round(9).tolist(), made.probabilities.round(4).tolist()
    ([2.5, 5.0, 10.0], [[0.7287, 0.2713], [0.2713, 0.7287]])
    """
    common = (table.probabilities[0] + table.probabilities[-1]) / 2
    centre = float(common @ table.output_mean[0])
    mixed = replace(table, probabilities=(1 - share) * table.probabilities + share * common)
    origin = replace(table.provenance, parameters={**table.provenance.parameters, "stretched": share})
    return mixed.affine(1 / (1 - share), -share * centre / (1 - share)).with_provenance(origin)
