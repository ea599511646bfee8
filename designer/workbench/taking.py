"""What one takes away: a script and commands that give every number of the page again, a table, and a page to sign."""

from __future__ import annotations

import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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
save_table(made.mechanism.without_prior(), "mech.json")

rows = compare(prior, [epsilon], objective={objective})
bound = next(row.{bound} for row in rows if row.{bound} is not None)
known = sorted((row.{value}, row.method) for row in rows if row.{value} is not None)

rng, people = np.random.default_rng(seed), min(n, 100_000)
values = rng.choice(prior.knots, people, p=prior.weights)
counts = count(made.mechanism, made.mechanism.sample(values, rng))
{trial}

print(json.dumps({{
    "epsilon": epsilon,
    "n": n,
    "of": {of!r},
    "error": error(made.{value}),
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

_ASKED = {
    "mean": {
        "room": "optldp.designer", "objective": "Variance()", "value": "expected_variance", "bound": "expected_bound",
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
}  # fmt: skip
"""What a script says of each question."""

_DRAWN = """prior = Prior.on_knots(
    np.linspace({low!r}, {high!r}, {knots}),
    np.interp(np.linspace(0, 1, {knots}), np.linspace(0, 1, {bars}), {heights!r}),
    source="public", units={units!r},
)  # drawn, and public"""

_READ = """values = read_column({data!r}, {column!r})  # none of them stands here
prior = Prior.from_data(values, knots={knots}, domain={domain!r}, source={source!r})"""


def script(state: State, source: Source | None, name: str = "workbench.py") -> str:
    """Return a Python script that computes every number of the page and writes the table; without any value."""
    question, asked = QUESTIONS[state.of], _ASKED[state.of]
    estimator = "estimate_mean, influence" if state.of == "mean" else "estimate_distribution"
    imports = [f"from optldp import Prior, compare, count, design, {estimator}, save_table"]
    if source is None:
        prior = _DRAWN.format(
            low=state.low, high=state.high, knots=KNOTS, bars=BARS, heights=state.heights, units=state.units
        )
    else:
        prior = _READ.format(
            data=source.data, column=source.column, knots=KNOTS, domain=source.domain,
            source="public" if source.public else "sensitive",
        )  # fmt: skip
        imports.append("from optldp.estimators.reading.columns.number_cells import read_column")
    if question.knots is not None:
        prior += f"\nprior = prior.on({question.knots})  # of the design"
    if state.of == "median":
        imports.append("from optldp.solvers.lengths.length_program import RADIUS")
    return _SCRIPT.format(
        name=name, imports="\n".join(imports), prior=prior, epsilon=state.epsilon, n=state.n, seed=state.seed,
        of=state.of, error_is=f"Return the error: {question.error}.",
        objective_name=asked["objective"].partition("(")[0], **asked,
    )  # fmt: skip


def table_bytes(made: Design) -> bytes:
    """Return the table as a JSON file has it, without the prior."""
    from ...mechanisms.files.table import save_table

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mech.json")
        save_table(made.mechanism.without_prior(), path)
        return path.read_bytes()


def report(made: Design, n: int) -> str:
    """Return the page that is signed, as `optldp show TABLE --out PAGE.html` writes it; without the prior."""
    from ..report.mechanism_page import mechanism_html

    return mechanism_html(made.mechanism.without_prior(), n=n, name="mech.json")
