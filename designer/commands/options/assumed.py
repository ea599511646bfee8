"""What `--assume` declares: assumptions of intervals, on the knots of the tables, with the prior that they are near."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....mechanisms.errors import InputError, unwired
from ....mechanisms.option_grammar import Option, Taken, asked_for
from ..output.output import say
from .shared import UNIFORM_SHARE

if TYPE_CHECKING:
    import numpy as np

    from ....estimators import ReportCounts
    from ....estimators.assumptions.base import Assumption
    from ...priors.ambiguity import Ambiguity
    from ...priors.prior import Prior

EXEMPT = Option("exempt", float, "share of people that it need not hold for")

FACTOR = Option("factor", float, "within which each weight of the prior is right")

ASSUMPTIONS: Mapping[str, Taken] = {
    "shape": Taken(
        "shape=1.1,exempt=0.01",
        (Option("rate", float, "factor by which the ratio to the prior may change per hundredth of the range"), EXEMPT),
    ),
    "trust": Taken("trust=3", (FACTOR, EXEMPT)),
    "unimodal": Taken("unimodal=20", (Option("mode", float, "where the peak is: by default the prior's"), EXEMPT)),
    "monotone": Taken("monotone=50", (Option("beyond", float, "from where the density falls"), EXEMPT)),
}
"""What may be assumed, and what it is told."""

OF_MEANS: Mapping[str, Taken] = {"trust": Taken("trust=3", (FACTOR,))}
"""What designs and bias-aware means may assume of a prior: `FactorAmbiguity` has it for designs."""

NEAR_PRIOR = ("shape", "trust")


def factor_of(text: str) -> float:
    """Return the factor of what a mean may assume; InputError for another assumption, or none.

    Example
    -------
    >>> factor_of("trust=2")
    2.0
    """
    name, told = asked_for(text, OF_MEANS, "--assume")
    return _needed(name, told, "factor")


def ambiguity_asked(texts: Sequence[str]) -> Ambiguity:
    """Return the priors that a design assumes, near its own; InputError for an assumption that there is not.

    Example
    -------
    >>> from optldp import Prior
    >>> asked = ambiguity_asked(["shape=1.1", "monotone=0"])
    >>> asked.label, asked.is_single(Prior.on_knots([0, 1, 2], [3, 2, 1], source="public"))
    ('assuming shape=1.1 and monotone=0', False)
    """
    from ...priors.assumed import AmbiguityOnceKnown

    for text in texts:
        asked_for(text, ASSUMPTIONS, "--assume")
    return AmbiguityOnceKnown(" and ".join(texts), partial(_ambiguity_near, tuple(texts)))


def _ambiguity_near(texts: tuple[str, ...], prior: Prior) -> Ambiguity:
    from ....estimators.assumptions.base import Intersection
    from ...priors.assumed import ambiguity_of

    mixed = prior.mixed(UNIFORM_SHARE)
    made = [_made(*asked_for(text, ASSUMPTIONS, "--assume"), mixed) for text in texts]
    _require_met(made, mixed)
    return ambiguity_of(made[0] if len(made) == 1 else Intersection(tuple(made)))


def assumptions_of(
    texts: Sequence[str], prior_file: Path | None, counts: ReportCounts, measured_on: tuple[Path, Path] | None
) -> tuple[list[Assumption], list[str]]:
    """Return what is assumed, and what there is to say of how it was measured.

    Parameters
    ----------
    texts : sequence of str
        As `--assume` has them.
    prior_file : path, optional
        Columns value and weight; by default the prior that a table carries.
    counts : ReportCounts
    measured_on : (path, path), optional
        An old prior and an older one: how many people must be exempt for the one to be near the other, which is taken
        where an assumption does not say it.

    Raises
    ------
    InputError
        An assumption that there is not, or that lacks its prior or a number; a prior that does not meet it.
    """
    import numpy as np

    from ....estimators import InputGrid
    from ....estimators.assumptions.needed import exempt_needed
    from ...priors.prior import Prior
    from .trusted_prior import weights_on

    knots, units = InputGrid.common(counts.mechanisms).points, counts.mechanisms[0].units

    def mixed(weights: np.ndarray) -> Prior:
        """As designs have it: no knot without weight."""
        even = np.full(knots.size, UNIFORM_SHARE / knots.size)
        return Prior.on_knots(knots, (1.0 - UNIFORM_SHARE) * weights / weights.sum() + even, source="public")

    prior, lines = None, list[str]()
    if prior_file is not None:
        weights = weights_on(prior_file, knots, units)
        if any(asked_for(text, ASSUMPTIONS, "--assume")[0] in NEAR_PRIOR for text in texts):
            _require_weight(weights, counts, prior_file.name)
        if empty := int(np.count_nonzero(weights == 0)):
            lines.append(
                f"note: the prior of {prior_file.name!r} has no weight at {empty} of {knots.size} knots: it is taken "
                f"to have {UNIFORM_SHARE / knots.size:.2g} at each"
            )
        prior = mixed(weights)
    elif (carried := next((one.prior for one in counts.mechanisms if one.knots.size == knots.size), None)) is not None:
        prior = mixed(carried.weights)
    earlier = None if measured_on is None else [weights_on(path, knots, units) for path in measured_on]
    found = []
    for text in texts:
        name, told = asked_for(text, ASSUMPTIONS, "--assume")
        if earlier is not None and measured_on is not None and name in NEAR_PRIOR:
            need = exempt_needed(_made(name, told | {"exempt": 0.0}, mixed(earlier[1])), knots, earlier[0])
            between = f"between {measured_on[1].name!r} and {measured_on[0].name!r}"
            lines.append(exempt_note(f"{name}={told.get('rate', told.get('factor')):g}", need, between))
            told = {"exempt": need} | told
        found.append(_made(name, told, prior))
    if prior is not None:
        _require_met(found, prior)
    return found, lines


def assumed_by(
    texts: Sequence[str] | None, prior_file: Path | None, counts: ReportCounts, measured_on: tuple[Path, Path] | None
) -> list[Assumption]:
    """Return what is assumed, if anything is, and say how it was measured; arguments and errors as above."""
    if not texts:
        if measured_on:
            raise InputError("--assume-from measures what --assume asks for, got none: add --assume shape=1.1")
        return []
    found, lines = assumptions_of(texts, prior_file, counts, measured_on)
    for line in lines:
        say(line)
    return found


def exempt_from(texts: Sequence[str], held: Prior, near: Prior | None) -> dict[str, float]:
    """Return the share of people who must be exempt from each of what `--assume` says, for values to meet it.

    Parameters
    ----------
    texts : sequence of str
        As `--assume` has them; a share of exempt people that they name does not count.
    held : Prior
        Of the values.
    near : Prior, optional
        What they may be near, on the same knots.

    Raises
    ------
    InputError
        An assumption that there is not, or that lacks its prior or a number.

    Example
    -------
    >>> from optldp import Prior
    >>> year, last = Prior.on_knots([0, 1], [2, 3], source="public"), Prior.even([0, 1])
    >>> round(exempt_from(["monotone=0"], year, last)["monotone=0"], 6)
    0.1
    """
    from ....estimators.assumptions.needed import exempt_needed

    mixed = None if near is None else near.mixed(UNIFORM_SHARE)
    made = [_made(*asked_for(text, ASSUMPTIONS, "--assume"), mixed) for text in texts]
    return {one.name: exempt_needed(one, held.knots, held.weights) for one in made}


def exempt_note(name: str, share: float, between: str) -> str:
    """Say how many people had to be exempt.

    Example
    -------
    >>> exempt_note("shape=1.1", 0.023, "between the table's prior and these values")
    "note: for shape=1.1 between the table's prior and these values, 2.3% of people had to be exempt, chance included"
    """
    return f"note: for {name} {between}, {100 * share:.2g}% of people had to be exempt, chance included"


def _made(name: str, told: dict[str, Any], prior: Any) -> Assumption:
    from ....estimators.assumptions.near_prior import Factor, Shape
    from ....estimators.assumptions.shapes import Monotone, Unimodal

    exempt = {"exempt": told.get("exempt", 0.0)}
    if name in NEAR_PRIOR and prior is None:
        raise InputError(f"--assume {name} needs the prior that it is near, got none: give --prior FILE")
    if name == "shape":
        return Shape(prior, _needed(name, told, "rate"), **exempt)
    if name == "trust":
        return Factor(prior, _needed(name, told, "factor"), **exempt)
    if name == "monotone":
        return Monotone(_needed(name, told, "beyond"), **exempt)
    if name == "unimodal":
        if "mode" not in told and prior is None:
            raise InputError("--assume unimodal needs the value of the peak, got none: write unimodal=VALUE")
        return Unimodal(told["mode"] if "mode" in told else float(prior.knots[prior.weights.argmax()]), **exempt)
    raise unwired("--assume", name)


def _needed(name: str, told: dict[str, Any], key: str) -> float:
    if key not in told:
        raise InputError(f"--assume {name} needs a number, got none: write {ASSUMPTIONS[name].example}")
    return told[key]


def _require_met(assumptions: Sequence[Assumption], prior: Any) -> None:
    """Refuse what the prior itself is too far from: that the values are like it then says the contrary."""
    from ....estimators.assumptions.needed import exempt_needed

    for one in assumptions:
        need = exempt_needed(one, prior.knots, prior.weights)
        if need > one.exempt + SLACK:
            raise InputError(
                f"the prior must meet what is assumed, got {one.label}, from which {100 * need:.2g}% of it would "
                f"have to be exempt: add exempt={need:.2g}, or leave it out"
            )


def _require_weight(weights: np.ndarray, counts: ReportCounts, name: str) -> None:
    """Refuse a prior without weight where reports say that people are: nothing is near it there."""
    import numpy as np

    from ....estimators.affine_pairs.outcomes import Outcomes
    from ....estimators.affine_pairs.pair import Pairs
    from ....estimators.rounds.pooled import of_one_table
    from ....solvers.modulus.polyhedron import Polyhedron

    knots, empty = np.unique(np.concatenate([one.knots for one in counts.mechanisms])), weights == 0
    if not empty.any() or counts.n_users < LEAST_ASKED or knots.size != weights.size:
        return
    if counts.rounds and len(of_one_table(counts)) > 1:  # which are refused an assumption at all
        return
    seen = Outcomes.of(counts, at_knots=True)
    even = np.full(knots.size, 1.0 / knots.size)
    least = -float(Pairs(seen, Polyhedron.simplex(knots.size), even).highest(-empty[None].astype(float), SURE)[0])
    if least > UNIFORM_SHARE:
        raise InputError(
            f"the prior of {name!r} must have weight where reports are, got none from {knots[empty][0]:g} to "
            f"{knots[empty][-1]:g}, where at least {100 * least:.2g}% of people are: take a prior of that range, or "
            "mix a small share into it there"
        )


LEAST_ASKED = 200
"""Reports below which they say too little of where people are."""

SURE = 0.99
"""Confidence with which reports say that people are where a prior has no weight."""

SLACK = 0.01
"""Share of people by which a prior may miss what is assumed: it is of a sample itself."""
