"""Repetitions: methods are compared on the same draws."""

import numpy as np
from redone.experiment.repeated import Scores


def test_methods_are_compared_within_a_repetition():
    """MR's error is a tenth above EM's in each: plain on pairs, and nothing beside how far repetitions are apart."""
    rng = np.random.default_rng(1)
    shared = rng.exponential(size=50)
    found = Scores(
        [{"EM": x, "MR": x + 0.1 + 0.01 * noise} for x, noise in zip(shared, rng.normal(size=50), strict=True)]
    )
    apart = (found.mean("EM") - found.mean("MR")) / np.hypot(found.error("EM"), found.error("MR"))
    assert found.lead("MR", "EM") < -20 < -1 < apart < 0
    assert found.lead("EM", "EM") == 0
