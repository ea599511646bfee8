"""Ways of collecting over time: a mechanism of one report, and who reports in which period."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ....mechanisms.errors import InputError
from ....mechanisms.over_time.way import Way
from ..options.kind import DesignKind
from ..output.output import spinner
from ..output.prior import CARRIED
from .bundle import BundleKind
from .kind import Designed, Found, Held, Kind, Layout, Part, WrittenReports
from .registry import kind_of

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes

    from ...over_time import Repeated
    from ..options.designs.design import DesignOptions
    from ..options.perturb import PerturbOptions
    from .kind import Checked, Service
    from .options import CountOptions, EstimateOptions

WAYS = ("auto", "panel", "fresh", "rows", "tree", "directions", "memoised")
"""Values of --way."""

TURNS = ("names", "devices")
"""Values of --turns."""


BY_PERIOD = (
    "reports over time are of periods, and are not counted together: estimate WAY REPORTS [REPORTS ...] takes them"
)


@dataclass(frozen=True, eq=False)
class Ways(BundleKind[Way]):
    """Values are those of one period, and reports are of those whose turn it is."""

    of: ClassVar[type] = Way
    designs: ClassVar[tuple[DesignKind, ...]] = (DesignKind.OVER_TIME,)
    over_time: ClassVar[bool] = True

    @classmethod
    def suits(cls, mechanism: Any) -> bool:
        """Whether its reports are those of a mechanism for one period; `Histories` has the others."""
        return super().suits(mechanism) and mechanism.mechanism is not mechanism

    @classmethod
    def design(cls, options: DesignOptions) -> Designed:
        """Return the way that was asked for, or the best that keeps what is to be protected."""
        from ...over_time import design_panel

        if options.way not in WAYS:
            raise InputError(f"--way must be one of {', '.join(WAYS)}, got {options.way!r}")
        asked, epsilon = options.repeated(options.of or "each"), options.budgets.epsilons[0]
        one = replace(options, periods=None, changes=None, answers="on-time", of=None, way="auto")
        chosen = (_of_categories if options.categorical else _of_numbers)(one, asked, epsilon, options.way)
        rotates = chosen.way == "panel" and asked.protects.startswith("span")
        by_devices = _by_devices(options.turns)
        if chosen.build is not None:
            options.refuse(f"of a panel, and way {chosen.way} has turns of its own", "--turns")
            made = chosen.build()
        elif rotates or chosen.life is None:
            reports = chosen.reports // -(-asked.periods // asked.span)
            made = design_panel(
                chosen.mechanism, epsilon, asked.periods, reports, span=asked.span, by_devices=by_devices
            )
        else:
            made = design_panel(chosen.mechanism, chosen.life, asked.periods, chosen.reports, by_devices=by_devices)
        title = f"{chosen.way} over {asked.periods} periods, {chosen.reports} of {asked.periods} reported by a user"
        notes = [*chosen.notes, *([] if options.public or options.categorical else [CARRIED])]
        return Designed(made, notes, chosen.more | {"way": chosen.way, "life_epsilon": chosen.life}, title=title)

    @property
    def one(self) -> Kind:
        """The mechanism of one report, as commands see it."""
        return kind_of(made_of(self.mechanism))

    def perturb(self, asked: PerturbOptions, rng: np.random.Generator | None) -> WrittenReports:
        raise InputError("a way over time needs --period, the period that the values are of, got none: name it")

    def held(self, asked: PerturbOptions, beside: Mapping[str, np.ndarray]) -> Held:
        return self.one.held(asked, beside)

    def layout(self, column: str, level_column: str) -> Layout:
        return self.one.layout(column, level_column)

    def columns_of(self, reports: np.ndarray) -> dict[str, np.ndarray]:
        return self.one.columns_of(reports)

    def estimate(self, services: Sequence[Service], asked: EstimateOptions) -> Found:
        raise InputError(BY_PERIOD)

    def found(self, counts: Any, asked: EstimateOptions) -> Found:
        raise InputError(BY_PERIOD)

    def query(self, kinds: Sequence[Kind], relations: Sequence[str], **options: Any) -> str:
        raise InputError(BY_PERIOD)

    def answer(self, services: Sequence[Service], asked: CountOptions) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        raise InputError(BY_PERIOD)

    def facts(self) -> dict[str, Any]:
        made = self.mechanism
        return {
            "kind": made.kind,
            "promise": said_promise(made),
            "epsilon": made.epsilon,
            "periods": made.periods,
            "reports": made.reports,
            "epsilon_of_a_report": made_of(made).epsilon,
            "life_epsilon": made.life_epsilon,
            "span": made.span,
            "turns": "names" if made.named_turns else "devices",
            "device_keeps": made.keeps,
            "max_log_ratio": made.max_log_ratio,
            "method": made_of(made).provenance.method,
        }

    def figure(self) -> Axes:
        return self.one.figure()

    def checked(self, exact: bool) -> Checked:
        return replace(self.one.checked(exact), failures=self.mechanism.failures())

    def parts(self) -> list[Part]:
        return [Part("", self.mechanism.mechanism, share=self.mechanism.reports / self.mechanism.periods)]

    def units(self, attribute: str | None) -> str:
        return self.one.units(attribute)


def made_of(way: Way) -> Any:
    """Return the mechanism of one report, which is a table or one for categories in all that a file can hold."""
    return way.mechanism


def _by_devices(turns: str) -> bool:
    if turns not in TURNS:
        raise InputError(f"--turns must be one of {', '.join(TURNS)}, got {turns!r:.40}")
    return turns == "devices"


def said_promise(way: Way) -> str:
    """Return the promise of a way in one sentence."""
    return way.promised.format(epsilon=f"{way.epsilon:g}", factor=f"{math.exp(way.epsilon):.3g}")


@dataclass(frozen=True, eq=False)
class _Chosen:
    """A way, what it spends in a life, how often a user reports, and what makes the mechanism of a budget."""

    way: str
    life: float | None
    reports: int
    mechanism: Callable[[float], Any]
    notes: list[str]
    more: dict[str, Any]
    build: Callable[[], Way] | None = None
    """Makes it, where it is no panel of mechanisms."""


def _of_numbers(options: DesignOptions, asked: Repeated, epsilon: float, way: str) -> _Chosen:
    """The way that was named, or that which is planned to err least; with the error of what is asked."""
    from ...over_time import plan_over_time
    from .numbers.handler import design_numbers

    prior, notes = options.prior()
    only = None if way == "auto" else way
    with spinner("planning") as told:
        ways = plan_over_time(
            prior, epsilon, 1, asked, only=only, progress=lambda budget: told(f"epsilon {budget:.3g}")
        )
    if not ways:
        raise InputError(_cannot(way, asked))
    found = ways[0]
    more = {"error_times_root_n": found.error(asked.of), "of": asked.of}
    builds = {
        "rows": lambda: _rows(options, prior, epsilon, asked),
        "tree": lambda: _tree(options, prior, epsilon, asked),
        "directions": lambda: _directions(prior, epsilon, asked),
        "memoised": lambda: _memoised(
            lambda share: design_numbers(options, prior, share).mechanism, epsilon, asked, len(prior.knots)
        ),
    }
    return _Chosen(
        found.way, found.life_epsilon, found.reports,
        lambda share: design_numbers(options, prior, share).mechanism, notes, more, builds.get(found.way),
    )  # fmt: skip


def _cannot(way: str, asked: Repeated) -> str:
    """Why a way has no plan for what is asked."""
    if way == "tree":
        many = f"--changes {asked.most_changes}, --of {asked.of} and --periods {asked.periods}"
        return f"way tree tells values of --changes 1 to 32, and more than one average, got {many}: use --way auto"
    return f"way {way} answers when the last period ends, got --answers {asked.answers}: ask at-end"


def _tree(options: DesignOptions, prior: Any, epsilon: float, asked: Repeated) -> Way:
    from ...over_time.noise import Noise
    from ...over_time.tree import design_tree, plan_tree
    from .numbers.handler import design_numbers

    planned = plan_tree(Noise(prior), epsilon, asked)
    return design_tree(design_numbers(options, prior, epsilon).mechanism, planned, epsilon)


def _memoised(made: Callable[[float], Any], epsilon: float, asked: Repeated, different: int) -> Way:
    from ...over_time.memoised import design_memoised, memoised_values

    return design_memoised(made, epsilon, asked.periods, memoised_values(asked, different))


def _directions(prior: Any, epsilon: float, asked: Repeated) -> Way:
    from ...over_time.directions import design_directions

    return design_directions(prior, epsilon, asked)


def _rows(options: DesignOptions, prior: Any, epsilon: float, asked: Repeated) -> Way:
    from ...over_time.noise import Noise
    from ...over_time.rows import design_rows, plan_rows
    from .numbers.handler import design_numbers

    planned = plan_rows(Noise(prior), epsilon, asked)
    return design_rows(lambda of, budget: design_numbers(options, of, budget).mechanism, planned, epsilon)


def _of_categories(options: DesignOptions, asked: Repeated, epsilon: float, way: str) -> _Chosen:
    """The same for categories: a panel of one report, a report in every period, or a remembered one of each value."""
    from ...over_time import plan_over_time
    from .categories import Categories, read_labels_prior

    if way in ("rows", "tree", "directions"):
        raise InputError(f"way {way} is for numbers, got --categorical: use --way panel")
    designed: dict[float, Designed] = {}

    def design(budget: float) -> Designed:
        if budget not in designed:
            designed[budget] = Categories.design(replace(options, epsilons=[budget]))
        return designed[budget]

    def mechanism(budget: float) -> Any:
        return design(budget).bundle

    prior, _ = read_labels_prior(options)
    only = None if way == "auto" else way
    found = plan_over_time(prior, epsilon, 1, asked, only=only, made=mechanism)[0]
    more = {"error_times_root_n": found.error(asked.of), "of": asked.of}
    notes = next(iter(designed.values())).notes
    build = partial(_memoised, mechanism, epsilon, asked, prior.weights.size) if found.way == "memoised" else None
    return _Chosen(found.way, found.life_epsilon, found.reports, mechanism, notes, more, build)
