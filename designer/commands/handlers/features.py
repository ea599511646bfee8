"""Features of several columns: columns by their names in, the number of a feature and its report out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from ....estimators.intervals import CONFIDENCE
from ....estimators.reading.columns.number_cells import read_sparse_column
from ....estimators.reading.columns.texts import missing_texts, read_texts
from ....mechanisms.errors import InputError
from ....mechanisms.exactness.verification import verify
from ....mechanisms.features import Features
from ...features import Pilot
from ..options.kind import DesignKind
from ..output.output import readable
from ..output.prior import LABELS_DISCLOSED, SENSITIVE
from .attributes import attribute_range
from .bundle import BundleKind
from .kind import Designed, Found, Held, Layout, Part, Rows

if TYPE_CHECKING:
    from pathlib import Path

    from ....mechanisms.spaces.categories import Categories
    from ....mechanisms.table.knot_prior import KnotPrior
    from ...features import FeaturesDesign, Pilot
    from ...planning.people import MeanWithin
    from ..options.designs.design import DesignOptions
    from ..options.designs.features import FeaturesOptions
    from ..options.perturb import PerturbOptions
    from .kind import Service
    from .options import CountOptions, EstimateOptions

FEATURE, REPORT = "feature", "report"
"""Columns of a report."""

LISTS = {"regression": ("coefficients", "slopes"), "group-means": ("groups", "means")}
"""Targets of several numbers: what JSON calls these, and people."""

TOLD = ("value", "std_error", "low", "high")
"""Of each cell, beside its values of both columns."""

FEW_RECORDS = 100
"""Of a survey below which its own chance errors are larger than what it is good for."""


@dataclass(frozen=True, eq=False)
class FeatureReports(BundleKind[Features]):
    """Values are the columns of the box; a user reports one feature of them."""

    of: ClassVar[type] = Features
    designs: ClassVar[tuple[DesignKind, ...]] = (DesignKind.FEATURES,)
    holds: ClassVar[tuple[str, ...]] = ("--clip", "--drop-missing")
    moves: ClassVar[str] = "of n moves what is estimated by at most"

    @classmethod
    def design(cls, options: DesignOptions) -> Designed:
        """Return the mechanism for what --for asks of the columns."""
        from ...features import people_of

        epsilon = options.budgets.epsilons[0]
        made, notes = features_design(
            options, options.data, epsilon, options.n, clip=options.clip, drop_missing=options.drop_missing,
            public=options.public,
        )  # fmt: skip
        return Designed(made.mechanism, notes, people_of(made, options.n))

    def means_within(
        self, people: int, priors: Sequence[KnotPrior] = (), *, confidence: float = CONFIDENCE
    ) -> dict[str, MeanWithin]:
        """Return nothing: the error for so many people is among the facts of the design."""
        return {}

    def held(self, asked: PerturbOptions, beside: Mapping[str, np.ndarray]) -> Held:
        boxes = self.mechanism.columns
        labels = self.mechanism.labels
        columns = {
            name: read_texts(asked.data, [name])[0] if name in labels else read_sparse_column(asked.data, name)
            for name in boxes
        }
        rows = asked.rows_with({**columns, **beside})
        moved = [
            (_numbered(name, labels[name], columns[name][rows]), 0)
            if name in labels
            else asked.inside(columns[name][rows], box)
            for name, box in boxes.items()
        ]
        values = np.transpose([inside for inside, _ in moved])

        def each() -> list[dict[str, float]]:
            return [dict(zip(boxes, row, strict=True)) for row in values.tolist()]

        return Held(values, rows, sum(many for _, many in moved), (*columns, *beside), each)

    def layout(self, column: str, level_column: str) -> Layout:
        return Layout((FEATURE, REPORT), (True, True), self.reports_of)

    def reports_of(self, cells: Sequence[np.ndarray]) -> np.ndarray:
        return self.mechanism.checked_reports(np.column_stack(cells))

    def columns_of(self, reports: np.ndarray) -> dict[str, np.ndarray]:
        return {FEATURE: reports[:, 0], REPORT: reports[:, 1]}

    def of_reports(self, reports: Any, many: np.ndarray) -> Any:
        return reports

    def to_test(self, counts: Any) -> Sequence[Any]:
        """No counts: the laws of features together are not tested."""
        return []

    def estimate(self, services: Sequence[Service], asked: EstimateOptions) -> Found:
        files = [each.reports for each in services]
        if twice := [path for place, path in enumerate(files) if path in files[:place]]:
            raise InputError(
                f"reports must be given once, got {str(twice[0])!r} twice: the same people would count double"
            )
        return super().estimate(services, asked)

    def found(self, counts: Any, asked: EstimateOptions) -> Found:
        from ....estimators.features import estimate_features

        asked.refuse("of no use to features of several columns", "--method", "--level-column")
        found = estimate_features(self.mechanism, counts, confidence=asked.confidence)
        whole = {
            "method": found.method,
            "n": found.n,
            "confidence": asked.confidence,
            "worth_open_records": int(found.worth_open_records.min()),
        }
        each = ("value", "std_error", "low", "high", "bias_low", "bias_high")
        columns = {name: getattr(found, name).tolist() for name in each}
        last = f"These {found.n:,} reports are worth {whole['worth_open_records']:,} open records."
        about = {"for": self.mechanism.target}
        if self.mechanism.target not in LISTS:
            title = f"{self.mechanism.target} of {' and '.join(self.mechanism.columns)}"
            return Found(title, about | {name: cells[0] for name, cells in columns.items()} | whole, last=last)
        cells = {"name": list(found.names), **columns}
        rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
        listed, what = LISTS[self.mechanism.target]
        shown = Rows(what, list(cells), [[readable(cell) for cell in row.values()] for row in rows])
        response = list(self.mechanism.columns)[-1]
        return Found(f"{what} of {response}", about | whole, {listed: rows}, shown, cells, last=last)

    def answer(self, services: Sequence[Service], asked: CountOptions) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        raise InputError("count is not for features of several columns: estimate takes the reports themselves")

    def query(self, kinds: Any, relations: Sequence[str], **options: Any) -> str:
        raise InputError("count-sql is not for features of several columns: estimate takes the reports themselves")

    def one_report_times_n(self) -> float | list[float] | None:
        """None for moments and signs: what one report of these moves depends on what the others say."""
        if self.mechanism.told.get("way") == "moments" or self.mechanism.target == "group-means":
            return None
        return super().one_report_times_n()

    def parts(self) -> list[Part]:
        made = self.mechanism
        each = zip(made.features, made.shares.tolist(), strict=True)
        return [Part(one.name, one.mechanism, share=share) for one, share in each]

    def facts(self) -> dict[str, Any]:
        made = self.mechanism
        return {
            "kind": made.kind,
            "for": made.target,
            "epsilon": made.epsilon,
            "columns": list(made.columns),
            "features": [each.name for each in made.features],
            "shares": made.shares.tolist(),
            "max_log_ratio": [verify(each.mechanism).max_log_ratio for each in made.features],
            "method": made.features[0].mechanism.provenance.method,
        }


def features_design(
    options: FeaturesOptions, data: Path | None, epsilon: float, users: int | None, *, clip: bool, drop_missing: bool,
    public: bool,
) -> tuple[FeaturesDesign, list[str]]:  # fmt: skip
    """Return what --for asks of the columns, by a survey or without one, and what there is to say of it."""
    from ...features import design_association, design_groups, design_regression, design_table

    target, told = options.for_what
    if target == "table":
        columns, shares = table_held(options, data, drop_missing=drop_missing)
        return design_table(columns, epsilon, shares), [] if public else [LABELS_DISCLOSED]
    box = dict(map(attribute_range, options.attributes or ()))
    if target == "group-means":
        held = groups_held(options, data, box, clip=clip, drop_missing=drop_missing)
        assert options.group is not None  # or it was refused
        made = design_groups(
            options.group, held.labels, held.column, held.box, epsilon, held.groups, held.values,
            users=users, source="public" if public else "sensitive", **told,
        )  # fmt: skip
        return made, [] if public else [SENSITIVE]
    if len(box) < len(options.attributes or ()):
        raise InputError("columns must differ, got one twice: name each once")
    if options.after is not None:
        return _second_round(options, options.after, data, box, epsilon), []
    notes = []
    pilot = None
    if data is not None:
        pilot = survey(data, box, clip=clip, drop_missing=drop_missing)
        notes = [] if public else [SENSITIVE]
        if len(pilot.records) < FEW_RECORDS:
            notes.append(f"warning: the survey has {len(pilot.records)} records, whose own errors no report mends")
    if target == "regression":
        assert options.response is not None  # or it was refused
        made = design_regression(
            options.response, box, epsilon, pilot, source="public" if public else "sensitive", **told
        )
        return made, notes
    made = design_association(
        target, box, epsilon, pilot, users=users if "clip" not in told else None, rank=options.rank,
        source="public" if public else "sensitive", **told,
    )  # fmt: skip
    return made, notes


def _second_round(
    options: FeaturesOptions, after: tuple[Path, Path], data: Path | None, box: Mapping[str, tuple[float, float]],
    epsilon: float,
) -> FeaturesDesign:  # fmt: skip
    """Return the mechanism of the users who are asked after the first round."""
    from ....mechanisms import load_mechanism
    from ...features import design_after
    from .reading import read_laid_out

    table, reports = after
    if data is not None:
        raise InputError(f"a second round is by the first one's reports, got a survey, {str(data)!r}: leave one out")
    loaded = load_mechanism(table)
    if getattr(loaded, "kind", None) != Features.kind:
        raise InputError(f"the first round must be of features of several columns, got {str(table)!r} of another kind")
    first = cast("Features", loaded)
    if box != dict(first.columns) or options.response != list(first.columns)[-1]:
        wanted = " ".join(f"--column {name}={low:g}:{high:g}" for name, (low, high) in first.columns.items())
        raise InputError(f"both rounds must be of the same columns and response, got others than {wanted}: name these")
    kind = FeatureReports(first)
    layout = kind.layout("", "")
    read = read_laid_out(layout, reports, kind.identifier, drop_missing=False, skip_invalid=False)
    return design_after(first, read.reports, epsilon, **options.for_what[1])


def rounds_plan(
    options: FeaturesOptions, data: Path | None, epsilon: float, people: int | None, error: float | None
) -> dict[str, int | float | bool]:
    """Return what two rounds of a regression without a survey err by or take, and whether they pay; else nothing."""
    from ...features import two_rounds

    target, told = options.for_what
    if target != "regression" or data is not None or options.after is not None:
        return {}
    assert options.response is not None  # or it was refused
    found = two_rounds(options.response, dict(map(attribute_range, options.attributes or ())), epsilon, **told)
    if error is None:
        assert people is not None  # or it was refused
        return {"error_two_rounds": float(found.std_errors(people).max()), "two_rounds_pay": found.pay(people)}
    needed = found.people(error)
    return {"people_two_rounds": needed, "two_rounds_pay": found.pay(needed)}


def split_people(
    options: FeaturesOptions, data: Path | None, epsilon: float, error: float, *, clip: bool, drop_missing: bool
) -> dict[str, int]:
    """Return how many people half the budget for each column takes, of a correlation by a survey; else nothing."""
    from ...features import split_variance

    target, told = options.for_what
    if target != "correlation" or options.rank or data is None:
        return {}
    box = dict(map(attribute_range, options.attributes or ()))
    pilot = survey(data, box, clip=clip, drop_missing=drop_missing)
    return {"people_split": math.ceil(split_variance(pilot, box, epsilon, **told) / error**2)}


def table_held(
    options: FeaturesOptions, data: Path | None, *, drop_missing: bool
) -> tuple[dict[str, list[str]], np.ndarray]:
    """Return the values of both columns of a survey, and the shares (r, c) of its people in each cell."""
    names = options.attributes or []
    if with_range := [name for name in names if "=" in name]:
        raise InputError(f"columns of a table have values and no range, got {with_range[0]!r}: name it alone")
    if len(set(names)) != 2:
        raise InputError(f"a table is of two columns, got {len(set(names))}: name two, as --column sex --column job")
    if taken := [name for name in names if name in TOLD]:
        raise InputError(f"columns of a table must not be called as what is told of cells, got {taken[0]!r}: rename it")
    if data is None:
        raise InputError("a table needs a survey, whose values of the columns are its rows and columns: name one")
    codes, columns = [], {}
    for name, texts in zip(names, whole_texts(data, names, drop_missing=drop_missing), strict=True):
        values, where = np.unique(texts.astype(str), return_inverse=True)
        if len(values) < 2:
            raise InputError(f"column {name!r} must vary, got {values[0]!r} alone: a constant goes with nothing")
        columns[name] = values.tolist()
        codes.append(where)
    shape = tuple(map(len, columns.values()))
    many = np.bincount(np.ravel_multi_index(codes, shape), minlength=shape[0] * shape[1]).reshape(shape)
    return columns, many / many.sum()


@dataclass(frozen=True, eq=False)
class GroupsHeld:
    """A survey's groups, and the numbers whose means are wanted: positions (K,) among labels, values (K,) in a box."""

    labels: tuple[str, ...]
    groups: np.ndarray
    column: str
    values: np.ndarray
    box: tuple[float, float]


def groups_held(
    options: FeaturesOptions, data: Path | None, box: Mapping[str, tuple[float, float]], *, clip: bool,
    drop_missing: bool,
) -> GroupsHeld:  # fmt: skip
    """Return the groups of a survey and the numbers of its people."""
    assert options.group is not None  # or it was refused
    if len(box) != 1 or options.group in box:
        named = ", ".join(box) or "none"
        raise InputError(f"--group needs exactly one column to average, got {named}: name one, as --column y=0:80")
    if data is None:
        raise InputError("means of groups need a survey, whose values of --group are the groups: name one")
    ((column, ends),) = box.items()
    texts, values = read_texts(data, [options.group])[0], read_sparse_column(data, column)
    whole = np.logical_not(missing_texts(texts) | np.isnan(values))
    _require_whole(data, whole, drop_missing=drop_missing)
    labels, groups = np.unique(texts[whole].astype(str), return_inverse=True)
    held = np.clip(values[whole], *ends) if clip else values[whole]
    return GroupsHeld(tuple(labels.tolist()), groups, column, held, ends)


def _numbered(name: str, labels: Categories, texts: np.ndarray) -> np.ndarray:
    """Return the numbers (N,) of labels; InputError for others, with the column's name."""
    try:
        return labels.codes(texts).astype(float)
    except InputError as error:
        raise InputError(f"column {name!r}: {error}") from None


def whole_texts(data: Path, names: Sequence[str], *, drop_missing: bool) -> list[np.ndarray]:
    """Return the columns of text of the records that have all; InputError for ones that lack some."""
    texts = read_texts(data, names)
    whole = np.logical_not(np.any([missing_texts(each) for each in texts], axis=0))
    _require_whole(data, whole, drop_missing=drop_missing)
    return [each[whole] for each in texts]


def _require_whole(data: Path, whole: np.ndarray, *, drop_missing: bool) -> None:
    """Raise InputError for records that lack a column, unless they are dropped, and where none is left."""
    if not whole.any():
        raise InputError(f"a record of {str(data)!r} must have all columns, got none that has")
    if not drop_missing and not whole.all():
        first = int(np.argmin(whole)) + 1
        raise InputError(
            f"records of {str(data)!r} must have all columns, got {int((~whole).sum())} without, the first in row "
            f"{first}: correct them, or --drop-missing"
        )


def survey(data: Path, box: Mapping[str, tuple[float, float]], *, clip: bool, drop_missing: bool) -> Pilot:
    """Return the records of a survey that have all columns; InputError for ones that lack some, or lie outside."""
    columns = np.column_stack([read_sparse_column(data, name) for name in box])
    whole = np.logical_not(np.isnan(columns).any(axis=1))
    _require_whole(data, whole, drop_missing=drop_missing)
    held = columns[whole]
    if clip:
        held = np.clip(held, *np.array(list(box.values())).T)
    return Pilot(tuple(box), held)
