"""Bits summed by an engine's query, or part by part, are those that numpy sums of the same texts."""

import duckdb
import numpy as np
import pytest
import sqlglot
from optldp.estimators.engines import DIALECTS
from optldp.estimators.engines.bit_parts import sums_of_texts
from optldp.estimators.engines.supports import WrittenBits, support_query

WRONG = ["", "zz", None, "é" * 6, "0G0000", "000001", "A00000", "0000000"]
"""No reports of 19 bits: of another length, with other characters, or with a bit beyond the last."""


def texts_of(bits: np.ndarray, hexadecimal: bool) -> list[str]:
    if hexadecimal:
        return [row.tobytes().hex() for row in np.packbits(bits, axis=1)]
    return ["".join(map(str, row)) for row in bits.tolist()]


@pytest.mark.parametrize("many", [13, 19, 200])
@pytest.mark.parametrize("hexadecimal", [True, False])
def test_each_bit_is_summed_in_its_place(many, hexadecimal):
    bits = np.random.default_rng(many).integers(0, 2, (30, many), dtype=np.uint8)
    texts, written = texts_of(bits, hexadecimal), WrittenBits(many, hexadecimal)
    with duckdb.connect() as connection:
        connection.register("r", {"output": np.array(texts, dtype=object)})
        found = connection.sql(support_query("r", '"output"', written) + " ORDER BY bit").fetchall()
    assert found == [(bit, supports, 30) for bit, supports in enumerate(bits.sum(axis=0).tolist())]
    if hexadecimal:
        assert sums_of_texts(texts, written).tolist() == [*bits.sum(axis=0).tolist(), 30, 0]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_no_report_is_counted_apart_in_every_dialect(dialect):
    bits = np.random.default_rng(1).integers(0, 2, (30, 19), dtype=np.uint8)
    texts, written = texts_of(bits, hexadecimal=True) + WRONG, WrittenBits(19)
    query = support_query("r", '"output"', written, ', "day"')
    (there,) = sqlglot.transpile(query, read="duckdb", write=dialect)
    (again,) = sqlglot.transpile(there.replace("(MAX)", ""), read=dialect, write="duckdb")  # Redshift's longest text
    with duckdb.connect() as connection:
        days = np.arange(len(texts)) % 2
        connection.register("r", {"output": np.array(texts, dtype=object), "day": days})
        found = connection.sql(f"SELECT day, bit, supports, n FROM ({again}) ORDER BY ALL").fetchall()
    expected = [(day, -1, 0, 4) for day in (0, 1)]
    for day in (0, 1):
        expected += [(day, bit, n, 15) for bit, n in enumerate(bits[day::2].sum(axis=0).tolist())]
    assert found == sorted(expected)
    assert sums_of_texts(texts, written).tolist() == [*bits.sum(axis=0).tolist(), 30, len(WRONG)]
