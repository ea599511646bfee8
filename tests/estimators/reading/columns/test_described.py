"""What is told of a column, against what was put there."""

from datetime import date

import numpy as np
import polars
import pyarrow
import pytest
from optldp.estimators.reading.columns import describe
from optldp.estimators.reading.columns.described import CategoryColumn, NumberColumn, round_range
from optldp.estimators.reading.columns.number_cells import write_column
from optldp.estimators.reading.formats.axis import DAYS
from optldp.mechanisms import InputError


def numbers(here, *cells: object) -> NumberColumn:
    (here / "t.csv").write_text("\n".join(["v", *map(str, cells)]) + "\n")
    told = describe(here / "t.csv", "v")
    assert isinstance(told, NumberColumn)
    return told


def test_rows_are_told_apart(tmp_path):
    told = numbers(tmp_path, 3, "NA", 5, "'12", 4, "inf", 5.5, 6)
    assert (told.rows, told.missing, told.texts, told.distinct, told.whole) == (8, 1, 2, 5, False)
    assert told.first_text == '"\'12" in row 4'
    assert (told.smallest, told.largest) == (3.0, 6.0)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_every_value_is_in_a_bin_or_outside(tmp_path, kind):
    values = np.random.default_rng(1).lognormal(8, 1, 20_000).round()
    write_column(tmp_path / f"t.{kind}", "v", values)
    told = describe(tmp_path / f"t.{kind}", "v")
    assert isinstance(told, NumberColumn)
    assert sum(told.counts) + told.below + told.above == 20_000
    assert told.counts == tuple(np.histogram(values, told.edges)[0])
    assert told.above == np.count_nonzero(values > told.high) <= 20
    assert [quantile for _, quantile in told.quantiles] == pytest.approx(
        np.quantile(values, [share for share, _ in told.quantiles])
    )


def test_what_people_round_to_is_found_beside_the_commonest_value(tmp_path):
    rng = np.random.default_rng(2)
    exact, rounded = rng.integers(1, 50_000, 4000), 1000 * rng.integers(1, 50, 1500)
    told = numbers(tmp_path, *exact, *rounded, *np.zeros(2000, int))
    assert (told.commonest, told.heap) == (0.0, 1000.0)
    assert told.common == pytest.approx(2000 / 7500)
    assert told.heaped == pytest.approx(1500 / 5500, abs=0.01)
    assert numbers(tmp_path, *exact).heaped == 0.0


def test_an_end_that_costs_little_is_moved_for_all(tmp_path):
    ages = np.random.default_rng(3).integers(18, 88, 5000)
    told = numbers(tmp_path, *ages, 90)
    assert (told.low, told.high, told.above) == (15.0, 90.0, 0)
    told = numbers(tmp_path, *ages, 1000)
    assert (told.high, told.above) == (90.0, 1)


@pytest.mark.parametrize(("low", "high"), [(0.1, 0.17), (-3.2, 900.0), (1e6, 1.2e6), (-7.0, -7.0), (0.5, 0.5)])
def test_a_round_range_holds_its_ends(low, high):
    bottom, top = round_range(low, high)
    assert bottom <= low <= high <= top
    assert bottom < top
    assert top - bottom <= 1.5 * (high - low) or low == high or bottom == 0.0


def test_few_whole_numbers_are_looked_at_one_by_one(tmp_path):
    days = np.random.default_rng(4).integers(1, 32, 3000)
    told = numbers(tmp_path, *days)
    assert told.stepped
    assert (told.low, told.high) == (1, 31)
    assert told.counts == tuple(np.bincount(days)[1:])
    assert not numbers(tmp_path, *days, *days + 40).stepped
    assert not numbers(tmp_path, *days, 0.5).stepped


def test_a_far_narrower_range_is_told_with_what_it_leaves_out(tmp_path):
    values = np.random.default_rng(5).lognormal(0, 3, 5000)
    told = numbers(tmp_path, *values)
    assert told.narrow is not None
    low, high = told.narrow
    assert 3 * (high - low) <= told.high - told.low
    assert told.outside_narrow == np.count_nonzero((values < low) | (values > high))
    assert numbers(tmp_path, *np.linspace(0, 100, 5000)).narrow is None


def test_categories_and_their_spellings(tmp_path):
    (tmp_path / "t.csv").write_text("v\n" + "\n".join(["Cook", "cook ", "cook", "smith", "smith", "", "x y", "X  Y"]))
    told = describe(tmp_path / "t.csv", "v")
    assert isinstance(told, CategoryColumn)
    assert (told.rows, told.missing, told.distinct) == (8, 1, 6)
    assert told.commonest[0] == ("smith", 2)
    assert told.alike == (("Cook", "cook", "cook "), ("X  Y", "x y"))


def test_numbers_are_categories_where_that_is_said(tmp_path):
    (tmp_path / "t.csv").write_text("v\n1\n2\n1\n")
    assert describe(tmp_path / "t.csv", "v", categorical=True) == CategoryColumn(3, 0, 2, (("1", 2), ("2", 1)), ())


def test_a_column_of_nothing_is_a_column_of_no_categories(tmp_path):
    (tmp_path / "t.csv").write_text("v\nNA\n")
    assert describe(tmp_path / "t.csv", "v") == CategoryColumn(1, 1, 0, (), ())


def test_a_column_that_is_not_there_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("v\n1\n")
    with pytest.raises(InputError, match=r"column 'w' of .* must exist: the file has 'v'"):
        describe(tmp_path / "t.csv", "w")


@pytest.mark.slow
def test_the_same_is_told_of_files_tables_arrays_lists_and_streams(tmp_path):
    values = [18, 25, 31, 90, None]
    (tmp_path / "t.csv").write_text("age\n" + "\n".join("NA" if each is None else str(each) for each in values))
    table = pyarrow.table({"age": values})
    told = describe(tmp_path / "t.csv", "age")
    frames = (table, table.to_reader(), table.to_pandas(), polars.DataFrame({"age": values}), {"age": np.array(values)})
    assert [describe(frame, "age") for frame in frames] == [told] * len(frames)
    assert [describe(alone) for alone in (values, np.array([*values[:-1], np.nan]), polars.Series(values))] == [
        told
    ] * 3
    days = describe([date(2020, 1, 1), date(2021, 3, 4)])
    assert isinstance(days, NumberColumn)
    assert (days.units, describe(polars.DataFrame({"d": [date(2020, 1, 1), date(2021, 3, 4)]}), "d")) == (DAYS, days)
    for wrong, match in ((tmp_path / "t.csv", "name the one to describe"), ({"age": [1]}, "say which to describe")):
        with pytest.raises(InputError, match=match):
            describe(wrong)
