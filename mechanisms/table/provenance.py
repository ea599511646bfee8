"""Where a table came from: method, parameters, version and, for designed tables, the certificate."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from typing import Any

from ..errors import InputError

Scalar = str | float | int | bool | None
Parameter = Scalar | list[Scalar]

PERIOD = "period"
"""The parameter that says that values are on a circle."""


@cache
def installed_version() -> str:
    """Return the version of the installed optldp, looked up once, or "unknown" where it was not installed.

    Example
    -------
    >>> installed_version() != ""
    True
    """
    try:
        return metadata.version("optldp")
    except metadata.PackageNotFoundError:
        return "unknown"


@dataclass(frozen=True, eq=False)
class Provenance:
    """The record of how a table was made; nothing in it is trusted by `verify`, which reads the numbers.

    `verify` reads one parameter: ``"unbiased": True`` is a claim, and a table that breaks it fails.

    Parameters
    ----------
    method : str
        Name of the family or design method, such as "piecewise" or "optimal".
    parameters : mapping of str to a JSON scalar or a list of them
        Arguments of the method, and its own choices.
    version : str
        Version of optldp that made the table; the installed one by default.
    certificate : mapping of str to float or str, optional
        Evidence of optimality, such as {"lower_bound": 4.1, "relative_gap": 3e-7}.

    Raises
    ------
    InputError
        A name that is not text, or a value that JSON cannot hold (NaN and infinity among them).

    Example
    -------
    >>> from optldp.mechanisms import Provenance
    >>> Provenance("duchi", {"unbiased": True}).method
    'duchi'
    """

    method: str = "unspecified"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    version: str = field(default_factory=installed_version)
    certificate: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for name in ("method", "version"):
            if not isinstance(getattr(self, name), str):
                raise InputError(f"provenance {name} must be text, got {getattr(self, name)!r}")
        object.__setattr__(self, "parameters", _plain_mapping("parameters", self.parameters))
        if self.certificate is not None:
            object.__setattr__(self, "certificate", _plain_mapping("certificate", self.certificate))

    @property
    def claims_unbiased(self) -> bool:
        """Whether the parameters say that reports average to the value."""
        return self.parameters.get("unbiased") is True

    @property
    def is_for_error(self) -> bool:
        """Whether the parameters say that reports are biased on purpose, for the mean of `n` users."""
        return self.parameters.get("unbiased") is False and "n" in self.parameters

    @property
    def question(self) -> str | None:
        """The question that the table was made to answer, of `optldp design --of`, if the parameters say so."""
        said = self.parameters.get("question")
        return said if isinstance(said, str) else None

    @property
    def period(self) -> float | None:
        """The period of the circle that values are on, if the parameters say so."""
        said = self.parameters.get(PERIOD)
        usable = isinstance(said, int | float) and not isinstance(said, bool) and 0 < said < math.inf
        return said if usable else None


def _plain_mapping(name: str, mapping: object) -> dict[str, Parameter]:
    if not isinstance(mapping, Mapping):
        raise InputError(f"provenance {name} must be a mapping, got {mapping!r}")
    plain: dict[str, Parameter] = {}
    for key, value in mapping.items():
        if not isinstance(key, str):
            raise InputError(f"provenance {name} must have text as keys, got {key!r}")
        where = f"{name}[{key!r}]"
        if hasattr(value, "tolist"):  # numpy arrays and scalars
            value = value.tolist()
        plain[key] = [_scalar(where, v) for v in value] if isinstance(value, list | tuple) else _scalar(where, value)
    return plain


def _scalar(where: str, value: object) -> Scalar:
    if hasattr(value, "item"):
        value = value.item()  # pyright: ignore[reportAttributeAccessIssue] -- numpy scalars inside a list
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"provenance {where} must be finite, got {value!r}: leave it out")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise InputError(f"provenance {where} must be a number, text, true, false or null, got {value!r}")
