"""A table as a plain document (objects, lists, text, numbers) and back: what a file of either form holds."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..cost import require_affordable, table_cost
from ..errors import TableError
from ..integers.numerators import DENOMINATOR
from ..promise import Approximate, Pure
from ..promise.document import of_all_pairs, promise_from_document, promise_to_document
from ..sampling.within_cell import law_from_parameters
from ..table.knot_prior import KnotPrior
from ..table.provenance import Provenance
from ..table.table import TabulatedMechanism
from .exact_table import numerators_from_document, require_denominator

FORMAT = "optldp-table/1"
EXACT_FORMAT = "optldp-table/2"
_AROUND = ("format", "units", "epsilon", "knots", "low", "high"), ("within", "provenance", "prior")
KEYS = (*_AROUND[0], "probabilities", *_AROUND[1])
EXACT_KEYS = (*_AROUND[0], "denominator", "numerators", *_AROUND[1])
INFINITE = {"-inf": -np.inf, "inf": np.inf}

MAX_SIDE = 2**15
"""Knots and outputs that a file may have: designs have thousands, and a proof holds some numbers of each in memory."""


def table_to_document(table: TabulatedMechanism) -> dict[str, Any]:
    """Return the document of a table; matrices and vectors stay numpy arrays.

    Example
    -------
    >>> table = TabulatedMechanism.from_points([0, 1], [0, 1], [[0.75, 0.25], [0.25, 0.75]], 1.1)
    >>> document = table_to_document(table)
    >>> document["format"], document["within"], document["prior"]
    ('optldp-table/1', {'kind': 'uniform'}, None)

    Raises TableError for more knots or outputs than a file may have.
    """
    require_sides(table.knots, table.low)
    exact = {"denominator": DENOMINATOR, "numerators": table.numerators} if table.exact else {}
    return {
        "format": EXACT_FORMAT if table.exact else FORMAT,
        "units": table.units,
        "epsilon": table.epsilon,
        **({} if (said := promise_to_document(table.promise)) is None else {"promise": said}),
        "knots": table.knots,
        "low": ends_to_document(table.low),
        "high": ends_to_document(table.high),
        **(exact or {"probabilities": table.probabilities}),
        "within": {"kind": table.within.kind, **table.within.parameters()},
        "provenance": provenance_to_document(table.provenance),
        "prior": prior_to_document(table.prior),
    }


def document_to_table(document: Mapping[str, Any]) -> TabulatedMechanism:
    """Return the table of a document whose keys and types are checked; the table checks its numbers.

    Raises
    ------
    TableError
        A key that is missing, unknown or of the wrong type; numbers that are not a table.
    InputError
        An epsilon, prior or provenance that is not usable.

    Example
    -------
    >>> table = TabulatedMechanism.from_points([0, 1], [0, 1], [[0.75, 0.25], [0.25, 0.75]], 1.1)
    >>> document_to_table(table_to_document(table))
    TabulatedMechanism('unspecified', epsilon=1.1, knots=2, outputs=2)
    """
    exact = document.get("format") == EXACT_FORMAT
    require_keys("the table", document, EXACT_KEYS if exact else KEYS, optional=("checksum", "promise"))
    require_sides(document["knots"], document["low"])
    require_modest_table(document)
    if exact:
        require_denominator(document["denominator"])
        probabilities = numerators_from_document(document["numerators"]) / DENOMINATOR
    else:
        probabilities = _matrix("probabilities", document["probabilities"])
    within = as_object("within", document["within"])
    law = {k: _law_parameter(f"within.{k}", v) for k, v in within.items() if k != "kind"}
    epsilon = as_number("epsilon", document["epsilon"])
    said = promise_from_document(epsilon, document["promise"]) if "promise" in document else Pure(epsilon)
    return TabulatedMechanism(
        knots=numbers_from_document("knots", document["knots"]),
        low=ends_from_document("low", document["low"]),
        high=ends_from_document("high", document["high"]),
        probabilities=probabilities,
        epsilon=epsilon,
        within=law_from_parameters(as_text("within.kind", within.get("kind")), law),
        provenance=provenance_from_document(as_object("provenance", document["provenance"])),
        prior=prior_from_document(document["prior"]),
        units=as_text("units", document["units"]),
        exact=exact,
        promise=said,
    )


def require_sides(*sides: object) -> None:
    """Raise TableError for lists of knots or outputs that are longer than a file may have."""
    for side in sides:
        if isinstance(side, list | np.ndarray) and len(side) > MAX_SIDE:
            raise TableError(f"a table file must have at most {MAX_SIDE} knots and outputs, got {len(side)}: use fewer")


def require_modest_table(document: Mapping[str, Any]) -> None:
    """Raise InputError for the document of a table that would cost too much, whose matrices may still be missing.

    Example
    -------
    >>> require_modest_table({"knots": [0, 1], "low": [0, 1]})
    """
    said, n, m = document.get("promise"), *(_length(document[side]) for side in ("knots", "low"))
    what, all_pairs = f"a table of {n} knots and {m} outputs", False
    if isinstance(said, Mapping) and (all_pairs := of_all_pairs(said)):
        what += f" with a promise of kind {said.get('kind')}"
        m = m if said.get("kind") == Approximate.kind else max(n, m)  # log-ratios of pairs take as much as outputs
    require_affordable(what, table_cost(n, m, all_pairs=all_pairs), "use fewer knots or outputs, or a floor form")


def _length(side: object) -> int:
    return len(side) if isinstance(side, list | np.ndarray) else 0


def require_keys(
    where: str, value: Mapping[str, Any], required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> None:
    """Raise TableError for the first key that is missing or unknown."""
    for key in required:
        if key not in value:
            raise TableError(f"{where} must have the key {key!r}, which is missing")
    for key in value:
        if key not in required and key not in optional:
            raise TableError(f"{where} must have the keys {', '.join(required)} only, got {key!r:.60}")


def ends_to_document(ends: np.ndarray) -> np.ndarray | list[float | str]:
    """Return the ends of outputs, infinite ones as the text "-inf" or "inf": JSON has no number for them.

    Raises TableError for ends that are no numbers, which would be taken for infinite.
    """
    if np.isnan(ends).any():
        raise TableError(f"ends of outputs must be numbers, got nan at output {int(np.argmax(np.isnan(ends)))}")
    if np.isfinite(ends).all():
        return ends
    return [float(v) if np.isfinite(v) else "inf" if v > 0 else "-inf" for v in ends]


def ends_from_document(name: str, value: object) -> np.ndarray:
    """Return the ends of outputs as numbers, or raise TableError."""
    if isinstance(value, list):
        wrong = [v for v in value if isinstance(v, str) and v not in INFINITE]
        if wrong:
            raise TableError(f'{name} must hold numbers, "-inf" or "inf", got {wrong[0]!r:.60}')
        return numbers_from_document(name, [INFINITE[v] if isinstance(v, str) else v for v in value])
    return numbers_from_document(name, value)


def provenance_to_document(origin: Provenance) -> dict[str, Any]:
    """Return the four members of a provenance."""
    return {
        "method": origin.method,
        "parameters": dict(origin.parameters),
        "version": origin.version,
        "certificate": None if origin.certificate is None else dict(origin.certificate),
    }


def provenance_from_document(value: Mapping[str, Any]) -> Provenance:
    """Return the provenance of such members, or raise TableError."""
    require_keys("provenance", value, ("method", "parameters", "version", "certificate"))
    return Provenance(**value)


def prior_to_document(prior: KnotPrior | None) -> dict[str, Any] | None:
    """Return the three members of a prior, or None."""
    return None if prior is None else {"weights": prior.weights, "rounding": prior.rounding, "source": prior.source}


def prior_from_document(value: object) -> KnotPrior | None:
    """Return the prior of such members, or raise TableError; its numbers raise InputError."""
    if value is None:
        return None
    members = as_object("prior", value)
    require_keys("prior", members, ("weights", "rounding", "source"))
    weights, rounding = (numbers_from_document(f"prior.{k}", members[k]) for k in ("weights", "rounding"))
    return KnotPrior(weights, rounding, as_text("prior.source", members["source"]))  # pyright: ignore[reportArgumentType] -- KnotPrior checks the name


def as_object(name: str, value: object) -> Mapping[str, Any]:
    """Return the value if it is an object, or raise TableError."""
    if not isinstance(value, Mapping):
        raise TableError(f"{name} must be an object, got {type(value).__name__}")
    return value


def as_text(name: str, value: object) -> str:
    """Return the value if it is text, or raise TableError."""
    if not isinstance(value, str):
        raise TableError(f"{name} must be text, got {value!r:.60}")
    return value


def as_number(name: str, value: object) -> float:
    """Return the value as a double if it is a number, or raise TableError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TableError(f"{name} must be a number, got {value!r:.60}")
    return float(_to_doubles(name, [value])[0])


def numbers_from_document(name: str, value: object) -> np.ndarray:
    """Return numbers of a list or an array as they are, or raise TableError."""
    if isinstance(value, np.ndarray):
        return value
    if not isinstance(value, list) or not set(map(type, value)) <= {float, int}:
        raise TableError(f"{name} must be a list of numbers")
    return _to_doubles(name, value)


def _matrix(name: str, value: object) -> np.ndarray:
    if isinstance(value, np.ndarray):
        return value
    if not isinstance(value, list):
        raise TableError(f"{name} must be a list of rows")
    for i, row in enumerate(value):
        if not isinstance(row, list) or not set(map(type, row)) <= {float, int}:
            raise TableError(f"{name} must have rows of numbers, got something else in row {i}")
        if len(row) != len(value[0]):
            raise TableError(f"{name} must have rows of equal length, got {len(row)} in row {i}")
    return _to_doubles(name, value)


def _law_parameter(name: str, value: object) -> float | np.ndarray:
    return _matrix(name, value) if isinstance(value, list | np.ndarray) else as_number(name, value)


def _to_doubles(name: str, value: list) -> np.ndarray:
    try:
        return np.array(value, dtype=float)
    except OverflowError:
        raise TableError(f"{name} must hold numbers that fit in a double, got a larger one") from None
