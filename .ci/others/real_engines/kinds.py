"""Categories, pairs and days, asked of an engine beside its own plain query."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from optldp.estimators import CategoryCounts, KeyValueCounts, SupportCounts
from optldp.estimators.days import load_days
from optldp.estimators.engines import count_query
from optldp.estimators.engines.daily import Daily
from optldp.mechanisms.files.identifier import table_identifier

from .checks import Checks
from .data import HASHED, KIND_ROWS, MONTH, PAIRS, UNARY, WIDE, Data
from .queries import Ask


def _least(run: Callable[[], object]) -> float:
    """Seconds of the quickest of three runs."""
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def _own_sums() -> str:
    """What an engine is asked by hand for sums of bits: one sum for each."""
    sums = []
    for bit in range(len(UNARY.categories)):
        ones = ", ".join(f"'{digit}'" for digit in "0123456789abcdef" if int(digit, 16) & (8 >> bit % 4))
        sums.append(f"SUM(CASE WHEN SUBSTRING(report, {bit // 4 + 1}, 1) IN ({ones}) THEN 1 ELSE 0 END) AS b{bit}")
    return f"SELECT {', '.join(sums)} FROM {{}}"


OWN = {
    "": "SELECT report, COUNT(*) AS n FROM {} GROUP BY report",
    "unary": _own_sums(),
    "days": "SELECT day, report, COUNT(DISTINCT report_id) AS n FROM {} GROUP BY day, report",
}
"""What people would ask an engine without us, by the relation."""


def check_kinds(checks: Checks, engine: str, dialect: Any, data: Data, ask: Ask) -> None:
    """Categories, pairs and days, with the seconds that the engine takes beside those of its own plain query."""

    def bits() -> bool:
        found = SupportCounts.from_sums(UNARY, asked([UNARY], "unary", "report"))
        return np.array_equal(found.supports, data.supports) and found.n_users == KIND_ROWS

    def whole(made: Any, name: str, counts: Any) -> bool:
        found = counts.from_counts(made, asked([made], name, "report"))
        return found.n_users == KIND_ROWS and int(found.counts.max()) == data.most[name]

    def asked(tables: Sequence[Any], name: str, column: str, **options: Any) -> pa.Table:
        query, files = count_query(tables, [name], dialect=dialect, column=column, **options), data.files["kinds"]
        answer = ask(query, files)
        seconds = [_least(partial(ask, asked_for, files)) for asked_for in (query, OWN.get(name, OWN[""]).format(name))]
        print(f"       {seconds[0]:.3f} s, {seconds[0] / seconds[1]:.2f} times the engine's own")
        return answer

    def days() -> bool:
        daily = Daily(late=3, min_batch=1, today=f"{MONTH}-30")
        path = data.folder / f"days-{engine.replace(' ', '-')}.parquet"
        pq.write_table(asked([WIDE], "days", "report", daily=daily), path)
        found = load_days([path])
        name = table_identifier(WIDE)
        told = {day.day: found.number(name, "counted", day=day) for day in found.dates(name)}
        return told == data.days

    checks.that(f"{engine}: bits of {len(UNARY.categories)} categories, a row per bit", bits)
    checks.that(f"{engine}: hashed categories", partial(whole, HASHED, "hashed", CategoryCounts))
    checks.that(f"{engine}: pairs", partial(whole, PAIRS, "pairs", KeyValueCounts))
    checks.that(f"{engine}: open days, each report once", days)
