"""Ways of collecting over time: a mechanism of one report, and who reports in which period."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ....mechanisms.errors import InputError
from ....mechanisms.over_time.way import Way
from ..options.kind import DesignKind
from .bundle import BundleKind
from .kind import Designed, Found, Held, Kind, Layout, Part, WrittenReports

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes

    from ..options.design import DesignOptions
    from ..options.perturb import PerturbOptions
    from .kind import Checked, Service
    from .options import CountOptions, EstimateOptions

WAYS = ("auto", "panel")
"""Values of --way."""


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
    def design(cls, options: DesignOptions) -> Designed:
        """Return the way that was asked for, or the best that keeps what is to be protected."""
        from ....mechanisms.combinators.attribute_sampling import attribute_budget
        from ...over_time import design_panel

        if options.way not in WAYS:
            raise InputError(f"--way must be one of {', '.join(WAYS)}, got {options.way!r}")
        asked, epsilon = options.repeated(options.of), options.budgets.epsilons[0]
        if options.protects != "life":
            raise InputError(f"--way panel protects a life, got --protects {options.protects}: leave it out")
        one = replace(options, periods=None, changes=None, answers="on-time", of="each", way="auto")
        reports, notes, mechanism, more = (_of_categories if options.categorical else _of_numbers)(one, asked, epsilon)
        share = attribute_budget(epsilon, reports)
        made = design_panel(lambda _: mechanism(share), epsilon, asked.periods, reports)
        return Designed(made, notes, more, title=f"panel over {asked.periods} periods, {reports} reports a user")

    @property
    def one(self) -> Kind:
        """The mechanism of one report, as commands see it."""
        from .registry import kind_of

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


def said_promise(way: Way) -> str:
    """Return the promise of a way in one sentence."""
    return way.promised.format(epsilon=f"{way.epsilon:g}", factor=f"{math.exp(way.epsilon):.3g}")


def _of_numbers(options: DesignOptions, asked: Any, epsilon: float) -> tuple[int, list[str], Any, dict[str, Any]]:
    """How many reports are best, notes, what makes the table of a budget, and the error of what is asked."""
    from ...over_time.noise import Noise
    from ...over_time.panel import panel_reports, panel_variance
    from ..output.output import spinner
    from .numbers import design_numbers

    prior, notes = options.prior()
    with spinner("reports a user") as told:
        noise = Noise(prior, progress=lambda budget: told(f"epsilon {budget:.3g}"))
        reports = panel_reports(noise, epsilon, asked)
        variance = panel_variance(noise, epsilon, asked, reports)
    more = {"error_times_root_n": math.sqrt(variance), "of": asked.of}
    return reports, notes, lambda share: design_numbers(options, prior, share).mechanism, more


def _of_categories(options: DesignOptions, asked: Any, epsilon: float) -> tuple[int, list[str], Any, dict[str, Any]]:
    """The same for categories, of which each user sends one report."""
    from .categories import Categories

    made = Categories.design(replace(options, epsilons=[epsilon]))
    return 1, made.notes, lambda _: made.bundle, {"of": asked.of}
