"""Regression when only labels are private: doctor visits, predicted from what an insurer knows anyway.

Whoever trains a model has the features of people (their plan, their health) and asks each for one private label, under
local differential privacy. Badanidiyuru et al. (NeurIPS 2023, arXiv 2312.05659) train on the reports of the best
unbiased table for the labels' prior, Ghazi et al. (ICLR 2023) on the least noisy labels, bias allowed, which are
randomised response on bins. Both are one call of `design`, with a bound that the papers' programs do not have. Unbiased
labels keep what a least-squares model tends to, E(label | features); biased ones pull every prediction to the middle.

The data ship inside statsmodels: 4,000 people stand for a published survey, from which tables are designed; 12,000
others report their labels; models are judged by the labels of the other 4,190.

Run: python examples/label_privacy.py [--epsilon 1 2 4] [--repeat 50]
"""

from __future__ import annotations

import argparse

import numpy as np
from optldp.designer import Prior, design
from optldp.designer.objectives import Loss
from optldp.mechanisms import TabulatedMechanism, laplace, make_exact, piecewise
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from statsmodels.datasets import randhie

MOST = 20
"""Visits that count in full."""

SURVEYED, TRAINED_ON = 4_000, 12_000


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="A model of doctor visits from private labels.")
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 2.0, 4.0], help="budgets (default 1 2 4)")
    parser.add_argument("--repeat", type=int, default=50, help="how often labels are reported anew (default 50)")
    options = parser.parse_args(arguments)
    run(options.epsilon, options.repeat)


def run(epsilons: list[float], repeat: int) -> None:
    rng = np.random.default_rng(1)  # seeded, so a simulation: without it reports would be for real
    features, visits = data(rng)
    survey, asked = visits[:SURVEYED], visits[SURVEYED : SURVEYED + TRAINED_ON]
    known, features = features[SURVEYED : SURVEYED + TRAINED_ON], features[SURVEYED + TRAINED_ON :]
    truth = visits[SURVEYED + TRAINED_ON :]
    knots = np.arange(MOST + 1.0)
    prior = Prior.from_data(survey, knots=knots.size, domain=(0, MOST), source="public", units="visits")

    def error(labels: np.ndarray) -> tuple[float, float]:
        """Squared error of the model of these labels, and the standard deviation of what it predicts."""
        predicted = model().fit(known, labels).predict(features)
        return float(np.mean((predicted - truth) ** 2)), float(predicted.std())

    least, spread = error(asked)
    most = float(np.mean((asked.mean() - truth) ** 2))
    print(
        f"Doctor visits of {truth.size:,} people, predicted from {features.shape[1]} features and {asked.size:,} labels"
    )
    print(f"  squared error {least:.2f} by labels as they are, {most:.2f} by their mean alone")
    for epsilon in epsilons:
        print(f"\nepsilon {epsilon:g}                        label     bound     model    kept  spread")
        for name, (table, bound) in tables(prior, epsilon).items():
            label = prior.weights @ (table.knot_variances + table.knot_bias**2)
            reported = (table.sample(asked, rng) for _ in range(repeat))
            errors, spreads = np.mean([error(labels) for labels in reported], axis=0)
            kept = (most - errors) / (most - least)
            print(f"  {name:20}{label:16.2f}{bound:>10}{errors:10.2f}{kept:8.0%}{spreads / spread:8.2f}")
    print(
        "\nlabel: squared error of a label under the survey's prior; bound: no unbiased label, or none at all, has less"
    )
    print("model: squared error of predictions; kept: of what labels as they are gain over their mean")
    print("spread: how far predictions lie apart, against that model's")


def tables(prior: Prior, epsilon: float) -> dict[str, tuple[TabulatedMechanism, str]]:
    """Return tables by what to call them, with the bound on the error of a label where one is known."""
    unbiased = design(prior, epsilon, uniform_share=0.0)  # what is shown is of this prior
    biased = design(
        prior, epsilon, objective=Loss("squared"), uniform_share=0.0, outputs=np.linspace(0, MOST, 8 * MOST + 1)
    )
    return {
        "best unbiased": (unbiased.mechanism, f"{unbiased.bound:.2f}"),
        "least error": (biased.mechanism, f"{biased.bound:.2f}"),
        "piecewise": (make_exact(piecewise(prior.knots, epsilon)).mechanism, ""),
        "Laplace": (make_exact(laplace(prior.knots, epsilon)).mechanism, ""),
    }


def data(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return features (n, 9) and visits (n,), of at most `MOST`, in an order that no row knows of."""
    people = randhie.load_pandas().data
    assert people is not None  # for type checkers: statsmodels leaves it open
    people = people.iloc[rng.permutation(len(people))]
    return people.drop(columns="mdvis").to_numpy(float), people["mdvis"].to_numpy(float).clip(0, MOST)


def model() -> Pipeline:
    return make_pipeline(StandardScaler(), LinearRegression())


if __name__ == "__main__":
    main()
