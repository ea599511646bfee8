"""`optldp advise`: mechanisms and estimators simulated before anyone is asked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from .options.shared import (
    EPSILON,
    TOLERANCE,
    UNIFORM_SHARE,
    Categorical,
    Clip,
    Column,
    Data,
    Domain,
    DropMissing,
    Json,
    PriorFile,
    Public,
    Seed,
    Tolerance,
    UniformShare,
    Users,
)
from .output.output import (
    number,
    one_line_errors,
    print_json,
    print_rows,
    refuse_given,
    say,
    share_progress,
    spinner,
)
from .output.prior import read_categorical_prior, read_prior
from .output.shortest import print_lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..planning.advice import Advice
    from ..planning.bootstrap import Simulated
    from ..priors.prior import Prior

REPETITIONS = 10
ASKED = ("median", "share", "cdf", "mean,cdf", "cdf,mean")
"""Questions that are judged by the length of an interval."""

RACE_KNOTS = 33
"""Of a column's prior: which mechanism errs less hardly depends on them, and a fit takes half as long as at 101."""


@one_line_errors
def advise_command(
    data: Data = None,
    *,
    n: Users,
    epsilon: Annotated[float, EPSILON],
    column: Column = None,
    categorical: Categorical = False,
    domain: Domain = None,
    clip: Clip = False,
    prior_file: PriorFile = None,
    knots: Annotated[
        int | None,
        typer.Option("--knots", help="Equally spaced knots. Default: 33, or a prior's own values (at most 401)."),
    ] = None,
    of: Annotated[
        str | None,
        typer.Option(
            "--of",
            help="Estimate to judge by: mean or distribution; for categories, frequencies. Or a question, as in "
            "design: median, share:above=20, cdf or mean,cdf, judged by how long intervals of the answer are.",
        ),
    ] = None,
    mechanisms: Annotated[
        list[str] | None,
        typer.Option("--mechanism", help="Repeat for several; default: six of them. Categories: grr, olh, subset."),
    ] = None,
    estimators: Annotated[
        list[str] | None,
        typer.Option("--estimator", help="Repeat for several; default: all."),
    ] = None,
    repetitions: Annotated[
        int, typer.Option("--repetitions", help="Simulations of the two leaders, after the race.")
    ] = REPETITIONS,
    uniform_share: UniformShare = UNIFORM_SHARE,
    tolerance: Tolerance = TOLERANCE,
    seed: Seed = None,
    public: Public = False,
    drop_missing: DropMissing = False,
    as_json: Json = False,
) -> None:
    """Find the mechanism and estimator with the least error for --n users, by a race of simulations.

    \b
    Example: optldp advise survey.csv --column income --range 0 200000 --n 10000 --epsilon 1
    Example: optldp advise survey.csv --column income --range 0 200000 --n 10000 --epsilon 1 --of median
    Example: optldp advise survey.csv --column job --categorical --n 10000 --epsilon 1
    """
    import numpy as np

    from ...mechanisms.option_grammar import name_asked
    from ..planning.advice import advise

    if categorical:
        refuse_given("for numbers", {"--range": domain, "--knots": knots, "--clip": clip or None})
        prior, notes = read_categorical_prior(data, column, prior_file, drop_missing=drop_missing, public=public)
    else:
        grid = RACE_KNOTS if knots is None and prior_file is None else knots
        prior, notes = read_prior(data, column, domain, prior_file, grid, public, drop_missing, "", clip=clip)
        if of is not None and name_asked(of) in ASKED:
            given = repetitions if repetitions != REPETITIONS else None
            drawn = {"--estimator": estimators or None, "--seed": seed, "--repetitions": given}
            refuse_given("for estimates that are simulated, of which lengths of intervals are none", drawn)
            _of_question(prior, n, epsilon, of, mechanisms or None, notes, as_json=as_json)
            return
    with share_progress("simulating") as update:
        advice = advise(
            prior, n, epsilon, of=of, mechanisms=mechanisms or None, estimators=estimators or None,  # pyright: ignore[reportArgumentType] -- checked there
            repetitions=repetitions, uniform_share=uniform_share, tolerance=tolerance,
            rng=np.random.default_rng(seed), progress=update,
        )  # fmt: skip
    for note in notes:
        say(note)
    reasons = dict.fromkeys((mechanism, reason) for mechanism, _, reason in advice.left_out)
    for mechanism, reason in reasons:
        some = ", ".join(name for other, name, why in advice.left_out if (other, why) == (mechanism, reason))
        say(f"note: {mechanism} with {some} is left out: {reason}")
    if as_json:
        print_json(_advice_facts(advice))
        return
    header = ["mechanism", "estimator", "rmse", "+-", "Jensen-Shannon", "+-", "Wasserstein", "+-", "simulated", "place"]
    cells = []
    for row in advice.rows:
        root = row.mse.value**0.5
        cells.append([row.mechanism, row.estimator, number(root), f"{row.mse.error / (2 * root):.2g}"])
        place = "tie" if advice.tie and row in advice.rows[:2] else row.standing
        cells[-1] += [*_shown(row.jensen_shannon), *_shown(row.wasserstein), str(row.draws or "exact"), place]
    print_rows(advice.sentence, header, cells)


def _of_question(
    prior: Prior, n: int, epsilon: float, of: str, mechanisms: Sequence[str] | None, notes: list[str], *, as_json: bool
) -> None:
    """Judge mechanisms by how long intervals of an answer are, beside the table made for it: nothing is drawn."""
    from ..comparison.compare import compare
    from ..objectives.questions.asked import objective_of
    from ..planning.advice import DEFAULT_MECHANISMS
    from ..planning.questions import lengths_of, lengths_said

    objective = objective_of(of, n)
    with spinner("comparing"):
        found = compare(prior, [epsilon], methods=mechanisms or DEFAULT_MECHANISMS, objectives=[objective])
    rows = sorted((row for row in found if row.objective == objective.key), key=lambda row: row.value or math.inf)
    for note in notes:
        say(note)
    if not as_json:
        print_lengths(objective, rows, n, prior.units)
        return
    told = [{"mechanism": row.method, **lengths_of(row, objective), "error": row.error or None} for row in rows]
    advice = "\n".join(lengths_said(rows, objective, prior.units))
    print_json({"advice": advice, "n": n, "epsilon": epsilon, "of": of, "rows": told})


def _shown(found: Simulated | None) -> list[str]:
    return ["-", "-"] if found is None else [f"{found.value:.4g}", f"{found.error:.2g}"]


def _advice_facts(advice: Advice) -> dict[str, object]:
    rows = []
    for row in advice.rows:
        facts: dict[str, object] = {"mechanism": row.mechanism, "estimator": row.estimator}
        for name in ("mse", "jensen_shannon", "wasserstein"):
            found = getattr(row, name)
            facts[name] = None if found is None else found.value
            facts[f"{name}_error"] = None if found is None else found.error
        rows.append({**facts, "draws": row.draws, "standing": row.standing, "seconds": row.seconds})
    keys = ("mechanism", "estimator", "reason")
    left_out = [dict(zip(keys, entry, strict=True)) for entry in advice.left_out]
    size = {"n": advice.n, "epsilon": advice.epsilon, "of": advice.of, "repetitions": advice.repetitions}
    behind = {"behind": None, "behind_error": None, "tie": advice.tie}
    if advice.behind is not None:
        behind |= {"behind": advice.behind.value, "behind_error": advice.behind.error}
    return {"advice": advice.sentence, **size, **behind, "rows": rows, "left_out": left_out}
