"""What a user may ask of `optldp design`, and which of it makes sense for what is to be designed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from .....mechanisms.errors import InputError
from .....mechanisms.option_grammar import Option, Taken, asked_for, name_asked, value_told
from ....methods.options import in_words as methods_in_words
from ....methods.options import read_method, told_method
from ....objectives.registry import AskedObjective, in_words
from ....privacies import PURE, carries_budgets, of_values, privacy_name
from ....privacies import in_words as privacies_in_words
from ...output.output import refuse_given
from ...output.prior import read_prior
from ..kind import FOR_ALL, DesignKind, OneTable
from ..shared import EPSILON, TOLERANCE, UNIFORM_SHARE, Categorical, Explain, Force, Json, UniformShare, Units
from .features import FeaturesOptions
from .mixing import MixingOptions
from .objective import PANEL, ObjectiveOptions
from .over_time import PANEL as OVER_TIME
from .over_time import OverTimeOptions

if TYPE_CHECKING:
    import numpy as np

    from ....methods.base import Method
    from ....objectives.at_most import AtMost
    from ....objectives.base import Objective
    from ....priors.prior import Prior
    from .levels import Budgets

AUTO = "--knots auto"

OF_KNOTS = {"auto": Taken("auto:gap=1e-5", (Option("gap", float, "to every mechanism on the interval"),))}
OF_LEVEL = Taken("0.5,method=olh", (Option("epsilon", float, "budget"), Option("method", str, "for the level")))
OF_LEAKAGE = Taken(
    "0.2,shares=2,1,1,outputs=-100:300:81",
    (
        Option("bound", float, "of the log-ratio"),
        Option("shares", list, "users at each level"),
        Option("outputs", str, "the only reports, LO:HI:N"),
    ),
)
"""What values of options may be told beside."""

NOISES = ("gaussian", "geometric")
"""Values of --method that keep no pure budget; as of `ADDITIVE`."""

QUERIES = ("workload", "quantile")
"""Objectives that are questions, and no loss of one report, under whatever privacy."""

FORMS = ("auto", "table", "floor")
"""Values of --form."""

OF_ATTRIBUTES = ("expected", "error")
"""Values of --objective that several attributes can be designed for."""

LARGE_TABLE = 2**16
"""Numbers beyond which a table is written as a floor form if nothing else is asked: a megabyte of JSON."""


@dataclass(frozen=True, kw_only=True)
class DesignOptions(FeaturesOptions, OverTimeOptions, ObjectiveOptions, MixingOptions):
    """What `optldp design` may be asked; what is to be designed decides which of it makes sense."""

    epsilons: Annotated[list[float] | None, EPSILON] = None
    privacy: Annotated[
        str, typer.Option("--privacy", help=f"Kind of promise for any two values. {privacies_in_words()}.")
    ] = PURE
    knots_text: Annotated[
        str | None,
        typer.Option(
            "--knots",
            metavar="N|auto",
            help="Equally spaced knots, or auto for as many as a gap needs. auto:gap=1e-5 sets the relative "
            "gap to every mechanism on the interval; otherwise it is 1e-4, by at most 401. Default: auto, "
            "or a prior's own "
            "values; for other methods and objectives 101.",
        ),
    ] = None
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            help=f"Of a table of numbers: {in_words()}",
            rich_help_panel=PANEL,
        ),
    ] = "expected"
    of: Annotated[
        str | None,
        typer.Option(
            "--of",
            metavar="QUESTION",
            help="Question that the reports will answer, instead of --objective: mean, difference, median, "
            "share:above=20, cdf, or mean,cdf for both; all but the first two need --n. Over --periods: each (the "
            "mean of each; default), average, of all, or change, from each to the next.",
            rich_help_panel=PANEL,
        ),
    ] = None
    circle: Annotated[
        float | None,
        typer.Option(
            "--circle",
            metavar="PERIOD",
            help="Values are on a circle, of hours of 24 for instance. Distance is the shorter way round, in --privacy "
            "metric and in losses; reports may be biased, and are the values themselves without --outputs.",
        ),
    ] = None
    loss: Annotated[
        str | None,
        typer.Option(
            "--loss",
            help="Loss of one report: absolute, squared, zero-one, circular (with --circle), or a file of numbers, "
            "a row for each value and a column for each of --outputs, no header; of categories zero-one, or a file "
            "with a column for each. The least expected loss; with --objective minimax the worst.",
            rich_help_panel=PANEL,
        ),
    ] = None
    biased: Annotated[
        bool, typer.Option("--biased", help="Reports on --outputs may be biased.", rich_help_panel=PANEL)
    ] = False
    outputs_text: Annotated[
        str | None,
        typer.Option(
            "--outputs",
            metavar="LO:HI:STEP|FILE|N|bits:B",
            help="The only possible reports; a file has a column output. A number such as 16, or bits:4, "
            "is the largest number of reports, which are placed where they are best, for --objective "
            "expected, minimax and trade-off without a loss.",
            rich_help_panel=PANEL,
        ),
    ] = None
    workload: Annotated[
        Path | None,
        typer.Option(
            "--workload",
            metavar="prefix|ranges|moments|FILE",
            help="With --objective workload: the queries, by name or as numbers, queries x values.",
            rich_help_panel=PANEL,
        ),
    ] = None
    method_text: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="optimal (default), aaa, or a closed form such as piecewise; with --privacy approximate gaussian, "
            "with metric geometric. Categories: auto (default: the least error of grr, olh and subset, where subset "
            "must gain 2%, since its reports have a bit for each category), grr, olh, oue, rappor, subset, "
            "projective-geometry, optimal. "
            "Pairs: unary (default; grr with --level-epsilon), grr. "
            f"Some take settings, such as aaa:intervals=8,window=12 or ptt:worst-case: {methods_in_words()}.",
        ),
    ] = None
    categorical: Categorical = False
    value_column: Annotated[
        str | None, typer.Option("--value-column", help="Values of key-value pairs, whose keys are the column's.")
    ] = None
    value_method: Annotated[
        str | None, typer.Option("--value-method", help="For pairs: how values are reported. Default: duchi.")
    ] = None
    missing: Annotated[
        Literal["protect"] | None,
        typer.Option(
            "--missing",
            help="protect: people without a value report, too, and nobody learns who they are; the share with a value "
            "comes with the mean. Without it dropping a row shows that a person has none.",
        ),
    ] = None
    padding: Annotated[
        int | None, typer.Option("--padding", help="For pairs: about how many a user holds. Default: 1.")
    ] = None
    levels: Annotated[
        str | None,
        typer.Option("--levels", help="Budgets that users choose from, such as 0.1,0.5,1 or 0.1:1:0.1, for --epsilon."),
    ] = None
    level_epsilon_text: Annotated[
        str | None,
        typer.Option(
            "--level-epsilon",
            metavar="EPSILON",
            help="Budget that protects the choice among --levels; by method grr (default), olh, oue, rappor, "
            "subset or projective-geometry, as 0.5,method=olh; oue and rappor of at most 12 levels.",
        ),
    ] = None
    leakage_text: Annotated[
        str | None,
        typer.Option(
            "--leakage",
            metavar="BOUND",
            help="For --levels of numbers: make tables on common outputs, whose reports reveal the level by at most "
            "this log-ratio; inf for no bound. Settings are shares, the users at each level (default: equal), and "
            "outputs, LO:HI:N, the only reports (default: the best found): "
            "0.2,shares=2,1,1.",
        ),
    ] = None
    sampled: Annotated[
        int | None, typer.Option("--sampled", help="Attributes that a user reports. Default: the best number.")
    ] = None
    way: Annotated[
        str,
        typer.Option(
            "--way",
            rich_help_panel=OVER_TIME,
            help="How to collect over --periods: auto, the best that keeps the promise; panel, rows, tree, "
            "directions, fresh or memoised.",
        ),
    ] = "auto"
    turns: Annotated[
        str,
        typer.Option(
            "--turns",
            rich_help_panel=OVER_TIME,
            help="Source of each user's turns: names, by a public hash that estimate checks, or devices, which draw "
            "and keep them.",
        ),
    ] = "names"
    uniform_share: UniformShare = UNIFORM_SHARE
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            help="Relative gap to reach. Default: 1e-6 for numbers, 1e-4 for an error, 1e-3 for categories.",
        ),
    ] = None
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write, .json, or .npz for one table of numbers.")
    ] = None
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Error of a mean by clip point: .png, .svg, .pdf."),
    ] = None
    force: Force = False
    form: Annotated[
        str | None,
        typer.Option(
            "--form",
            help="Of the file of one table of numbers: table, floor: a few numbers a knot, or auto (default): floor "
            "for an optimum of 182 knots and more.",
        ),
    ] = None
    omit_prior: Annotated[bool, typer.Option("--omit-prior", help="Leave the prior out of the table.")] = False
    units: Units = ""
    explain: Explain = False
    as_json: Json = False

    @cached_property
    def method(self) -> str | None:
        """The name of the method, None if none was named; InputError for what it cannot be told."""
        return None if self.method_text is None else read_method(self.method_text)[0]

    @property
    def epsilon(self) -> float | None:
        """The one budget; InputError for several."""
        if self.epsilons and len(self.epsilons) > 1:
            raise InputError(f"a design takes one --epsilon, got {len(self.epsilons)}: see --levels, or optldp bounds")
        return self.epsilons[0] if self.epsilons else None

    @cached_property
    def kind(self) -> DesignKind | OneTable:
        """What is to be designed; InputError for an unknown objective."""
        if self.over_time:
            return DesignKind.OVER_TIME
        if self.for_text is not None:
            return DesignKind.FEATURES
        if self.of_places:
            return DesignKind.PLACES
        other = privacy_name(self.privacy) != PURE
        if self.method in NOISES or (other and not self.of_one_report):
            return DesignKind.NOISE
        if self.attributes is not None:
            return DesignKind.ATTRIBUTES if self.levels is None else DesignKind.LEVELS_OF_ATTRIBUTES
        if self.value_column is not None:
            return DesignKind.PAIRS if self.levels is None else DesignKind.LEVELS_OF_PAIRS
        if self.levels is not None:
            return DesignKind.LEVELS_OF_CATEGORIES if self.categorical else DesignKind.LEVELS
        if self.categorical:
            return DesignKind.CATEGORIES
        if self.missing is not None:
            return DesignKind.PROTECTED
        return OneTable(self.wanted.name)

    @cached_property
    def of_places(self) -> bool:
        """Whether --prior has columns x and y: places of the plane."""
        if self.prior_file is None or self.categorical or self.value_column is not None:
            return False
        from .....estimators.reading.columns.files import columns_of
        from .....mechanisms.spaces.places import COLUMNS

        return set(COLUMNS) <= set(columns_of(self.prior_file))

    @property
    def of_one_report(self) -> bool:
        """Whether a table is wanted for what one report is worth: of a loss, on given outputs, or by distance."""
        told = self.loss is not None or self.biased or self.circle is not None or self.of_places
        told = told or (self.outputs_text is not None and not self.few)
        return told or of_values(self.privacy, given=self.data is not None or self.prior_file is not None)

    @cached_property
    def wanted(self) -> AskedObjective:
        """The objective as it was asked for, with --loss and what goes with it; InputError for what does not."""
        if self.of is not None:
            from ....objectives.questions.asked import question_asked

            self.refuse("for a design that no question chooses", "--objective")
            asked = question_asked(self.of)
        else:
            asked = AskedObjective.read(self.objective)
        if self.workload is not None and asked.name == "workload":
            if asked.told:
                raise InputError(f"--workload is told twice, got --objective {asked} beside it: leave one out")
            asked = AskedObjective(asked.name, {"queries": self.workload})
        asked = self.with_assumed(asked)
        if self.of_places and asked.name == "workload":
            self.refuse("for a --loss of places", "--loss", "--biased", "--outputs")
            return asked
        of_a_loss = self.loss is not None or self.biased or self.circle is not None or self.outputs_text is not None
        if not self.of_one_report or (asked.name in QUERIES and not of_a_loss and not self.of_places):
            return asked
        worst = asked.told.get("worst", 1.0)
        mixed = worst / (worst + asked.told.get("expected", 1.0 - worst))
        shares = {"expected": 0.0, "minimax": 1.0, "trade-off": mixed}
        if asked.name not in shares:
            several = "--outputs, for --loss, --biased or --privacy,"
            what = "a --loss of categories" if self.categorical else f"a table on {several}"
            raise InputError(f"{what} needs --objective {', '.join(shares)}, got {asked.name}")
        # Labels have no mean to be unbiased, nor have places or what lies round a circle.
        biased = self.biased or self.categorical or self.circle is not None or self.of_places
        usual = "zero-one" if self.categorical else "squared"
        told = {"loss": self.loss or usual, "worst": shares[asked.name], "biased": biased}
        return AskedObjective("loss", told)

    @property
    def few(self) -> bool:
        """Whether a table of so many outputs at most is wanted, wherever these are."""
        from ....objectives.at_most import AtMost

        return not self.of_places and isinstance(self.outputs, AtMost)

    @cached_property
    def outputs(self) -> np.ndarray | AtMost | None:
        """The only reports there may be, or how many, if that was said; InputError for a text that says neither."""
        from .outputs import given_outputs

        return None if self.outputs_text is None else given_outputs(self.outputs_text)

    @cached_property
    def asked_method(self) -> str | Method:
        """The method of a table of numbers, with what it is told."""
        return told_method(self.method_text or "optimal")

    @cached_property
    def asked(self) -> Objective:
        """The objective of a table of numbers; InputError for what it lacks."""
        return self.wanted.made(self)

    @cached_property
    def budgets(self) -> Budgets:
        """The budgets, none where --privacy carries them; InputError for none else, or ones that make no sense."""
        from .levels import Budgets, budgets_of

        if carries_budgets(self.privacy):
            if self.epsilons or self.levels is not None:
                name = privacy_name(self.privacy)
                raise InputError(f"--privacy {name} carries its budgets, got others: leave --epsilon and --levels out")
            return Budgets(())
        return budgets_of(self.epsilon, self.levels, self.level_epsilon)

    @cached_property
    def level_epsilon(self) -> float | None:
        """The budget that protects the choice of a level, if one does."""
        return self._of_level.get("epsilon")

    @property
    def level_method(self) -> str | None:
        """How the level itself is reported, if that was said."""
        return self._of_level.get("method")

    @cached_property
    def _of_level(self) -> dict[str, Any]:
        return {} if (text := self.level_epsilon_text) is None else value_told(text, OF_LEVEL, "--level-epsilon")

    @cached_property
    def of_leakage(self) -> dict[str, Any]:
        """What --leakage is told, nothing where it is not given: its bound, shares and outputs."""
        return {} if self.leakage_text is None else value_told(self.leakage_text, OF_LEAKAGE, "--leakage")

    @property
    def leakage(self) -> float | None:
        """What the report of a value may tell of the level, if that is bounded."""
        return self.of_leakage.get("bound")

    @property
    def automatic(self) -> bool:
        """Whether the number of knots is to be chosen, because that was asked for."""
        return self.knots_text is not None and name_asked(self.knots_text) == "auto"

    @cached_property
    def gap(self) -> float | None:
        """The relative gap that the number of knots must reach, if one was named."""
        return asked_for(self.knots_text or "auto", OF_KNOTS, "--knots")[1].get("gap") if self.automatic else None

    @cached_property
    def knot_count(self) -> int | None:
        """The number of knots, None for the default; InputError for a text that is no number."""
        if self.knots_text is None or self.automatic:
            return None
        try:
            return int(self.knots_text)
        except ValueError:
            raise InputError(f"--knots must be a whole number or auto, got {self.knots_text!r}") from None

    def writes_floor(self, knots: int, outputs: int) -> bool:
        """Whether a table of such a size is to be written as a floor form, if it has one."""
        return self.form == "floor" or (self.form in (None, "auto") and knots * outputs > LARGE_TABLE)

    @property
    def precision(self) -> float:
        """The relative gap that a program for numbers must reach."""
        return TOLERANCE if self.tolerance is None else self.tolerance

    def refuse_useless(self) -> None:
        """Raise InputError for budgets that make no sense, and for an option that would be ignored."""
        given = {name: value for name, value in self.given().items() if name not in FOR_ALL}
        if self.categorical and self.kind is DesignKind.NOISE:
            raise InputError(
                "noise of one shape is for numbers, got categories: give --epsilon, or a --privacy of pairs of them "
                "such as blocks:FILE,within=1,across=3"
            )
        _ = self.budgets
        if self.kind is DesignKind.ATTRIBUTES and self.wanted.name not in OF_ATTRIBUTES:
            raise InputError(f"--objective of attributes must be expected or error, got {self.objective!r}")
        useless = {name: value for name, value in given.items() if name not in self.kind.uses}
        if "--objective" in self.kind.uses and self.uniform_share == 0:
            useless.pop("--uniform-share", None)  # what mixes nothing in solves for exactly that prior anyway
        refuse_given(f"of no use to {self.kind.label}", useless)
        own = self.of_places or self.circle is not None  # outputs are the values themselves unless others are given
        needs_outputs = not own and (self.biased or self.loss not in (None, "squared"))
        of_loss = "--loss" in self.kind.uses and not self.categorical
        if of_loss and (self.few or (self.outputs_text is None and needs_outputs)):
            raise InputError("a table for a loss needs a list of its reports: give --outputs LO:HI:STEP")
        if self.few and (self.method_text is not None or self.form is not None or self.automatic):
            raise InputError(
                "--outputs as a number is for tables of the optimum on given knots: leave --method, --form and "
                "--knots auto out"
            )
        _ = self.sure, self.of_places or self.outputs
        if self.form not in (None, *FORMS):
            raise InputError(f"--form must be one of {', '.join(FORMS)}, got {self.form!r}")
        if self.value_column is not None and not self.categorical:
            raise InputError("pairs need --categorical, as their keys are categories: add it")
        if self.automatic and AUTO not in self.kind.uses:
            raise InputError(f"--knots auto is of no use to {self.kind.label}: give a number")
        _ = self.knot_count, self.gap, self.leakage

    @property
    def leaves_out(self) -> bool:
        return self.drop_missing or self.missing is not None

    def prior(self, column: str | None = None) -> tuple[Prior, list[str]]:
        """Read the prior of numbers: of --column or --prior, or of another column of DATA."""
        if column is None:
            prior, notes = self.prior_on(self.knot_count, self.units)
            return prior.with_period(self.circle), notes
        return read_prior(
            self.data, column, self.domain, None, self.knot_count, self.public, True, self.units, clip=self.clip
        )
