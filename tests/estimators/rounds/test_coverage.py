"""Two weeks and four through a ledger, estimated: intervals hold whether values change or not."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from optldp.estimators import count, estimate_combined_mean, estimate_distribution
from optldp.mechanisms import InputError, make_exact, square_wave
from optldp.mechanisms.ledger import Ledger, new_ledger_key
from scipy import stats

USERS, COLLECTIONS = 400, 12
VALUES = stats.beta(2, 5, scale=40)
TABLE = make_exact(square_wave(np.linspace(0, 40, 41), 2.0)).mechanism
MISSED = 3
"""Of 12 collections those that 95% intervals may miss: more have a chance of 0.2%."""


def collected(
    folder: Path, rng: np.random.Generator, weeks: int, changed: float, *, fresh: bool, size: int = USERS
) -> list[dict[str, np.ndarray]]:
    """The reports of each week, as `perturb --ledger` writes them: the same value has the same report again."""
    ledger = Ledger.create(folder / f"{rng.integers(2**60)}.ledger", new_ledger_key(), budget=2.0 * weeks)
    users = [f"u{number}" for number in range(size)]
    values, files = VALUES.rvs(size, random_state=rng), []
    for week in range(weeks):
        if week:
            values = np.where(rng.random(size) < changed, VALUES.rvs(size, random_state=rng), values)
        reports = TABLE.sample(values) if fresh else ledger.reports(TABLE, users, values.tolist()).reports
        files.append({"user": np.array(users), "report": np.asarray(reports, dtype=float)})
    return files


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("weeks", "changed", "fresh"), [(2, 0.3, False), (2, 0.3, True), (4, 0.0, False), (4, 0.3, False)]
)
def test_intervals_of_rounds_cover_the_average_of_the_weeks(tmp_path, weeks, changed, fresh):
    rng = np.random.default_rng([weeks, int(10 * changed), fresh])
    missed: Counter[str] = Counter()
    lengths = []
    for _ in range(COLLECTIONS):
        files = collected(tmp_path, rng, weeks, changed, fresh=fresh)
        sources = [(f"week {number}", TABLE, one) for number, one in enumerate(files)]
        if not fresh:
            with pytest.raises(InputError, match="--rounds"):
                estimate_distribution(count(sources, key="user"), method="em")
        counts = count(sources, key="user", rounds=True)
        fit = estimate_distribution(counts, method="em")
        found = {"mean": estimate_combined_mean(counts), "fit": fit.mean(), "share": fit.probability(8.0, 16.0)}
        truth = {"mean": VALUES.mean(), "fit": VALUES.mean(), "share": VALUES.cdf(16.0) - VALUES.cdf(8.0)}
        for name, one in found.items():
            missed[name] += not one.low <= truth[name] <= one.high
        lengths.append(
            found["mean"].std_error / np.sqrt(np.mean([own.std_error**2 for own in found["mean"].rounds.values()]))
        )
    assert max(missed.values(), default=0) <= MISSED, missed
    if changed == 0.0:
        assert np.allclose(lengths, 1.0)  # nothing new: as long as one week's
    else:
        assert 1 / np.sqrt(weeks) < np.mean(lengths) < 1.0


@pytest.mark.nightly
def test_taking_the_weeks_for_services_would_not_have_covered(tmp_path, monkeypatch):
    """What the refusal is for: the joint likelihood of the reports remembered by 2,000 people."""
    from optldp.estimators.distributions import estimation

    monkeypatch.setattr(estimation, "require_one_value", lambda counts: None)
    rng, missed = np.random.default_rng(9), 0
    for _ in range(6):
        files = collected(tmp_path, rng, 4, 0.0, fresh=False, size=5 * USERS)
        counts = count([(f"week {number}", TABLE, one) for number, one in enumerate(files)], key="user")
        found = estimate_distribution(counts, method="em").mean()
        missed += not found.low <= VALUES.mean() <= found.high
    assert missed >= 4
