"""Ids of reports that `perturb --day` writes: fresh ones, or those of users whose reports a run gives again."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....mechanisms.report_id import ID_BYTES

if TYPE_CHECKING:
    import numpy as np

    from .perturb import PerturbOptions


def report_ids(asked: PerturbOptions, mechanism: Any, users: Callable[[], np.ndarray], rows: int) -> list[str]:
    """Return an id for each row's report.

    Where reports are a function of a secret, or a ledger gives them again, so are their ids: a copy has the same id.
    """
    column = ",".join(asked.columns or ())
    if asked.secret is not None and (keyed := asked.keyed(mechanism, column)) is not None:
        return keyed.report_ids(users())
    if (ledger := asked.opened) is not None:
        return ledger.report_ids(mechanism, users().tolist(), column=column, period=asked.period or "")
    return [secrets.token_hex(ID_BYTES) for _ in range(rows)]
