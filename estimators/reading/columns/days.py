"""Days as columns of reports and of counts have them: ten characters, the same in every engine."""

from __future__ import annotations

import re
from datetime import date

from ....mechanisms.errors import InputError


def day_of(text: str) -> date:
    """Return the day that a text of ten characters names, as in 2026-05-01; InputError for another text.

    Example
    -------
    >>> day_of("2026-05-01").day
    1
    """
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise InputError(f"a day must be written as 2026-05-01, got {text!r:.40}")
