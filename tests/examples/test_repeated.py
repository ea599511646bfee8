"""Repetitions: a run that was stopped goes on with what it left behind."""

import itertools

import numpy as np
from redone.experiment.repeated import Scores, kept, repeat
from redone.experiment.script import Run


def made(run: Run) -> Scores:
    return repeat(run, [3], 4, lambda rng: {"one method": rng.random(), "another": rng.random()})


def test_scores_are_made_once_in_a_folder_and_each_time_without_one(tmp_path):
    """The same to the last bit, under the same names; a part that was written is nothing yet."""
    run, times = Run(False, None, tmp_path), []

    def make() -> Scores:
        times.append(len(times))
        return made(run)

    (tmp_path / "case.part").write_bytes(b"stopped here")
    first, again = kept(run, "case", make), kept(run, "case", make)
    assert times == [0]
    for name, values in made(run).values.items():
        np.testing.assert_array_equal(first.values[name], values)
        np.testing.assert_array_equal(again.values[name], values)
    assert [place.name for place in tmp_path.iterdir()] == ["case.npz"]
    bare = Run(False, None, None)
    assert [kept(bare, "case", make).mean("another") for _ in range(2)] == [first.mean("another")] * 2
    assert times == [0, 1, 2]


def test_reduced_runs_and_other_cases_are_kept_apart(tmp_path):
    numbers = itertools.count()
    cases = [(Run(quick, None, tmp_path), name) for quick in (False, True) for name in "ab"] * 2
    found = [kept(run, name, lambda: Scores([{"method": float(next(numbers))}])).mean("method") for run, name in cases]
    assert found == [0, 1, 2, 3] * 2


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
