"""How far the share of those who hold a key, and the mean of their values, may be off for n people, in a sentence."""

from __future__ import annotations

from dataclasses import replace

from ...estimators.intervals import CONFIDENCE
from ...estimators.key_values.error import key_errors
from ...mechanisms.key_value.mechanism import KeyValueMechanism
from .people import MeanWithin, mean_within


def pairs_within(
    mechanism: KeyValueMechanism, people: int, *, holders: int, what: str = "hold a key", confidence: float = CONFIDENCE
) -> MeanWithin:
    """Return how far both may be off, the mean if one in `holders` people holds the key, whatever their values.

    Parameters
    ----------
    mechanism : KeyValueMechanism
    people : int
        n, who are asked once each.
    holders : int
        The rarer a key, the less is known of its values: one person in so many holds it.
    what : str
        What they do who hold it, for the sentence.
    confidence : float

    Raises
    ------
    InputError
        Numbers out of range, or a value table that allows no unbiased mean.

    Source: `key_errors`, and the central limit theorem.

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> made = key_value_unary(["a", "b", "c", "d"], duchi([0.0, 60.0], 2.0), 2.0)
    >>> print(pairs_within(made, 20_000, holders=4))
    with 20,000 people: share of those who hold a key within 0.02254, mean of theirs within 2.728 (95%) if 1 in 4 hold \
a key, whatever their values
    """
    found = key_errors(mechanism, 1 / holders)
    mean = mean_within(
        people, found.mean, None, confidence=confidence, under=f"1 in {holders} {what}, whatever their values"
    )
    share = mean_within(people, None, found.share, confidence=confidence)
    return replace(mean, share_within=share.within, who=f"those who {what}")
