"""Labels of a regression that alone are private: the programs of two papers, and ours for the same labels."""

import itertools

import numpy as np
from measured import Cell, Table, timed
from optldp.designer import Prior, design
from optldp.designer.objectives import Loss

from designs.derived_rivals import all_pairs

TITLE = "Private labels, beside the papers on label privacy"
ABOUT = (
    "Labels are doctor visits, 0 to 20, as the 20,190 people of `statsmodels.datasets.randhie` have them (the papers' "
    "own data are not free). A number is the expected squared error of one reported label under that prior. "
    "**Unbiased**: Badanidiyuru et al. (NeurIPS 2023) state a linear program over the labels and a grid of outputs, "
    "with a row for each pair of labels and output; HiGHS solves it here for 101 outputs. Ours places the outputs "
    "itself, and its bound holds for all unbiased reports of these labels. Laplace and the staircase noise of Geng and "
    "Viswanath, which they compare with, stand beside it."
)
BIASED = (
    "**Biased**: Ghazi et al. (ICLR 2023) prove that randomised response on bins is the best, and find the bins by a "
    "dynamic program. Ours knows nothing of bins; its outputs are those of their bins and 161 at equal distances. "
    "Models trained on such labels are in `python examples/label_privacy.py`."
)
MOST, EPSILONS = 20, (0.5, 1.0, 2.0, 4.0)


def run() -> list[Table]:
    columns = {"epsilon": "g", "Laplace": ".2f", "staircase": ".2f", "LP on 101 outputs": ".4f", "s": ".1f"}
    columns |= {"ours": ".4f", "bound": ".4f", "s, ours": ".2f"}
    biased = {
        "epsilon": "g",
        "bins": "",
        "RR on bins": ".6f",
        "s": ".2f",
        "ours": ".6f",
        "bound": ".6f",
        "s, ours": ".2f",
    }
    prior = visits()
    return [
        Table(columns, [_unbiased(prior, each) for each in EPSILONS], ABOUT),
        Table(biased, [_biased(prior, each) for each in EPSILONS], BIASED),
    ]


def visits() -> Prior:
    from statsmodels.datasets import randhie  # an extra, `examples`, that no other part needs

    people = randhie.load_pandas().data
    assert people is not None
    count = np.bincount(people["mdvis"].to_numpy(float).clip(0, MOST).astype(int), minlength=MOST + 1)
    return Prior.on_knots(np.arange(MOST + 1.0), count, source="public")


def _unbiased(prior: Prior, epsilon: float) -> tuple[Cell, ...]:
    labels, E = prior.knots, np.exp(epsilon)
    reach = MOST * (0.5 + 0.8 * (E + 1) / (E - 1))  # reports of two outputs alone reach 0.5 (E + 1) / (E - 1)
    outputs = MOST / 2 + np.linspace(-reach, reach, 101)
    logs = np.full((labels.size, labels.size), epsilon)
    losses = (outputs - labels[:, None]) ** 2
    theirs, seconds = timed(lambda: all_pairs(losses, logs, prior.weights, means=(labels, outputs)))
    made, ours = timed(lambda: design(prior, epsilon, uniform_share=0.0))
    laplace = 2 * (MOST / epsilon) ** 2
    return epsilon, laplace, staircase(MOST, epsilon), theirs, seconds, made.value, made.bound, ours


def _biased(prior: Prior, epsilon: float) -> tuple[Cell, ...]:
    (outputs, theirs), seconds = timed(lambda: on_bins(prior.knots, prior.weights, epsilon))
    given = np.union1d(outputs, np.linspace(0, MOST, 8 * MOST + 1))
    made, ours = timed(lambda: design(prior, epsilon, objective=Loss("squared"), outputs=given, uniform_share=0.0))
    return epsilon, outputs.size, theirs, seconds, made.value, made.bound, ours


def staircase(width: float, epsilon: float) -> float:
    """Return the least variance of staircase noise: Geng and Viswanath (2014), theorem 7."""
    b = np.exp(-epsilon)
    return float(width**2 * ((b * (1 + b) / 2) ** (2 / 3) + b) / (1 - b) ** 2)


def on_bins(labels: np.ndarray, prior: np.ndarray, epsilon: float) -> tuple[np.ndarray, float]:
    """Return the outputs and the expected squared error of the best randomised response on bins of labels.

    With k outputs the error is sum_y p_y [(E - 1) (f(y) - y)^2 + sum_j (o_j - y)^2] / (E + k - 1), f(y) the output of
    y's bin: a sum over bins, intervals of labels, of which a dynamic program finds the least for each k.
    """
    n, E = labels.size, np.exp(epsilon)
    cost, place = np.full((n + 1, n + 1), np.inf), np.zeros((n + 1, n + 1))
    for first in range(n):
        for last in range(first + 1, n + 1):
            weights = prior + (E - 1) * prior * ((np.arange(n) >= first) & (np.arange(n) < last))
            place[first, last] = weights @ labels / weights.sum()
            cost[first, last] = weights @ (labels - place[first, last]) ** 2
    least, cuts = cost[0], [np.zeros(n + 1, dtype=int)]
    best = least[n] / E, 1
    for k in range(2, n + 1):
        through = least[:, None] + cost
        least = through.min(0)
        cuts.append(through.argmin(0))
        best = min(best, (float(least[n]) / (E + k - 1), k))
    ends = [n]
    for k in range(best[1], 0, -1):
        ends.append(int(cuts[k - 1][ends[-1]]))
    return np.array([place[a, b] for b, a in itertools.pairwise(ends)][::-1]), float(best[0])
