"""Reports of categories counted where they lie: the same sums and counts as those of arrays."""

import duckdb
import numpy as np
import polars as pl
import pytest
from optldp.estimators import SupportCounts, count
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical.table import categorical_grr
from optldp.mechanisms.categorical.unary_encoding import optimised_unary
from optldp.mechanisms.files.identifier import table_identifier
from optldp.mechanisms.third_party import adopt

JOBS = [f"job {i}" for i in range(20)]
OUE = optimised_unary(JOBS, 1.0)
REPORTS = OUE.sample(np.repeat(JOBS, 10), np.random.default_rng(1))
EXPECTED = SupportCounts.from_reports(OUE, REPORTS)
TEXTS = OUE.to_text(REPORTS)

ENGINES = {
    "polars": lambda columns: pl.LazyFrame(columns),
    "duckdb": lambda columns: duckdb.from_arrow(pl.DataFrame(columns).to_arrow()),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_bits_of_frames_that_are_not_read_are_summed_by_their_engine(engine):
    lazily = ENGINES[engine]
    found = count(OUE, lazily({"report": TEXTS, "table": [table_identifier(OUE)] * len(TEXTS)}))
    assert isinstance(found, SupportCounts)
    assert found.n_users == EXPECTED.n_users
    assert np.array_equal(found.supports, EXPECTED.supports)
    with pytest.raises(InputError, match="2 rows that hold none"):
        count(OUE, lazily({"report": [*TEXTS, "ffffff", "xyz"]}))
    with pytest.raises(InputError, match="t0123456789ab"):
        count(OUE, lazily({"report": TEXTS, "table": ["t0123456789ab"] * len(TEXTS)}))


@pytest.mark.parametrize("engine", ENGINES)
def test_whole_reports_of_frames_are_counted_by_their_engine(engine):
    grr = categorical_grr(["yes", "no"], 1.0)
    assert count(grr, ENGINES[engine]({"output": [0, 1, 1]})).counts.tolist() == [1, 2]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_bits_of_files_are_summed(suffix, tmp_path):
    path = str(tmp_path / f"r.{suffix}")
    duckdb.from_arrow(pl.DataFrame({"report": TEXTS}).to_arrow()).query("r", f"COPY (FROM r) TO '{path}'")
    assert np.array_equal(count(OUE, path).supports, EXPECTED.supports)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_bits_in_columns_are_summed_and_what_is_no_bit_is_refused(suffix, tmp_path):
    theirs = adopt("oue", JOBS, 1.0, written="columns")
    bits = OUE.bits(REPORTS)
    frame = pl.DataFrame({job: bits[:, i] for i, job in enumerate(JOBS)})
    path = tmp_path / f"r.{suffix}"
    (frame.write_csv if suffix == "csv" else frame.write_parquet)(path)
    for source in (path, frame.lazy()):
        assert np.array_equal(count(theirs, source).supports, EXPECTED.supports)
    wrong = frame.with_columns(pl.lit(2).alias(JOBS[3]))
    with pytest.raises(InputError, match="200 rows that hold none"):
        count(theirs, wrong.lazy())
