r"""What a poisoner can do: the most that one user's report can move an estimate, whatever it says.

Local privacy makes honest reports noisy, and estimators undo the noise by multiplying: at epsilon 0.1 a report of
Duchi's counts for twenty times the domain's half-width.  So whoever sends a report of their choice instead of an honest
one moves the estimate the farther, the stricter the privacy is.  No estimator can tell, because any report that the
mechanism admits is an honest one's with a probability at least e^-epsilon times the largest.

For an estimate that is an average over n users of a number for each report, v(y), the most is

    (max_y v(y) - min_y v(y)) / n,

over all reports that the mechanism can make, whatever the other reports are; k reports move it k times as far.

Source: Hampel (1974), "The influence curve and its role in robust estimation", for the gross-error sensitivity; Cheu,
Smith and Ullman (2021), "Manipulation attacks in local differential privacy", and Cao, Jia and Gong (2021), "Data
poisoning attacks to local differential privacy protocols", for what these attacks do and that they cannot be avoided.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np

from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.combinators.attribute_sampling import AttributeSampling
from ...mechanisms.combinators.personalised import PersonalisedMechanism
from ...mechanisms.compact_tables.floor_and_windows import expanded
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Dots, Told
from ...mechanisms.errors import InputError
from ...mechanisms.features import Features, Sides
from ...mechanisms.key_value.mechanism import KeyValueMechanism
from ...mechanisms.over_time.way import Way
from ...mechanisms.table.table import TabulatedMechanism
from ...mechanisms.units import units_label
from ..frequencies.decoder import frequency_decoder
from ..frequencies.frequencies import FrequencyEstimate
from ..key_values.published import KeyValueEstimate, frequency_contributions, mean_contributions
from ..means.decoder import Extreme, mean_decoder
from ..means.mean import MeanEstimate
from ..means.means_of_attributes import AttributeMeans
from ..means.sides import side_decoders
from ..means.winsorised import winsorised


@dataclass(frozen=True, eq=False, repr=False)
class Influence(Shown):
    """How far one report of n can move T estimated numbers, each by itself; in the units of the estimates.

    Parameters
    ----------
    of : tuple of str
        Names of the numbers: "mean", or the categories, keys or attributes.
    lowest, highest : (T,) ndarray of float
        The least and the largest number that a report can add to the average that the estimate is.
    width : (T,) ndarray of float
        The most that any number of reports can move the estimate.
    n : int, optional
        Reports, where an estimate was given.
    std_error : (T,) ndarray of float, optional
        Of the estimate.
    first_order : bool
        Whether this holds only for few reports at the given estimate, instead of exactly and everywhere.
    total : float, optional
        For frequencies: a bound on the sum of all moves by one report of n, times n.
    extremes : (Extreme, Extreme), optional
        For the mean of one table: the reports that attain it.
    units : str

    Example
    -------
    >>> from optldp import influence
    >>> from optldp.mechanisms import duchi
    >>> influence(duchi([-1.0, 1.0], 1.0))
    Influence(numbers=1, largest='mean', times_n=4.32791, first_order=False)
    """

    of: tuple[str, ...]
    lowest: np.ndarray
    highest: np.ndarray
    width: np.ndarray
    n: int | None = None
    std_error: np.ndarray | None = None
    first_order: bool = False
    total: float | None = None
    extremes: tuple[Extreme, Extreme] | None = None
    units: str = ""

    def _told(self) -> Told:
        columns = {"of": self.of, "lowest": self.lowest, "highest": self.highest, "times_n": self.times_n}
        if self.n is not None:
            columns["one_report"] = self.one_report
        what = units_label("what one report moves, times n", self.units)
        return Told(self._line(), columns, Dots(self.of, self.times_n, what))

    def _line(self) -> dict[str, Any]:
        most = int(np.argmax(self.times_n))
        facts = {"numbers": len(self.of), "largest": self.of[most], "times_n": float(self.times_n[most])}
        return facts | {"n": self.n, "first_order": self.first_order}

    @property
    def times_n(self) -> np.ndarray:
        """(T,) the most that one report of n moves each estimate, times n."""
        return self.highest - self.lowest

    @property
    def one_report(self) -> np.ndarray:
        """(T,) the most that one report moves each estimate; InputError where the number of reports is not known."""
        if self.n is None:
            raise InputError("the number of reports must be known: give an estimate, or use times_n")
        return np.minimum(self.times_n / self.n, self.width)

    def share(self, fraction: float) -> np.ndarray:
        """Return the most (T,) that this share of the users, in [0, 1], can move each estimate together."""
        if not 0.0 <= fraction <= 1.0:
            raise InputError(f"a share of the users must lie in [0, 1], got {fraction!r}")
        return np.minimum(fraction * self.times_n, self.width)

    @property
    def reports_per_std_error(self) -> np.ndarray:
        """(T,) how many poisoned reports move each estimate by as much as its standard error."""
        if self.std_error is None:
            raise InputError("standard errors must be known: give an estimate")
        return self.std_error / self.one_report


SAME_INFLUENCE = 1e-9
"""Two decoders whose extremes differ by a larger share of their distance are not the same one."""


def influence(mechanism: Any, estimator: Any = None, *, winsorise: float | None = None) -> Influence:
    r"""Return the most that one report can move an estimate from a mechanism's reports.

    | mechanism | estimator | what a report adds to the average over n users |
    |---|---|---|
    | table | `estimate_mean` | the decoded report, winsorised or not |
    | categories | `estimate_frequencies`, "unbiased" | its row of the `frequency_decoder` |
    | pairs | `estimate_key_means`, frequencies | l (1 - b) / (a - b) where the key shows, -l b / (a - b) else |
    | pairs | `estimate_key_means`, means, at an estimate | (s - m h) n / N, s and h what it adds to sum and number |
    | way over time | as of its mechanism | of one period, n those who report in it |
    | attributes | `estimate_attribute_means` | d / k times the decoded report, of those who report the attribute |
    | features by a pilot | `estimate_features` | the step of its feature times the decoded report, over its share |
    | signed sets | the sum over each group, over all users | what its set adds to the sum |
    | other features | the mean of each | the decoded report over the feature's share |

    For means of pairs it is of first order, at the given estimate before its clipping. It is also of first order for
    several features, whose numbers of users a poisoner changes a little. All others hold exactly, for any data. For
    fits see `fitted_influence`; means over several services, and of levels in the clear, have `one_report`.

    Parameters
    ----------
    mechanism : TabulatedMechanism, CategoricalMechanism, KeyValueMechanism or AttributeSampling
    estimator : str or estimate, optional
        "mean", "unbiased", "frequencies" or "means", the default of each kind; or an estimator's result, which adds the
        number of reports and the standard errors. `KeyValueEstimate` stands for its means.
    winsorise : float, optional
        For a table, as in `estimate_mean`.

    Returns
    -------
    found : Influence
        `times_n`: the largest move times the number of users; `share(s)`: the most that a share s of liars moves it.

    Raises
    ------
    InputError
        A mechanism or an estimator without a known influence; the message lists those that have one.

    Example
    -------
    >>> from optldp import influence
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> found = influence(duchi([0.0, 10.0], 1.0))
    >>> found.times_n.round(2), found.share(0.01).round(3)
    (array([21.64]), array([0.216]))
    """
    return _found(expanded(mechanism), estimator, winsorise)


@singledispatch
def _found(mechanism: Any, estimator: Any, winsorise: float | None) -> Influence:
    raise InputError(f"influence is known for tables, categories, pairs and attributes, got {mechanism!r:.60}")


@_found.register
def _of_levels(mechanism: PersonalisedMechanism, estimator: Any, winsorise: float | None) -> Influence:
    _refuse_winsorising(mechanism, winsorise)
    raise InputError(
        "influence with levels depends on how many users chose which: see one_report of personalised_mean where "
        "levels are in the clear; there is none known where they are protected"
    )


@_found.register
def _of_table(table: TabulatedMechanism, estimator: Any, winsorise: float | None) -> Influence:
    _require(estimator, "mean", MeanEstimate)
    raw = isinstance(estimator, MeanEstimate) and estimator.method in ("average", "affine")
    extremes = mean_decoder(table, raw=raw).extremes
    ends = np.array([[extreme.value] for extreme in extremes])
    if winsorise is not None:
        ends = winsorised(table, winsorise, raw=raw).clip(ends)
    found = Influence(("mean",), ends[0], ends[1], ends[1] - ends[0], extremes=extremes, units=table.units)
    if isinstance(estimator, MeanEstimate):
        if estimator.method not in ("average", "affine", "decoder"):
            raise InputError(
                f"influence is known here for the mean of one table, got method {estimator.method}: "
                "see its one_report, or fitted_influence"
            )
        mine = estimator.one_report
        if mine is not None and abs(mine * estimator.n - found.times_n[0]) > SAME_INFLUENCE * found.times_n[0]:
            raise InputError(
                "the estimate must be made by the table's own decoder, with winsorise as here, got another: "
                "see its one_report"
            )
        return replace(found, n=estimator.n, std_error=np.array([estimator.std_error]))
    return found


@_found.register
def _of_categories(made: CategoricalMechanism, estimator: Any, winsorise: float | None) -> Influence:
    _refuse_winsorising(made, winsorise)
    _require(estimator, "unbiased", FrequencyEstimate)
    if isinstance(estimator, FrequencyEstimate) and estimator.method != "unbiased":
        raise InputError(f"influence of frequencies is known for method unbiased, got {estimator.method}")
    decoder = frequency_decoder(made, estimator.prior if isinstance(estimator, FrequencyEstimate) else None)
    lowest, highest = decoder.extremes()
    width, total = highest - lowest, decoder.largest_total()
    found = Influence(made.categories.labels, lowest, highest, width, total=total)
    if isinstance(estimator, FrequencyEstimate):
        return replace(found, n=estimator.n, std_error=estimator.std_error)
    return found


@_found.register
def _of_way(way: Way, estimator: Any, winsorise: float | None) -> Influence:
    """Of an estimate of one period, from the reports in it."""
    if way.remembers in ("values", "signs"):
        raise InputError(f"influence is known of reports of one period, got {way.kind}, which are of several")
    return _found(way.mechanism, estimator, winsorise)


@_found.register
def _of_pairs(made: KeyValueMechanism, estimator: Any, winsorise: float | None) -> Influence:
    _refuse_winsorising(made, winsorise)
    _require(estimator, "frequencies", KeyValueEstimate)
    keys = made.keys.labels
    if isinstance(estimator, KeyValueEstimate):
        lowest, highest = mean_contributions(made, estimator)
        width = np.full(len(keys), made.value.knots[-1] - made.value.knots[0])  # means are clipped to the domain
        errors = estimator.std_error
        return Influence(keys, lowest, highest, width, estimator.n, errors, True, units=made.value.units)
    hidden, shown = (np.full(len(keys), value) for value in frequency_contributions(made))
    return Influence(keys, hidden, shown, np.minimum(shown - hidden, 1.0))  # frequencies are clipped to [1/n, 1]


@_found.register
def _of_attributes(made: AttributeSampling, estimator: Any, winsorise: float | None) -> Influence:
    _refuse_winsorising(made, winsorise)
    _require(estimator, "means", AttributeMeans)
    ends = np.array([[extreme.value for extreme in mean_decoder(table).extremes] for table in made.mechanisms])
    share = np.full(len(made.attributes), made.sampled / len(made.attributes))
    n, errors = None, None
    if isinstance(estimator, AttributeMeans):
        if estimator.attributes != made.attributes:
            raise InputError(f"the estimate must be of {made.attributes}, got one of {estimator.attributes}")
        n = int(estimator.n.sum()) // made.sampled
        share, errors = estimator.n / n, estimator.std_error
    lowest, highest = ends.T / share
    return Influence(made.attributes, lowest, highest, ends[:, 1] - ends[:, 0], n, errors)


@_found.register
def _of_features(made: Features, estimator: Any, winsorise: float | None) -> Influence:
    _refuse_winsorising(made, winsorise)
    if estimator is not None:
        raise InputError("influence of features takes no estimator: leave it out")
    if isinstance(sides := made.features[0].formula, Sides):
        sums, _ = side_decoders(made.features[0].mechanism, sides.reach)
        return Influence(tuple(made.told["names"]), sums.min(axis=1), sums.max(axis=1), np.ptp(sums, axis=1))
    ends = np.array([[extreme.value for extreme in mean_decoder(each.mechanism).extremes] for each in made.features])
    several = len(made.features) > 1
    widths = np.array([table.knots[-1] - table.knots[0] for table in (each.mechanism for each in made.features)])
    lowest, highest = ends.T / made.shares
    names = tuple(each.name for each in made.features)
    if made.target in ("correlation", "covariance") and made.told["way"] == "influence":
        names, step = (made.target,), np.array([[float(made.told["scale"])]])
    elif "step" in made.told:
        names, step = tuple(made.told["names"]), np.array(made.told["step"], dtype=float)
    else:
        return Influence(names, lowest, highest, ends[:, 1] - ends[:, 0], first_order=several)
    # A report is of one feature: the one that moves a number most.
    moves = np.sort(np.stack([step * lowest, step * highest]), axis=0)
    return Influence(names, moves[0].min(axis=1), moves[1].max(axis=1), np.abs(step) @ widths, first_order=several)


def _require(estimator: Any, name: str, kind: type) -> None:
    if not (estimator is None or estimator == name or isinstance(estimator, kind)):
        shown = estimator if isinstance(estimator, str) else type(estimator).__name__
        raise InputError(
            f"influence is known for {name!r} or its estimate here, got {shown!r}: fits have fitted_influence"
        )


def _refuse_winsorising(mechanism: Any, winsorise: float | None) -> None:
    if winsorise is not None:
        raise InputError(f"winsorise is for tables of numbers, got {mechanism!r:.60}: leave it out")
