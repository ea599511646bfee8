"""Names of units, as labels and sentences need them."""

import re

from .printable import printable


def units_label(what: str, units: str) -> str:
    """Return what a number is, with the units in brackets if there are any.

    Example
    -------
    >>> units_label("value", "US$"), units_label("value", "")
    ('value [US$]', 'value')
    """
    return f"{what} [{units}]" if units else what


def axis_label(what: str, units: str) -> str:
    r"""Return the same as matplotlib is to be told it.

    Example
    -------
    >>> axis_label("value", "US$")
    'value [US\\$]'
    """
    return literal(units_label(what, units))


def literal(text: str) -> str:
    """Return a text that matplotlib writes as it is: on one line, dollars no formula, control characters escaped.

    Applied twice it does what it does once.

    Example
    -------
    >>> print(literal("US$"))
    US\\$
    """
    return re.sub(r"(?<!\\)\$", r"\\$", printable(" ".join(text.split())))


def squared(units: str) -> str:
    """Return the name of the squared units.

    Example
    -------
    >>> squared("EUR"), squared("US dollars"), squared("")
    ('EUR²', '(US dollars)²', '')
    """
    if not units:
        return ""
    return f"{units}²" if units.isalpha() else f"({units})²"
