"""What count-sql prints, asked of an engine: numbers of one service and of several, and what it must refuse."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from optldp.estimators import ReportCounts
from optldp.estimators.engines import count_query
from optldp.estimators.reading.columns import SkippedRows
from optldp.mechanisms.files.identifier import table_identifier

from .checks import Checks, refused
from .data import CASES, NARROW, WIDE, Data, services_of, told_of

Ask = Callable[[str, dict[str, Path]], pa.Table]
"""A query and the Parquet files of its relations, to the answer."""


def check_queries(checks: Checks, engine: str, dialect: Any, data: Data, ask: Ask) -> None:
    """What count-sql prints in the dialect, asked of the engine."""

    def answered(case: str) -> bool:
        tables, files = CASES[case], data.files[case]
        query = count_query(tables, list(files), dialect=dialect, key=None if case == "one" else "account")
        counts = ReportCounts.from_counts(services_of(tables), ask(query, files))
        return told_of(counts) == data.expected[case]

    def joined() -> bool:
        query = count_query([WIDE], ["reports"], dialect=dialect, column="report", cells="cells")
        account = SkippedRows()
        counts = ReportCounts.from_counts(WIDE, ask(query, data.files["cells"]), skip_invalid=account)
        located = WIDE.locate(data.reports)
        expected = np.unique(located[located >= 0], return_counts=True)
        (group,) = counts.groups
        same = np.array_equal(group.outputs[:, 0], expected[0]) and np.array_equal(group.counts, expected[1])
        return same and account.count == (located < 0).sum() == 3

    for case, tables in CASES.items():
        checks.that(f"{engine}: count-sql --dialect {dialect}, services: {len(tables)}", partial(answered, case))
    checks.that(f"{engine}: cells joined; reports that no cell holds are counted", joined)
    twice = count_query([NARROW], ["twice"], dialect=dialect, key="account")
    checks.that(
        f"{engine}: users with several reports are refused in one line",
        lambda: refused(
            lambda: ReportCounts.from_counts(NARROW, ask(twice, data.files["twice"])), "users with several reports"
        ),
    )
    foreign = count_query([NARROW], ["foreign"], dialect=dialect, key="account")
    checks.that(
        f"{engine}: reports of another table are refused in one line",
        lambda: refused(
            lambda: ReportCounts.from_counts(NARROW, ask(foreign, data.files["foreign"])), table_identifier(WIDE)
        ),
    )
