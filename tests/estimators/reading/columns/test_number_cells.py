"""Columns of CSV and Parquet files: exact round trips, and one line for everything that can be wrong."""

import os
from pathlib import Path

import duckdb
import numpy as np
import pytest
from optldp.estimators.reading.columns import read_column, read_pairs
from optldp.estimators.reading.columns.number_cells import write_column
from optldp.mechanisms import InputError


def written(folder: Path, text: str | bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def parquet(folder: Path, query: str) -> Path:
    path = folder / "data.parquet"
    duckdb.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path


def refusal(path: Path, column: str = "x", *, drop_missing: bool = False) -> str:
    with pytest.raises(InputError) as caught:
        read_column(path, column, drop_missing=drop_missing)
    message = str(caught.value)
    assert "\n" not in message
    return message


class TestRoundTrip:
    @pytest.mark.parametrize("extension", ["csv", "parquet", "CSV"])
    def test_every_double_comes_back_bit_for_bit(self, tmp_path, extension):
        bits = np.random.default_rng(1).integers(0, 2**64, 20_000, dtype=np.uint64).view(np.float64)
        values = np.concatenate([[0.1, 1 / 3, 1.7976931348623157e308, 5e-324, -0.0], bits[np.isfinite(bits)]])
        path = tmp_path / f"column.{extension}"
        write_column(path, "report", values)
        got = read_column(path, "report")
        assert np.array_equal(got.view(np.int64), values.view(np.int64))

    @pytest.mark.parametrize("extension", ["csv", "parquet"])
    @pytest.mark.parametrize("name", ['q"uo"te', "it's", "a;DROP TABLE t;--", "a,b", "select", "Größe €", "c1"])
    def test_a_column_name_is_only_a_name(self, tmp_path, name, extension):
        path = tmp_path / f"names.{extension}"
        write_column(path, name, [1.0, 2.0])
        assert read_column(path, name).tolist() == [1.0, 2.0]

    @pytest.mark.sampled(4)
    @pytest.mark.parametrize("extension", ["csv", "parquet"])
    @pytest.mark.parametrize(
        "stem",
        [
            "a[1]*?",
            'it\'s "quoted"',
            "a\\b",
            "\\[x]",
            "{a,b}",
            "[!a]",
            "**",
            "[",
            "~",
            "a\nb",
            "x=1",
            "a%2Fb",
            "$HOME",
            "a\udcffb",
        ],
    )
    def test_a_path_is_no_pattern(self, tmp_path, stem, extension):
        """The very file is read, whatever its name is, and whatever lies beside it."""
        for beside in ("a1zz", "a\\[1]", "a", "b"):
            write_column(tmp_path / f"{beside}.{extension}", "x", [5.0])
        write_column(tmp_path / f"plain.{extension}", "x", [1.0])
        (tmp_path / f"plain.{extension}").rename(tmp_path / f"{stem}.{extension}")
        assert read_column(tmp_path / f"{stem}.{extension}", "x").tolist() == [1.0]

    @pytest.mark.parametrize("extension", ["csv", "parquet"])
    def test_folders_named_like_columns_say_nothing_of_them(self, tmp_path, extension):
        """What other programs call hive partitioning."""
        folder = tmp_path / "x=7" / "y=8"
        folder.mkdir(parents=True)
        write_column(folder / f"data.{extension}", "x", [1.0, 2.0])
        assert read_column(folder / f"data.{extension}", "x").tolist() == [1.0, 2.0]
        assert "the file has 'x'" in refusal(folder / f"data.{extension}", "y")

    @pytest.mark.parametrize("path", ["https://example.com/x.csv", "s3://bucket/x.parquet", "file:///etc/x.csv"])
    def test_an_address_is_a_file_or_nothing(self, tmp_path, monkeypatch, path):
        """Nothing is fetched: such a name is that of a file here."""
        monkeypatch.chdir(tmp_path)
        assert "a data file must exist" in refusal(Path(path))
        Path(path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        write_column(tmp_path / f"data{Path(path).suffix}", "x", [3.0])
        (tmp_path / f"data{Path(path).suffix}").rename(tmp_path / Path(path))
        assert read_column(path, "x").tolist() == [3.0]

    @pytest.mark.nightly
    def test_row_order_is_the_files(self, tmp_path):
        values = np.random.default_rng(2).permutation(400_000).astype(float)
        path = written(tmp_path, "k,x\n" + "".join(f"a,{v:.0f}\n" for v in values))
        assert np.array_equal(read_column(path, "x"), values)

    @pytest.mark.nightly
    @pytest.mark.parametrize("extension", ["csv", "parquet"])
    def test_a_million_rows_come_back_in_order(self, tmp_path, extension):
        values = np.random.default_rng(3).normal(size=1_000_000)
        path = tmp_path / f"big.{extension}"
        write_column(path, "x", values)
        assert np.array_equal(read_column(path, "x"), values)

    def test_writing_replaces_and_leaves_nothing_else(self, tmp_path):
        path = tmp_path / "x.csv"
        write_column(path, "x", [1.0])
        write_column(path, "x", [2.0])
        assert os.listdir(tmp_path) == ["x.csv"]
        assert read_column(path, "x").tolist() == [2.0]


class TestReading:
    @pytest.mark.parametrize(
        "text",
        [
            "x,y\n1,a\n2.5,b\n",
            "\ufeffx,y\r\n1,a\r\n2.5,b\r\n",
            'y,x\n"a,\nb",1\nb," 2.5 "',
            '"x"\n1\n25e-1\n',
        ],
        ids=["plain", "bom-crlf", "quoted", "one-column"],
    )
    def test_usual_spellings_of_a_csv_are_read(self, tmp_path, text):
        assert read_column(written(tmp_path, text), "x").tolist() == [1.0, 2.5]

    @pytest.mark.parametrize("kind", ["TINYINT", "UINTEGER", "HUGEINT", "DECIMAL(9,2)", "FLOAT", "BOOLEAN", "VARCHAR"])
    def test_numeric_parquet_types_are_read(self, tmp_path, kind):
        path = parquet(tmp_path, f"SELECT CAST(v AS {kind}) AS x FROM (VALUES (1), (0)) t(v)")
        if kind == "VARCHAR":
            assert read_column(path, "x").tolist() == [1.0, 0.0]
        else:
            np.testing.assert_array_equal(read_column(path, "x"), [1.0, 0.0])

    def test_missing_values_are_dropped_only_when_asked(self, tmp_path):
        path = written(tmp_path, "x,y\n1,a\n,b\nNA,c\n4,d\n")
        assert "2 missing" in refusal(path)
        assert "row 2" in refusal(path)
        assert "--drop-missing" in refusal(path)
        assert read_column(path, "x", drop_missing=True).tolist() == [1.0, 4.0]

    def test_missing_parquet_values_are_nulls(self, tmp_path):
        path = parquet(tmp_path, "SELECT * FROM (VALUES (1.0), (NULL), (3.0)) t(x)")
        assert "1 missing, the first in row 2" in refusal(path)
        assert read_column(path, "x", drop_missing=True).tolist() == [1.0, 3.0]

    def test_pairs_are_two_columns_by_name(self, tmp_path):
        values, weights = read_pairs(written(tmp_path, "weight,note,value\n3,a,10\n1,b,20\n"))
        assert values.tolist() == [10.0, 20.0]
        assert weights.tolist() == [3.0, 1.0]

    def test_pairs_name_the_column_they_lack(self, tmp_path):
        with pytest.raises(InputError, match="lacks weight: it has 'value', 'w'"):
            read_pairs(written(tmp_path, "value,w\n1,2\n"))


class TestRefusals:
    def test_text_is_named_with_its_row(self, tmp_path):
        message = refusal(written(tmp_path, "x,y\n1,a\n2,b\nabc,c\n,d\ndef,e\n"))
        assert "'abc' in row 3" in message

    def test_text_is_named_even_when_missing_values_are_dropped(self, tmp_path):
        assert "'12 EUR' in row 2" in refusal(written(tmp_path, "x\n\n12 EUR\n"), drop_missing=True)

    def test_a_missing_column_names_those_there(self, tmp_path):
        assert "'a', 'b'" in refusal(written(tmp_path, "a,b\n1,2\n"))

    def test_a_wide_file_lists_twenty_names(self, tmp_path):
        names = [f"c{i}" for i in range(50)]
        message = refusal(written(tmp_path, ",".join(names) + "\n" + ",".join("1" * 50) + "\n"))
        assert "'c19' and 30 more" in message

    def test_a_repeated_column_is_refused(self, tmp_path):
        assert "got 2" in refusal(written(tmp_path, "x,x\n1,2\n"))

    @pytest.mark.parametrize(("cell", "row"), [("inf", 2), ("NaN", 2), ("1e999", 2), ("-Infinity", 2)])
    def test_values_that_are_not_finite_are_named(self, tmp_path, cell, row):
        assert f"row {row}" in refusal(written(tmp_path, f"x\n1\n{cell}\n"))

    def test_a_column_nearly_of_that_name_is_offered(self, tmp_path):
        assert "must exist: did you mean 'X1'? the file has 'X1', 'other'" in refusal(
            written(tmp_path, "X1,other\n1,2\n"), column="x1"
        )

    def test_nan_is_a_missing_value_to_leave_out(self, tmp_path):
        assert read_column(written(tmp_path, "x\n1\nNaN\n3\n"), "x", drop_missing=True).tolist() == [1.0, 3.0]
        assert "(inf) in row 3" in refusal(written(tmp_path, "x\n1\nNaN\ninf\n"), drop_missing=True)

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("", "name the columns"),
            ("\nx\n1\n", "name the columns"),
            ("x\n", "is empty"),
            ("x", "is empty"),
            ("x,y\n1\n", "row 1 has 1 cell and not 2"),
            ("x,y\n1,2\n1,2,3\n", "row 2 has 3 cells and not 2"),
            ('x\n"1\n2\n', "row 1 has a quote in a wrong place or not closed"),
            (b"x,y\n1,\xc3\xa9\n\xe9,2\n", "row 2 is not UTF-8"),
            ("x" * 2**21, "it does not end"),
            ("x\n1_000\n", "'1_000' in row 1"),
            ("x\n0x10\n", "'0x10' in row 1"),
            ("x\n\u0663\n", "in row 1"),
            ("x\n1\n2\0\n", "in row 2"),
            ("x\n1\n" + "7" * 5000, "got a cell of 5000 characters, more than 4096 in row 2"),
            (b"x\n\xe9\n", "got the text 'é' in row 1"),
            (b"\xff\x00\x01\n", "readable .csv"),
        ],
        ids=[
            "empty",
            "blank-header",
            "header-only",
            "header-no-newline",
            "ragged",
            "ragged-more",
            "quote",
            "not-utf-8",
            "endless-header",
            "underscore",
            "hexadecimal",
            "arabic",
            "nul",
            "long",
            "latin-1",
            "binary",
        ],
    )
    def test_malformed_csv(self, tmp_path, text, says):
        assert says in refusal(written(tmp_path, text))

    def test_a_column_of_missing_values_is_empty(self, tmp_path):
        assert "is empty" in refusal(written(tmp_path, "x,y\n,1\n,2\n"), drop_missing=True)

    def test_truncated_parquet(self, tmp_path):
        path = tmp_path / "cut.parquet"
        write_column(path, "x", np.arange(1000.0))
        path.write_bytes(path.read_bytes()[:-50])
        assert "readable .parquet" in refusal(path)

    def test_a_parquet_column_of_structures(self, tmp_path):
        path = parquet(tmp_path, "SELECT {'a': 1} AS x")
        assert "got type STRUCT" in refusal(path)

    def test_no_file_no_extension_or_a_folder(self, tmp_path):
        assert "must exist" in refusal(tmp_path / "none.csv")
        assert ".csv or .parquet" in refusal(written(tmp_path, "x\n1\n", "data.xls"))
        (tmp_path / "folder.csv").mkdir()
        assert "is not one" in refusal(tmp_path / "folder.csv")

    @pytest.mark.parametrize("where", ["none/x.csv", "file/x.parquet", "folder.csv", "x.txt"])
    def test_an_unwritable_destination_is_one_line_and_leaves_nothing(self, tmp_path, where):
        (tmp_path / "file").write_text("")
        (tmp_path / "folder.csv").mkdir()
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(InputError) as caught:
            write_column(tmp_path / where, "x", [1.0])
        assert "\n" not in str(caught.value)
        assert sorted(tmp_path.rglob("*")) == before

    @pytest.mark.parametrize("extension", ["csv", "parquet"])
    def test_ctrl_c_in_a_query_stays_ctrl_c_and_leaves_nothing(self, tmp_path, monkeypatch, extension):
        """duckdb 2.0 turns it into this RuntimeError."""

        def interrupted(*_: object, **__: object) -> None:
            raise RuntimeError("Query interrupted")

        path = tmp_path / f"x.{extension}"
        write_column(path, "x", [1.0])
        for method in ("fetchnumpy", "write_csv", "write_parquet"):
            monkeypatch.setattr(duckdb.DuckDBPyRelation, method, interrupted)
        with pytest.raises(KeyboardInterrupt):
            read_column(path, "x")
        with pytest.raises(KeyboardInterrupt):
            write_column(path, "x", [2.0])
        assert os.listdir(tmp_path) == [path.name]

    def test_a_table_is_no_column(self, tmp_path):
        with pytest.raises(InputError, match="one-dimensional"):
            write_column(tmp_path / "x.csv", "x", np.ones((2, 2)))
