"""Every mechanism with every estimator on one truth: errors in draws that are kept, and the pair that errs least."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from optldp.designer import METHODS, Prior
from optldp.designer.planning.bootstrap import AdviceRow, Case, distribution_errors, linear_row
from optldp.designer.planning.race import Candidate, Criterion, Errors, Place, slopes_of
from optldp.estimators import optimal_decoder
from optldp.estimators.methods import OF_ONE_SERVICE, DistributionMethod
from optldp.mechanisms import TabulatedMechanism

LOOKS = (3, 6, 12)
"""Draws after which pairs stop."""

FRESH = {"smooth": 30, "em": 300, "ems": 300, "mr": 80}
"""Draws after the last look in which the best and another are compared, more of estimators that take less time."""

HOPELESS = 4.0
"""Standard errors behind the best, at which a pair stops."""

FAR = 3.0
"""A mechanism from which a linear estimate errs that many times as much as from the best is not drawn."""


class BruteForce:
    """Draws of the reports of n users from the truth, made when asked for, kept in a file where there is one.

    Parameters
    ----------
    tables : mapping of str to TabulatedMechanism
        Mechanisms by name, with the prior that they were designed for.
    truth : Prior
    n : int
    seed : int
    kept : Path, optional
        Of JSON: errors by pair and number of the draw.
    """

    def __init__(
        self, tables: Mapping[str, TabulatedMechanism], truth: Prior, n: int, seed: int, kept: Path | None
    ) -> None:
        self.cases = {name: Case(name, made.with_prior(truth.knot_prior), truth, n) for name, made in tables.items()}
        self.rows = {name: made.pmf(truth.knots) for name, made in tables.items()}
        self.exact = _exact(tables, self.cases, truth, n)
        self.seed, self.kept = seed, kept
        self.drawn: dict[Candidate, dict[int, Errors]] = {
            (name, estimator): {} for name in tables for estimator in OF_ONE_SERVICE
        }
        if kept is not None and kept.exists():
            for mechanism, estimator, number, errors in json.loads(kept.read_text()):
                self.drawn[mechanism, estimator][number] = Errors(*errors)

    def errors(self, one: Candidate, numbers: Iterable[int]) -> list[Errors]:
        """Return a pair's errors in some draws, which are made if they are not there."""
        mechanism, estimator = one
        have, place = self.drawn[one], METHODS.index(mechanism)
        alone: list[DistributionMethod] = [name for name in OF_ONE_SERVICE if name == estimator]
        for number in numbers:
            if number not in have:
                made = distribution_errors(
                    self.cases[mechanism], self.rows[mechanism], alone, number, (self.seed, place)
                )
                have[number] = made[estimator]
        return [have[number] for number in numbers]

    def best(self, criterion: Criterion) -> tuple[Candidate, dict[str, np.ndarray]]:
        """Return the pair that errs least, and how each estimator's errors go with the control variates."""
        exact = self.exact if criterion == "squared" else {}
        linear = {name: case.linear_error(criterion == "wasserstein") for name, case in self.cases.items()}
        running = [one for one in self.drawn if linear[one[0]] <= FAR * min(linear.values())]
        slopes, place = dict[str, np.ndarray](), dict[Candidate, Place]()
        for look in LOOKS:
            drawn = {one: self.errors(one, range(look)) for one in running}
            slopes |= slopes_of(drawn, criterion)
            place = {one: Place.of(errors, criterion, slopes[one[1]]) for one, errors in drawn.items()}
            place |= {one: Place.known(value) for one, value in exact.items()}
            leader = min(place, key=lambda one: place[one].value)
            off = {one: (place[one] - place[leader]) for one in running}
            least = math.sqrt(np.mean([error**2 for _, error in off.values()]))
            running = [one for one, (more, error) in off.items() if more <= HOPELESS * max(error, least)]
        return min(place, key=lambda one: place[one].value), slopes

    def compared(
        self, one: Candidate, other: Candidate, criterion: Criterion, slopes: Mapping[str, np.ndarray]
    ) -> tuple[Place, Place]:
        """Return the logarithms of two pairs' mean errors: exact, or in draws after the last look.

        Of one mechanism they are the same draws, as errors of the same reports are much alike.
        """
        often = {pair: FRESH[pair[1]] for pair in (one, other) if pair not in self.exact}
        if one[0] == other[0]:
            often = dict.fromkeys(often, min(often.values(), default=0))
        first, second = (self._place(pair, often.get(pair, 0), criterion, slopes) for pair in (one, other))
        return first, second

    def _place(self, one: Candidate, often: int, criterion: Criterion, slopes: Mapping[str, np.ndarray]) -> Place:
        if one in self.exact:
            return Place.known(self.exact[one])
        return Place.of(self.errors(one, range(LOOKS[-1], LOOKS[-1] + often)), criterion, slopes[one[1]])

    def save(self) -> None:
        """Write all draws to the file."""
        if self.kept is not None:
            every = [(*one, number, errors) for one, some in self.drawn.items() for number, errors in some.items()]
            self.kept.write_text(json.dumps(every))


def _exact(
    tables: Mapping[str, TabulatedMechanism], cases: Mapping[str, Case], truth: Prior, n: int
) -> dict[Candidate, float]:
    """Squared errors under the truth of the raw average, and of the decoder for the prior that the table carries."""
    found = dict[Candidate, float]()
    for name, made in tables.items():
        row = linear_row(cases[name], "ua")
        if isinstance(row, AdviceRow):
            found[name, "ua"] = row.mse.value
        if not isinstance(cases[name].decoder, str):
            values = optimal_decoder(made)
            found[name, "decoder"] = float(truth.weights @ made.pmf(truth.knots) @ (values - truth.mean) ** 2) / n
    return found
