"""What one takes away: a script and commands that give every number of the page again, a table, and a page to sign."""

from __future__ import annotations

import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..priors.categorical import CategoricalPrior
from .questions import QUESTIONS
from .state import BARS, KNOTS, State

if TYPE_CHECKING:
    from ..designs.result import Design


@dataclass(frozen=True)
class Source:
    """Where the values come from: a column of a file, read again each time; nothing of what is in it.

    Attributes
    ----------
    data : str
        The file.
    column : str
    domain : (float, float) or None
        Range of the values; None for the data's own.
    public : bool
        Whether the values are public knowledge.
    """

    data: str
    column: str
    domain: tuple[float, float] | None = None
    public: bool = False

    def words(self) -> list[str]:
        """Return what a command is told."""
        ends = [] if self.domain is None else ["--range", *(f"{end!r}" for end in self.domain)]
        return [self.data, "--column", self.column, *ends, *(["--public"] if self.public else [])]


def command(state: State, source: Source | None, *more: str) -> str:
    """Return the command line of the workbench in this state; with "--json" it prints every number instead.

    Example
    -------
    >>> command(State(epsilon=2.0), Source("people.csv", "income", (0.0, 9e4)), "--json")
    'optldp workbench people.csv --column income --range 0.0 90000.0 --chosen epsilon=2.0 --json'
    """
    told, words = state.query(drawn=source is None), [] if source is None else source.words()
    return shlex.join(["optldp", "workbench", *words, *(["--chosen", told] if told else []), *more])


_SCRIPT = '''"""Every number of the workbench's page, again: python {name}"""

import json
import math

import numpy as np
{imports}
from {room} import {objective_name}
from optldp.designer.report.odds import BELIEFS, most_believed

{prior}
epsilon, n, seed = {epsilon!r}, {n}, {seed}


def error(value):
    """{error_is}"""
    return {error}


made = design(prior, epsilon, objective={objective})
{save}

rows = {compare}
bound = next(row.{bound} for row in rows if row.{bound} is not None)
known = sorted((row.{value}, row.method) for row in rows if row.{value} is not None)

rng, people = np.random.default_rng(seed), min(n, 100_000)
values = rng.choice({values}, people, p=prior.weights)
counts = count(made.mechanism, made.mechanism.sample(values, rng))
{trial}

print(json.dumps({{
    "epsilon": epsilon,
    "n": n,
    "of": {of!r},
    "error": error(made.{of_design}),
    "least_error": error(bound),
    "beliefs": {{str(before): float(most_believed(before, epsilon)) for before in BELIEFS}},
    "one_poisoner": {poisoner},
    "rivals": {{method: error(value) for value, method in known}},
    "trial": trial,
}}))
'''

_OF_ONE = """interval = estimate.interval()
trial = {{
    "simulated": people,
    "truth": float({truth}),
    "estimate": float(estimate.value),
    "low": float(interval.low),
    "high": float(interval.high),
}}"""

_NUMBERS = {
    "save": 'save_table(made.mechanism.without_prior(), "mech.json")',
    "values": "prior.knots",
    "of_design": "value",
}
_ASKED = {
    "mean": {
        "room": "optldp.designer", "objective": "Variance()", "bound": "expected_bound",
        "value": "expected_variance", "of_design": "expected_variance",
        "error": "math.sqrt(value / n)", "poisoner": "float(influence(made.mechanism).times_n[0]) / n",
        "trial": "estimate = estimate_mean(counts)\n" + _OF_ONE.format(truth="values.mean()"),
    },
    "distribution": {
        "room": "optldp.designer.objectives", "objective": "Cdf(n)",
        "value": "value", "bound": "bound", "error": "value / 2", "poisoner": "None",
        "trial": """estimate = estimate_distribution(counts)
cuts = (prior.knots[:-1] + prior.knots[1:]) / 2
told = [estimate.probability(float(prior.knots[0]), float(cut)).interval() for cut in cuts]
inside = sum(int(each.low <= share <= each.high) for each, share in zip(told, np.cumsum(prior.weights)))
trial = {"simulated": people, "shares": len(cuts), "inside": inside}""",
    },
    "median": {
        "room": "optldp.designer.objectives", "objective": "Quantile(n)",
        "value": "value", "bound": "bound", "error": "RADIUS * math.sqrt(value)",
        "poisoner": "None",
        "trial": "estimate = estimate_distribution(counts).quantile(0.5)\n"
        + _OF_ONE.format(truth="prior.knots[np.searchsorted(np.cumsum(prior.weights), 0.5)]"),
    },
    "categories": {
        "room": "optldp.designer", "objective": "Frequencies()", "value": "error", "bound": "lower_bound",
        "error": "math.sqrt(value / (n * len(prior.categories)))", "poisoner": "None", "of_design": "value",
        "save": 'save_bundle(made.mechanism, "mech.json")', "values": "np.array(prior.categories.labels)",
        "trial": """estimate = estimate_frequencies(counts)
told = estimate.interval()
inside = int(((told.low <= prior.weights) & (prior.weights <= told.high)).sum())
trial = {"simulated": people, "shares": len(prior.categories), "inside": inside}""",
    },
}  # fmt: skip
"""What a script says of each question."""

_DRAWN = """prior = Prior.on_knots(
    np.linspace({low!r}, {high!r}, {knots}),
    np.interp(np.linspace(0, 1, {knots}), np.linspace(0, 1, {bars}), {heights!r}),
    source="public", units={units!r},
)  # drawn, and public"""

_NAMED = "prior = CategoricalPrior({names!r}, {heights!r})  # drawn, and public"

_READ_NAMED = "prior = CategoricalPrior.from_column({data!r}, {column!r})  # none of its cells stands here"

_READ = """values = read_column({data!r}, {column!r})  # none of them stands here
prior = Prior.from_data(values, knots={knots}, domain={domain!r}, source={source!r})"""


def script(state: State, source: Source | None, name: str = "workbench.py") -> str:
    """Return a Python script that computes every number of the page and writes the table; without any value."""
    question, asked = QUESTIONS[state.of], _NUMBERS | _ASKED[state.of]
    compared = f"compare(prior, [epsilon], objective={asked['objective']})"
    if state.of == "categories":
        compared, names = "compare_categorical(prior.weights, epsilon)", "CategoricalPrior, count, design"
        imports = [
            f"from optldp import {names}, estimate_frequencies, save_bundle",
            "from optldp.designer import compare_categorical",
        ]
    else:
        estimator = "estimate_mean, influence" if state.of == "mean" else "estimate_distribution"
        imports = [f"from optldp import Prior, compare, count, design, {estimator}, save_table"]
    if source is not None and state.of != "categories":
        imports.append("from optldp.estimators.reading.columns.number_cells import read_column")
    if state.of == "median":
        imports.append("from optldp.solvers.lengths.length_program import RADIUS")
    return _SCRIPT.format(
        name=name, imports="\n".join(imports), prior=_prior(state, source), epsilon=state.epsilon, n=state.n,
        seed=state.seed, of=state.of, error_is=f"Return the error: {question.error}.", compare=compared,
        objective_name=asked["objective"].partition("(")[0], **asked,
    )  # fmt: skip


def _prior(state: State, source: Source | None) -> str:
    """Return the lines that make the prior of a design."""
    named, knots = state.of == "categories", QUESTIONS[state.of].knots
    if source is not None:
        return (_READ_NAMED if named else _READ + _on(knots)).format(
            data=source.data, column=source.column, knots=KNOTS, domain=source.domain,
            source="public" if source.public else "sensitive",
        )  # fmt: skip
    if named:
        return _NAMED.format(names=list(state.names), heights=state.heights[: len(state.names)])
    return (_DRAWN + _on(knots)).format(
        low=state.low, high=state.high, knots=KNOTS, bars=BARS, heights=state.heights, units=state.units
    )


def _on(knots: int | None) -> str:
    return "" if knots is None else f"\nprior = prior.on({knots})  # of the design"


def table_bytes(made: Design) -> bytes:
    """Return the table, or the oracle for categories, as a JSON file has it; without the prior."""
    from ...mechanisms import save_bundle, save_table

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mech.json")
        if isinstance(made.prior, CategoricalPrior):
            save_bundle(made.mechanism, path)
        else:
            save_table(made.mechanism.without_prior(), path)
        return path.read_bytes()


def report(made: Design, n: int) -> str:
    """Return the page that is signed, as `optldp show TABLE --out PAGE.html` writes it; without the prior."""
    from ..report.mechanism_page import mechanism_html

    named = isinstance(made.prior, CategoricalPrior)  # which keeps no prior
    return mechanism_html(made.mechanism if named else made.mechanism.without_prior(), n=n, name="mech.json")
