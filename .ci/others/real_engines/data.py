"""The files that all engines read, and what is to come out of them."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from optldp.estimators import ReportCounts, Service, SupportCounts
from optldp.estimators.engines import output_cells, perturb_partition
from optldp.mechanisms import duchi, make_exact, piecewise
from optldp.mechanisms.categorical import optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.files.identifier import table_identifier
from optldp.mechanisms.key_value import key_value_unary
from optldp.mechanisms.pseudorandom import KeyedReports, new_secret, read_secret

NARROW = make_exact(duchi([0.0, 1.0], 2.0)).mechanism

WIDE = make_exact(piecewise([0.0, 0.3, 1.0], 1.0)).mechanism

BROAD = make_exact(piecewise(np.linspace(0, 1, 129), 1.0)).mechanism

CASES = {"one": [WIDE], "three": [WIDE, NARROW, WIDE], "many": [BROAD] * 8}
"""Tables of the services; the last take 9 bits each, so that their codes go on in a second column."""

UNARY = optimised_unary([str(number) for number in range(199)], 1.0)

HASHED = local_hashing([str(number) for number in range(199)], 1.0)

PAIRS = key_value_unary(list("0123"), duchi([-1.0, 1.0], 0.5), 1.0)

KIND_ROWS, MONTH = 20_000, "2026-05"

USERS = {"one": 40_000, "three": 20_000, "many": 2_000}


class Data:
    """Parquet files that all engines read, and what is to come out of them."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(1)
        self.folder = folder
        self.files: dict[str, dict[str, Path]] = {}
        self.expected: dict[str, list[Any]] = {}
        for case, tables in CASES.items():
            outputs = np.full((USERS[case], len(tables)), -1)
            for j, table in enumerate(tables):
                told = rng.random(USERS[case]) < (1.0 if case == "one" else 0.8)
                outputs[told, j] = table.sample_index(rng.uniform(0, 1, told.sum()), rng)
                users = rng.permutation(np.flatnonzero(told))
                named = {"table": np.full(users.size, table_identifier(table))}
                self._write(case, f"{case}_{j}", {"account": users + 10**12, "output": outputs[users, j]} | named)
            self.expected[case] = told_of(ReportCounts.from_outputs(services_of(tables), outputs))
        twice = {"account": np.arange(100) % 99, "output": np.zeros(100, dtype=np.int64)}
        self._write("twice", "twice", twice | {"table": np.full(100, table_identifier(NARROW))})
        foreign = {"account": np.arange(100), "output": np.zeros(100, dtype=np.int64)}
        self._write("foreign", "foreign", foreign | {"table": np.full(100, table_identifier(WIDE))})
        self._write("text", "text", {"account": np.arange(9), "output": np.array(list("010101010"))})
        reports = WIDE.sample(rng.uniform(0, 1, 5_000), rng)
        self.reports = np.concatenate([reports, [WIDE.high.max() + 1, WIDE.low.min() - 1, 1e9]])
        named = {"table": np.full(self.reports.size, table_identifier(WIDE))}
        self._write("cells", "reports", {"report": self.reports} | named)
        self._write("cells", "cells", output_cells(WIDE))
        self._write_kinds(rng)
        self.people = folder / "people.parquet"
        names = np.array([f"user {i}" for i in range(6_000)])
        pq.write_table(pa.table({"account": names, "income": rng.uniform(0, 1, names.size)}), self.people)
        self.secret = folder / "secret"
        self.secret.touch(mode=0o600)
        self.secret.write_bytes(new_secret())
        values = pq.read_table(self.people)["income"].to_numpy()
        drawn = KeyedReports(WIDE, read_secret(self.secret), column="income").sample_index(names, values)
        self.drawn = dict(zip(names.tolist(), drawn.tolist(), strict=True))

    def _write_kinds(self, rng: np.random.Generator) -> None:
        """Reports of categories and pairs, and of days, of which a tenth comes twice."""
        jobs = rng.integers(0, len(UNARY.categories), KIND_ROWS).astype(str)
        reports = UNARY.sample(jobs, rng)
        self.supports = SupportCounts.from_reports(UNARY, reports).supports
        self.most = {}
        pairs = PAIRS.drawn((rng.integers(0, 4, KIND_ROWS).astype(str), rng.uniform(-1, 1, KIND_ROWS)), rng)
        drawn = {"hashed": (HASHED, HASHED.sample(jobs, rng)), "pairs": (PAIRS, pairs), "unary": (UNARY, reports)}
        for name, (made, some) in drawn.items():
            texts = np.array(made.to_text(some))
            self.most[name] = int(np.unique(texts, return_counts=True)[1].max())
            self._write("kinds", name, {"report": texts, "table": np.full(KIND_ROWS, table_identifier(made))})
        outputs = WIDE.sample_index(rng.uniform(0, 1, KIND_ROWS), rng)
        numbers = rng.integers(24, 31, KIND_ROWS)
        order = np.concatenate([rng.permutation(KIND_ROWS), rng.permutation(KIND_ROWS)[: KIND_ROWS // 10]])
        columns = {
            "report": outputs,
            "day": np.array([f"{MONTH}-{number:02d}" for number in numbers]),
            "report_id": np.array([f"{number:032x}" for number in range(KIND_ROWS)]),
            "table": np.full(KIND_ROWS, table_identifier(WIDE)),
        }
        self._write("kinds", "days", {name: column[order] for name, column in columns.items()})
        self.days = {day: int((numbers == day).sum()) for day in range(27, 31)}

    def _write(self, case: str, name: str, columns: dict[str, np.ndarray]) -> None:
        self.files.setdefault(case, {})[name] = self.folder / f"{name}.parquet"
        pq.write_table(pa.table(columns), self.folder / f"{name}.parquet", row_group_size=5_000)

    def task(self) -> Callable[[Any], Any]:
        return partial(perturb_partition, mechanism=WIDE, secret=str(self.secret), column="income", key="account")

    def are_drawn(self, frame: Any) -> bool:
        """Whether a frame has each person's report, once."""
        users, outputs = frame["account"].to_pylist(), frame["output"].to_pylist()
        return len(users) == len(self.drawn) and dict(zip(users, outputs, strict=True)) == self.drawn


def services_of(tables: Sequence[Any]) -> list[Service]:
    return [Service(f"s{j}", table) for j, table in enumerate(tables)]


def told_of(counts: ReportCounts) -> list[Any]:
    return [(group.services, group.outputs.tolist(), group.counts.tolist()) for group in counts.groups]
