"""The researcher's day: what is the best possible, how far from it is each mechanism, under which objective."""

from __future__ import annotations

from .walk import Step

SMALL = "{file} --column {column} {range} --knots 7"

STEPS = [
    Step(
        f"bounds {SMALL} --epsilon 0.5,1 --method optimal --method duchi --n {{n}} --confidence 0.9",
        says=("Least variances of one report", "(90%)"),
    ),
    Step(f"compare {SMALL} --epsilon 1 --n {{n}}", sense=lambda told: _no_better(told["rows"])),
    Step(
        f"compare {SMALL} --epsilon 1 --method optimal --method duchi --method laplace --n {{n}} --objective error "
        "--objective robust --ambiguity tv --radius 0.1",
        says=("its reports are biased, so that their variance is not their error",),
        sense=lambda told: _no_better(told["rows"]),
    ),
    Step(f"compare {SMALL} --epsilon 1 --method optimal --method duchi --objective minimax --objective expected"),
    Step(f"design {SMALL} --epsilon 1 --objective minimax", says=("worst_case_variance",)),
    Step(f"design {SMALL} --epsilon 1 --objective robust --ambiguity tv --radius 0.1", says=("price_of_robustness",)),
    Step(f"design {SMALL} --epsilon 1 --objective error --n {{n}}", says=("biased mechanism", "(95%)")),
    Step(f"design {SMALL} --epsilon 1 --objective information --criterion cumulative", says=("trace",)),
    Step(
        f"plan {SMALL} --n {{n}} --error {{error}}",
        sense=lambda told: told["epsilon"] > 0 and told["predicted_error"] <= told["least_error"] * 1.01,
    ),
]

RACE = [
    Step(
        "advise {file} --column {column} {range} --knots 5 --epsilon 1 --n 300 --mechanism optimal --mechanism duchi "
        "--repetitions 3",
        says=("Take ", "the mean errs by"),
    ),
]

PYTHON = """
import optldp
prior = optldp.Prior.from_data(values, domain=(low, high), source="public", knots=9)
made = optldp.design(prior, 1.0)
again = optldp.load_mechanism(path)
counted = optldp.count(made.mechanism, made.mechanism.sample(values, rng))
mean = optldp.estimate_mean(counted)
"""
"""What the tutorial types after `import optldp`."""


def _no_better(rows: list[dict]) -> bool:
    """Whether no mechanism is better than the best, but for what the uniform share moves."""
    ratios = [row["ratio_to_optimal"] for row in rows if row["ratio_to_optimal"] is not None]
    return len(ratios) >= 3 and min(ratios) > 0.99
