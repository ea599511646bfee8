"""`optldp two-phase`: a whole collection simulated before anyone is asked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...estimators.methods import PRIOR_METHODS
from ...mechanisms.errors import InputError
from ..methods.options import in_words, told_method
from .options.shared import (
    CONFIDENCE,
    EPSILON,
    TOLERANCE,
    UNIFORM_SHARE,
    Clip,
    Column,
    Confidence,
    DataFile,
    Domain,
    DropMissing,
    Json,
    Knots,
    Options,
    Seed,
    Tolerance,
    UniformShare,
    people,
    takes_options,
)
from .output.output import (
    facts_shown,
    means_facts,
    number,
    one_line_errors,
    print_facts,
    print_json,
    print_means,
    print_rows,
    say,
    task_progress,
)

if TYPE_CHECKING:
    import numpy as np

    from ...mechanisms import TabulatedMechanism
    from ..planning.people import MeanWithin
    from ..protocols.plan import TwoPhasePlan, TwoPhaseResult

SIMULATED = "note: a simulation, which reads the values themselves: the reports of real clients would be private"

ON_AXIS = ("value", "low", "high", "truth", "first_mean", "second_mean", "one_phase_mean")
ALONG_AXIS = ("std_error",)
"""Facts that are values, and those that are differences of values."""

LIKE_THESE = "they are drawn from people like these, and as much is learnt of them first"


@dataclass(frozen=True, kw_only=True)
class TwoPhaseOptions(Options):
    """What `optldp two-phase` may be asked."""

    data: DataFile
    column: Column = None
    domain: Domain = None
    clip: Clip = False
    attributes: Annotated[
        list[str] | None,
        typer.Option(
            "--attribute",
            metavar="NAME=LO:HI",
            help="Use it repeatedly instead of --column and --range: each user reports one of them, once.",
        ),
    ] = None
    epsilon: Annotated[float, EPSILON]
    share: Annotated[
        float | None,
        typer.Option("--share", help="Share of the users who report first. Default: 9 over the root of them."),
    ] = None
    phase_one: Annotated[
        str,
        typer.Option(
            "--phase-one",
            help="designed (optimal for a uniform prior), square-wave, grr, another closed form, an oracle for the "
            "knots (olh, oue, rappor, subset, projective-geometry), or a TABLE file.",
        ),
    ] = "designed"
    estimator: Annotated[
        str, typer.Option("--estimator", help=f"How the distribution is learnt: {', '.join(PRIOR_METHODS)}.")
    ] = "em"
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help=f"Mechanism of the second phase. Some take settings, such as "
            f"aaa:intervals=8,window=12 is: {in_words()}.",
        ),
    ] = "optimal"
    knots: Knots = None
    uniform_share: UniformShare = UNIFORM_SHARE
    tolerance: Tolerance = TOLERANCE
    confidence: Confidence = CONFIDENCE
    robust_confidence: Annotated[
        float | None,
        typer.Option(
            "--robust-confidence",
            help="Design for every prior that the first reports do not rule out at this confidence, such as 0.95.",
        ),
    ] = None
    n: Annotated[
        int | None,
        people("People who would really be asked, for the error of their population's mean."),
    ] = None
    seed: Seed = None
    drop_missing: DropMissing = False
    as_json: Json = False

    def domains(self) -> dict[str, tuple[float, float]]:
        """Return the column's domain, or those of the attributes; InputError for both, or neither."""
        from .handlers.attributes import attribute_range

        if self.attributes:
            self.refuse("for one column, not for attributes", "--column", "--range")
            found = dict(map(attribute_range, self.attributes))
            if len(found) < len(self.attributes):
                raise InputError(f"attributes must differ, got {', '.join(self.attributes)}")
            return found
        if self.column is None or self.domain is None:
            raise InputError(
                "what is collected must be named, got nothing: --column NAME --range LO HI, or --attribute"
            )
        from ...estimators.reading.formats.axis import in_units

        domain = in_units(self.domain, self.column_units)
        assert domain is not None
        return {self.column: domain}

    @property
    def column_units(self) -> str:
        """What the dates of the column are counted in; "" for numbers, as attributes must be."""
        from ...estimators.reading.columns.number_cells import column_units

        return "" if self.column is None else column_units(self.data, self.column)

    def values(self, domains: Mapping[str, tuple[float, float]]) -> tuple[dict[str, np.ndarray], list[str]]:
        """Read the columns, and what there is to say; --drop-missing leaves out who lacks a value of any of them."""
        import numpy as np

        from ...estimators.reading.columns.number_cells import read_column, read_sparse_column
        from .output.prior import within_range

        if self.drop_missing:
            sparse = np.array([read_sparse_column(self.data, name, units=self.column_units) for name in domains])
            columns = dict(zip(domains, sparse[:, ~np.isnan(sparse).any(axis=0)], strict=True))
        else:
            columns = {name: read_column(self.data, name, units=self.column_units) for name in domains}
        notes: list[str] = []
        return {
            name: within_range(values, domains[name], self.clip, notes, name) for name, values in columns.items()
        }, notes

    def plan(self, domain: tuple[float, float]) -> TwoPhasePlan:
        """Return the plan of one column."""
        from ..priors.prior import DEFAULT_KNOTS
        from ..protocols.plan import TwoPhasePlan

        estimator: Any = self.estimator  # the plan says which there are
        return TwoPhasePlan(
            domain,
            self.epsilon,
            knots=DEFAULT_KNOTS if self.knots is None else self.knots,
            phase_one=_first_phase(self.phase_one),
            estimator=estimator,
            method=told_method(self.method),
            uniform_share=self.uniform_share,
            tolerance=self.tolerance,
            robust_confidence=self.robust_confidence,
        )


@one_line_errors
@takes_options
def two_phase_command(asked: TwoPhaseOptions) -> None:
    """Simulate a collection that learns the distribution from some users and asks the others through a design.

    Example: optldp two-phase people.csv --column income --range 0 200000 --epsilon 1
    """
    import numpy as np

    from ...estimators.intervals import check_confidence
    from ..protocols.two_phase import STAGES, first_size, two_phase_attributes

    check_confidence(asked.confidence)
    if asked.n is not None:
        first_size(asked.n // len(asked.attributes or [""]), asked.share)
    domains = asked.domains()
    plans = {name: asked.plan(domain) for name, domain in domains.items()}
    values, notes = asked.values(domains)
    rng = np.random.default_rng(asked.seed)
    with task_progress("two phases", len(STAGES) * len(plans)) as update:
        results = two_phase_attributes(
            values, plans, rng=rng, share=asked.share, progress=lambda stage, step: update(stage, step is None)
        )
    for note in [SIMULATED, *notes]:
        say(note)
    facts = {name: _facts(found, values[name], asked.epsilon, asked.confidence, rng) for name, found in results.items()}
    units = asked.column_units
    for name, told in facts.items():
        one = math.sqrt((told["one_phase_expected_variance"] + float(values[name].var())) / told["n"])
        if told["std_error"] >= one:
            say(
                f"note: two phases do not pay for {name}: one phase through the table that is optimal for a uniform "
                f"prior has a standard error of {_length(one, units)}, these two {_length(told['std_error'], units)}"
            )
    within = {} if asked.n is None else {name: _within(found, asked) for name, found in results.items()}
    if asked.attributes is None:
        (one,) = facts.values()
        means = dict.fromkeys([""], *within.values()) if within else {}
        if asked.as_json:
            print_json(one | means_facts(means))
        else:
            print_facts("mean of the values, in two phases", _dated(one, units))
            print_means(means, units)
    elif asked.as_json:
        told = {name: means_facts({"": within[name]}) if within else {} for name in facts}
        print_json({"attributes": [{"attribute": name, **found, **told[name]} for name, found in facts.items()]})
    else:
        _print_attributes(facts)
        print_means(within)


def _dated(facts: dict[str, Any], units: str) -> list[tuple[str, str]]:
    """The facts as people read them: those on the axis of dates or times as such, those along it as lengths."""
    from ...estimators.reading.formats.axis import TEMPORAL, said_on

    rows = []
    for name, value in facts.items():
        if units not in TEMPORAL or name not in (*ON_AXIS, *ALONG_AXIS) or value is None:
            rows += facts_shown({name: value})
        elif isinstance(value, dict):
            said = said_on(value["value"], units) or number(value["value"])
            rows.append((name, f"{said} +- {_length(value['std_error'], units)}"))
        else:
            said = said_on(value, units) or number(value) if name in ON_AXIS else _length(value, units)
            rows.append((name, said))
    return rows


def _length(value: float, units: str) -> str:
    """A standard error, of dates in days or hours."""
    from ...estimators.reading.formats.axis import length_on

    return length_on(value, units) or number(value)


def _within(found: TwoPhaseResult, asked: TwoPhaseOptions) -> MeanWithin:
    """How far off the mean of the population may be if so many people are asked, as these were."""
    from ..planning.people import mean_within
    from ..protocols.two_phase import variance_of_clients

    assert asked.n is not None
    clients = asked.n // len(asked.attributes or [""])  # each reports one of the attributes
    one = asked.n * variance_of_clients(found, clients, asked.share)
    return mean_within(asked.n, one, None, confidence=asked.confidence, under=LIKE_THESE)


def _print_attributes(facts: dict[str, dict[str, Any]]) -> None:
    columns = ("value", "std_error", "low", "high", "truth", "n", "n_first", "first_weight")
    cells = [
        [name, *(str(found[key]) if key in ("n", "n_first") else number(found[key]) for key in columns)]
        for name, found in facts.items()
    ]
    print_rows("means of the attributes, in two phases", ["attribute", *columns], cells)


def _first_phase(named: str) -> str | TabulatedMechanism:
    """Return the name, or the table of a file."""
    from ...mechanisms import load_mechanism
    from ...mechanisms.compact_tables.floor_and_windows import table_of
    from ...mechanisms.files.table import SUFFIXES

    if Path(named).suffix.lower() not in SUFFIXES:
        return named
    return table_of(load_mechanism(named), f"--phase-one {named!r}")


def _facts(
    result: TwoPhaseResult, values: np.ndarray, epsilon: float, confidence: float, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the result beside the truth and beside one phase through the optimal table for a uniform prior.

    The expected variances are of one report, under the data themselves.
    """
    from ...estimators import count, estimate_mean
    from ..designs.design import design
    from ..objectives.guarantee import Guarantee
    from ..priors.prior import Prior

    table = result.design.mechanism
    own = Prior.from_data(values, knots=table.knots).knot_prior
    rival = design(Prior.even(table.knots), epsilon, uniform_share=0.0).mechanism
    one_phase = estimate_mean(count(rival, rival.sample(values, rng)))
    robust = isinstance(result.design.objective, Guarantee)
    return {
        **result.to_dict(confidence),
        "n_first": result.n - result.second_mean.n,
        "truth": float(values.mean()),
        "first_mean": None if result.first_mean is None else result.first_mean.to_dict(confidence),
        "first_weight": result.first_weight,
        "second_mean": result.second_mean.to_dict(confidence),
        "second_expected_variance": table.expected_variance(own),
        "one_phase_mean": one_phase.to_dict(confidence),
        "one_phase_expected_variance": rival.expected_variance(own),
        "relative_gap": result.design.gap,
        "seconds": result.design.seconds,
        **({"guaranteed_variance": result.design.value} if robust else {}),
    }
