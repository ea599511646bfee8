"""Files in the forms that people have them: the same numbers out of all of them, or one line that says why not."""

import gzip
import io
import sys

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from optldp.estimators.reading.columns import read_column
from optldp.estimators.reading.columns.number_cells import column_units
from optldp.estimators.reading.columns.texts import read_texts
from optldp.estimators.reading.formats import plain_file, read_as
from optldp.estimators.reading.formats.axis import CLOCK, DAYS, SECONDS, UTC_SECONDS, AxisNumber, said_on
from optldp.mechanisms import InputError

POINTS = 'ort,x\nKöln,1.5\n"Aue, Bad",1234.25\nUlm,-2\n'
SEMICOLONS = 'ort;x\r\nKöln;1,5\r\n"Aue, Bad";1.234,25\r\nUlm;-2\r\n'
TABS = "ort\tx\nKöln\t1.5\nAue, Bad\t1 234.25\nUlm\t-2\n"


def packed(text: bytes) -> bytes:
    """Return what Zstandard makes of bytes."""
    stream = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(stream, "zstd") as writer:
        writer.write(text)
    return stream.getvalue().to_pybytes()


FORMS = {
    "plain.csv": POINTS.encode(),
    "bom.csv": SEMICOLONS.encode("utf-8-sig"),
    "semicolons.csv": SEMICOLONS.encode(),
    "latin.txt": SEMICOLONS.encode("latin-1"),
    "wide.csv": SEMICOLONS.encode("utf-16"),
    "wide-no-mark.csv": TABS.encode("utf-16-be"),
    "tabs.tsv": TABS.encode(),
    "bars.csv": TABS.replace("\t", "|").encode(),
    "apostrophes.csv": SEMICOLONS.replace("1.234,25", "1'234,25").encode(),
    "points.csv.gz": gzip.compress(POINTS.encode(), mtime=0),
    "wide.tsv.gz": gzip.compress(TABS.encode("utf-16"), mtime=0),
    "semicolons.csv.zst": packed(SEMICOLONS.encode()),
}


def refusal(path, **given) -> str:
    """Return the one line that reading the column x of a file ends in."""
    with pytest.raises(InputError) as caught, read_as(**given):
        read_column(path, "x")
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("piped", [False, True])
def test_all_forms_give_the_same_cells(tmp_path, monkeypatch, name, piped):
    """From a file, and from a pipe, which has no name to tell anything by and is read once but asked twice."""
    path = tmp_path / name
    path.write_bytes(FORMS[name])
    if piped:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FORMS[name])))
    source = "-" if piped else path
    assert read_column(source, "x").tolist() == [1.5, 1234.25, -2.0]
    assert read_texts(source, ["ort"])[0].tolist() == ["Köln", "Aue, Bad", "Ulm"]


def test_feather_and_what_is_told(tmp_path):
    """A plain file is not commented on; another one is, once."""
    from pyarrow import feather

    feather.write_feather(pyarrow.table({"x": [1.5, None]}), tmp_path / "a.feather")
    told = []
    with read_as(told=told.append):
        assert read_column(tmp_path / "a.feather", "x", drop_missing=True).tolist() == [1.5]
        for name in ("plain.csv", "latin.txt"):
            (tmp_path / name).write_bytes(FORMS[name])
            read_column(tmp_path / name, "x")
            read_column(tmp_path / name, "x")
    assert told == [
        "latin.txt is read as latin-1, semicolon separated",
        "column 'x' is read with decimal commas and thousands marks",
    ]


@pytest.mark.parametrize(
    ("cells", "decimal", "found"),
    [
        (["1,5", "2"], None, [1.5, 2]),
        (["1.234.567", "1,5"], None, [1234567, 1.5]),
        (["1,234,567.5", "1,234"], None, [1234567.5, 1234]),
        (["0,125", "7"], None, [0.125, 7]),
        (["1234,567"], None, [1234.567]),
        (["1,234"], ".", [1234]),
        (["1,234"], ",", [1.234]),
        (["1.234"], None, [1.234]),
        (["1,5", "1e3", "-,5"], None, [1.5, 1000, -0.5]),
        (["1 234", "5"], None, [1234, 5]),
        (["1,234", "7"], None, "got '1,234' in row 1, which may be 1234 or 1.234: say --format csv:decimal"),
        (["1,5", "2.5"], None, "must have one decimal mark, got '2.5' in row 2 and '1,5' in row 1"),
        (["1.5"], ",", "got the text '1.5 (the decimal mark is a comma)' in row 1"),
        (["1,5", "12,34,5"], None, "got the text '12,34,5' in row 2"),
        (["1,5", "n/a"], None, "got the text 'n/a' in row 2"),
    ],
)
def test_marks_of_numbers(tmp_path, cells, decimal, found):
    """Evidence of one cell decides for its column; without any, where two numbers are possible, nobody guesses."""
    path = tmp_path / "x.csv"
    path.write_text("y,x\n" + "".join(f'a,"{cell}"\n' for cell in cells), encoding="utf-8")
    if isinstance(found, str):
        assert found in refusal(path, decimal=decimal)
    else:
        with read_as(decimal=decimal):
            assert read_column(path, "x").tolist() == found


def test_three_digits_after_a_point_are_in_doubt_where_semicolons_separate(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("y;x\na;1.234\n")
    assert "which may be 1.234 or 1234" in refusal(path)
    path.write_text("y;x\na;1.234\na;0.5\n")
    assert read_column(path, "x").tolist() == [1.234, 0.5]


def test_late_evidence_is_never_read_silently(tmp_path):
    """After a thousand plain numbers a cell that is none is refused, not read in another way than they were."""
    path = tmp_path / "x.csv"
    path.write_text("y,x\n" + "a,7\n" * 1500 + 'a,"1,234"\n')
    assert "got the text '1,234' in row 1501" in refusal(path)


@pytest.mark.parametrize(
    ("cells", "units", "found"),
    [
        (["1970-01-11", "1969-12-31"], DAYS, [10, -1]),
        (["11.1.1970", "1.2.1970"], DAYS, [10, 31]),
        (["1/31/1970", "2/1/1970"], DAYS, [30, 31]),
        (["31/1/1970", "1/2/1970"], DAYS, [30, 31]),
        (["1970-01-02 00:00", "1970-01-03"], DAYS, [1, 2]),
        (["1970-01-01T00:01:30.5", "1970-01-02"], SECONDS, [90.5, 86400]),
        (["1970-01-01T02:00:00+02:00", "1970-01-01 00:00:01Z"], UTC_SECONDS, [0, 1]),
        (["9:30", "23:59"], CLOCK, [34200, 86340]),
        (["26:00:00", "-0:00:30.5"], CLOCK, [93600, -30.5]),
        (["2 days 01:00:00", "0 days 00:00:01"], CLOCK, [176400, 1]),
        (["P1DT2H3M4.5S", "PT5M"], CLOCK, [93784.5, 300]),
        (["2/3/1970"], "", "whose day and month cannot be told"),
        (["31/1/1970", "1/31/1970"], "", "the day comes first in some"),
        (["1970-02-31"], "", "got the text '1970-02-31' in row 1"),
        (["1970-01-01", "1970-01-02", "5"], "", "must hold dates or times of one form, got '5' in row 3"),
        (["1970-01-01", "1970-01-02", "soon"], "", "got the text 'soon' in row 3"),
        (["1:30", "45:10"], "", "must say its hours, got '45:10' in row 2"),
    ],
)
def test_dates_times_and_durations(tmp_path, cells, units, found):
    path = tmp_path / "x.csv"
    path.write_text("y,x\n" + "".join(f"a,{cell}\n" for cell in cells))
    if isinstance(found, str):
        assert found in refusal(path)
    else:
        assert (column_units(path, "x"), read_column(path, "x").tolist()) == (units, found)


def test_dates_meet_ranges_and_tables(tmp_path):
    """Whole days are the same in days and in seconds; numbers are no dates, and dates no numbers."""
    path = tmp_path / "x.csv"
    path.write_text("x,y\n1970-01-02,3\n")
    assert read_column(path, "x", units=UTC_SECONDS).tolist() == [86400.0]
    for column, units in (("x", "EUR"), ("x", ""), ("y", DAYS), ("x", CLOCK)):
        with pytest.raises(InputError, match=r"must (be in|hold dates)"):
            read_column(path, column, units=units)
    assert AxisNumber.read("1970-01-02").to(SECONDS) == 86400
    assert said_on(AxisNumber.read("2020-02-29T10:00Z"), UTC_SECONDS) == "2020-02-29 10:00:00 UTC"
    assert said_on(1e300, DAYS) is said_on(np.inf, SECONDS) is said_on(1.0, "days") is None


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("cut.csv.gz", gzip.compress(POINTS.encode() * 99, mtime=0)[:-20], "end-of-stream marker"),
        ("junk.csv.gz", bytes(range(256)), "Not a gzipped file"),
        ("lying.csv.gz", b"\x1f\x8b\x08\x00" + b"\xff" * 40, "readable .gz file"),
        ("cut.csv.zst", packed(POINTS.encode() * 99)[:-9], "was cut off"),
        ("junk.csv.zst", bytes(range(256)), "no Zstandard"),
        ("claims.csv.zst", b"\x28\xb5\x2f\xfd\xe0" + b"\xff" * 7 + b"\x00\xff\xff\xff", "readable .zst file"),
        ("junk.feather", b"ARROW1\0\0" + b"\xff" * 99, "readable .feather file"),
        ("claims.parquet", b"PAR1" + b"\xff" * 99 + (2**31 - 1).to_bytes(4, "little") + b"PAR1", "readable .parquet"),
        ("junk.csv", bytes(range(256)) * 9, "junk.csv"),
        ("half.csv", b"\xff\xfex\x00\n\x00\x00\xd8\n\x00", "must be text in utf-16"),
        ("two.csv", b"x,y;z\n1,2;3\n4,5;6\n", "may be separated by comma or semicolon"),
    ],
)
def test_damaged_and_lying_files_end_in_one_line(tmp_path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content)
    assert says in refusal(path)


@pytest.mark.parametrize("name", ["bomb.csv.gz", "bomb.csv.zst"])
def test_what_unpacks_to_far_more_than_it_is_worth_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.setattr(plain_file, "SMALL", 2**12)
    text = b"x\n" + b"1\n" * 10**6
    (tmp_path / name).write_bytes(gzip.compress(text, mtime=0) if name.endswith("gz") else packed(text))
    assert "must unpack to at most" in refusal(tmp_path / name)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"delimiter": "ab"}, "a delimiter must be one mark"),
        ({"decimal": ";"}, "a decimal mark must be"),
        ({"encoding": "klingon"}, "an encoding must be one that Python knows"),
        ({"encoding": "base64"}, "an encoding must be one that Python knows"),
    ],
)
def test_overrides_must_make_sense(given, says):
    with pytest.raises(InputError, match=says), read_as(**given):
        pass


def test_overrides_win(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("x#ort\n1#à\n".encode("cp850"))
    with read_as(delimiter="#", encoding="cp850"):
        assert read_texts(path, ["ort"])[0].tolist() == ["à"]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_cell_that_is_said_to_mean_no_value_is_one(form, tmp_path):
    """Whatever SQL makes of its marks, for numbers and for texts; without it the column is refused with the cure."""
    path, cells = tmp_path / f"a.{form}", ["1", "don't know", "3", "N/A", "2"]
    if form == "csv":
        path.write_text("\n".join(["x", *cells]))
    else:
        pyarrow.parquet.write_table(pyarrow.table({"x": cells}), path)
    with pytest.raises(InputError, match='got the text "don\'t know" in row 2: correct it, or say by --na'):
        read_column(path, "x")
    with read_as(na=["N/A", "don't know"]):
        np.testing.assert_array_equal(read_column(path, "x", drop_missing=True), [1, 3, 2])
        assert read_texts(path, ["x"])[0].tolist() == ["1", None, "3", None, "2"]


@pytest.mark.parametrize("mark", ["", " N/A", "a\nb", "x" * 65])
def test_a_mark_of_no_value_is_a_short_word(mark):
    with pytest.raises(InputError, match="a mark of no value must be 1 to 64 printable characters"), read_as(na=[mark]):
        pass
