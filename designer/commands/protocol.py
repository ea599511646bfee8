"""`optldp two-phase` and `optldp advise`: a whole collection simulated before anyone is asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ...estimators.methods import OF_ONE_SERVICE
from .options import (
    CONFIDENCE,
    EPSILON,
    TOLERANCE,
    UNIFORM_SHARE,
    Categorical,
    Column,
    Confidence,
    Data,
    Domain,
    DropMissing,
    Json,
    Knots,
    PriorFile,
    Public,
    Seed,
    Tolerance,
    UniformShare,
    Users,
)
from .output import (
    facts_shown,
    number,
    one_line_errors,
    print_facts,
    print_json,
    print_rows,
    refuse_given,
    say,
    task_progress,
)
from .prior import read_categorical_prior, read_prior

if TYPE_CHECKING:
    import numpy as np

    from ...estimators.methods import DistributionMethod
    from ...mechanisms import TabulatedMechanism
    from ..planning.advice import Advice
    from ..planning.bootstrap import Simulated
    from ..protocols.plan import TwoPhaseResult

SHARE = 0.1
REPETITIONS = 50

SIMULATED = "note: a simulation, which reads the values themselves: the reports of real clients would be private"


@one_line_errors
def two_phase_command(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="CSV or Parquet file with the values.")],
    *,
    column: Annotated[str, typer.Option("--column", help="Numeric column of DATA.")],
    domain: Annotated[tuple[float, float], typer.Option("--range", metavar="LO HI", help="Domain of the values.")],
    epsilon: Annotated[float, EPSILON],
    share: Annotated[float, typer.Option("--share", help="Share of the clients who report first.")] = SHARE,
    phase_one: Annotated[
        str,
        typer.Option("--phase-one", help="square-wave, grr, another closed form, designed, or a TABLE file."),
    ] = "square-wave",
    estimator: Annotated[
        str, typer.Option("--estimator", help=f"How the distribution is learnt: {', '.join(OF_ONE_SERVICE)}.")
    ] = "em",
    method: Annotated[str, typer.Option("--method", help="Mechanism of the second phase.")] = "optimal",
    knots: Knots = None,
    uniform_share: UniformShare = UNIFORM_SHARE,
    tolerance: Tolerance = TOLERANCE,
    confidence: Confidence = CONFIDENCE,
    robust_confidence: Annotated[
        float | None,
        typer.Option(
            "--robust-confidence",
            help="Design for every prior that the first reports do not rule out at this confidence, such as 0.95.",
        ),
    ] = None,
    seed: Seed = None,
    drop_missing: DropMissing = False,
    as_json: Json = False,
) -> None:
    """Simulate a collection that learns the distribution from some clients and asks the others through a design.

    Example: optldp two-phase people.csv --column income --range 0 200000 --epsilon 1
    """
    import numpy as np

    from ...estimators.data.numbers import read_column
    from ...estimators.intervals import check_confidence
    from ..objectives.guarantee import Guarantee
    from ..priors.prior import DEFAULT_KNOTS
    from ..protocols.two_phase import STAGES, two_phase

    check_confidence(confidence)
    first = _first_table(phase_one)
    values = read_column(data, column, drop_missing=drop_missing)
    rng = np.random.default_rng(seed)
    with task_progress("two phases", len(STAGES)) as update:
        result = two_phase(
            values, epsilon, domain=domain, share=share, phase_one=first, method=method, uniform_share=uniform_share,
            estimator=cast("DistributionMethod", estimator), knots=DEFAULT_KNOTS if knots is None else knots,
            tolerance=tolerance, robust_confidence=robust_confidence, rng=rng,
            progress=lambda stage, step: update(stage, step is None),
        )  # fmt: skip
    say(SIMULATED)
    facts = _two_phase_facts(result, values, epsilon, confidence, rng)
    if isinstance(result.design.objective, Guarantee):
        facts["guaranteed_variance"] = result.design.value
    if as_json:
        print_json(facts)
    else:
        print_facts("mean of the values, in two phases", facts_shown(facts))


def _first_table(phase_one: str) -> str | TabulatedMechanism:
    """Return the name, or the table of a file."""
    from ...mechanisms import load_table
    from ...mechanisms.files.table import SUFFIXES

    return load_table(phase_one) if Path(phase_one).suffix.lower() in SUFFIXES else phase_one


def _two_phase_facts(
    result: TwoPhaseResult, values: np.ndarray, epsilon: float, confidence: float, rng: np.random.Generator
) -> dict[str, object]:
    """Return the result beside the truth and beside what one phase through the piecewise mechanism gives.

    The expected variances are of one report, under the data themselves.
    """
    from ...estimators import count, estimate_mean
    from ...mechanisms import piecewise
    from ..priors.prior import Prior

    table = result.design.mechanism
    own = Prior.from_data(values, knots=table.knots).knot_prior
    rival = piecewise(table.knots, epsilon)
    one_phase = estimate_mean(count(rival, rival.sample(values, rng)))
    return {
        **result.to_dict(confidence),
        "n_first": result.n - result.second_mean.n,
        "truth": float(values.mean()),
        "first_mean": None if result.first_mean is None else result.first_mean.to_dict(confidence),
        "first_weight": result.first_weight,
        "second_mean": result.second_mean.to_dict(confidence),
        "second_expected_variance": table.expected_variance(own),
        "piecewise_mean": one_phase.to_dict(confidence),
        "piecewise_expected_variance": rival.expected_variance(own),
        "relative_gap": result.design.gap,
        "seconds": result.design.seconds,
    }


@one_line_errors
def advise_command(
    data: Data = None,
    *,
    n: Users,
    epsilon: Annotated[float, EPSILON],
    column: Column = None,
    categorical: Categorical = False,
    domain: Domain = None,
    prior_file: PriorFile = None,
    knots: Knots = None,
    mechanisms: Annotated[
        list[str] | None,
        typer.Option("--mechanism", help="Repeat for several; default: seven of them. Categories: grr and olh."),
    ] = None,
    estimators: Annotated[
        list[str] | None,
        typer.Option("--estimator", help="Repeat for several; default: all but penalised."),
    ] = None,
    repetitions: Annotated[int, typer.Option("--repetitions", help="Simulations of each.")] = REPETITIONS,
    uniform_share: UniformShare = UNIFORM_SHARE,
    tolerance: Tolerance = TOLERANCE,
    seed: Seed = None,
    public: Public = False,
    drop_missing: DropMissing = False,
    as_json: Json = False,
) -> None:
    """Say which mechanism and estimator will err least for so many clients, by simulation.

    \b
    Example: optldp advise people.csv --column income --range 0 200000 --n 10000 --epsilon 1 --knots 33
    Example: optldp advise people.csv --column job --categorical --n 10000 --epsilon 1
    """
    import numpy as np

    from ..planning.advice import advise, choices, pieces_of_work

    if categorical:
        refuse_given("for numbers", {"--range": domain, "--knots": knots})
        prior, notes = read_categorical_prior(data, column, prior_file, drop_missing=drop_missing, public=public)
    else:
        prior, notes = read_prior(data, column, domain, prior_file, knots, public, drop_missing, "")
    tables, methods = choices(categorical, mechanisms or None, estimators or None)
    with task_progress("simulating", pieces_of_work(tables, methods, repetitions)) as update:
        advice = advise(
            prior, n, epsilon, mechanisms=tables, estimators=methods, repetitions=repetitions,
            uniform_share=uniform_share, tolerance=tolerance, rng=np.random.default_rng(seed),
            progress=lambda mechanism, estimator: update(f"{mechanism}, {estimator}", True),
        )  # fmt: skip
    for note in notes:
        say(note)
    for mechanism, estimator, reason in advice.left_out:
        say(f"note: {mechanism} with {estimator} is left out: {reason}")
    if as_json:
        print_json(_advice_facts(advice))
        return
    header = ["mechanism", "estimator", "rmse", "+-", "Jensen-Shannon", "+-", "Wasserstein", "+-"]
    cells = []
    for row in advice.rows:
        root = row.mse.value**0.5
        cells.append([row.mechanism, row.estimator, number(root), f"{row.mse.error / (2 * root):.2g}"])
        cells[-1] += [*_shown(row.jensen_shannon), *_shown(row.wasserstein)]
    best = "frequencies" if categorical else "mean"
    print_rows(f"Expected error with {n} clients at epsilon {epsilon:g}, best {best} first", header, cells)


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
        rows.append({**facts, "seconds": row.seconds})
    keys = ("mechanism", "estimator", "reason")
    left_out = [dict(zip(keys, entry, strict=True)) for entry in advice.left_out]
    size = {"n": advice.n, "epsilon": advice.epsilon, "repetitions": advice.repetitions}
    return {**size, "rows": rows, "left_out": left_out}
