"""The work database: its folder is private, and gone whatever happened."""

import os
import subprocess
import sys
import tempfile

import pytest
from optldp.estimators.reading.columns.work_database import MEMORY_LIMIT, work_database
from optldp.mechanisms import InputError


def test_what_does_not_fit_into_memory_goes_to_the_folder_and_is_removed(tmp_path):
    """Two million doubles do not fit into 10 MB; nobody else may read them."""
    with work_database("10MB", tmp_path) as connection:
        connection.execute("CREATE TABLE numbers AS SELECT random() AS n FROM range(2000000)")
        (folder,) = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o077 == 0
        assert any(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        assert connection.execute("SELECT count(*) FROM numbers WHERE n < 2").fetchall() == [(2_000_000,)]
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError])
def test_whatever_is_raised_passes_and_the_folder_is_removed(tmp_path, error):
    """Errors of the work are not errors of the folder."""

    def work() -> None:
        with work_database(temp_directory=tmp_path):
            assert len(os.listdir(tmp_path)) == 1
            raise error("of the work")

    with pytest.raises(error, match="of the work"):
        work()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("limit", "says"),
    [("much", "got 'much'"), ("10", "got '10'"), ("a'b", 'got "a\'b"'), ("1KB", "got '1KB', and the disk: raise it")],
)
def test_an_unusable_limit_is_one_line(tmp_path, limit, says):
    """No amount, no unit, not enough."""
    with pytest.raises(InputError) as caught, work_database(limit, tmp_path) as connection:
        connection.execute("CREATE TABLE numbers AS SELECT random() FROM range(100000)")
    assert says in str(caught.value)
    assert "memory_limit" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_none_is_named(tmp_path, monkeypatch):
    """The one asked for, or the system's."""
    with pytest.raises(InputError, match="temp_directory must be a folder"), work_database(None, tmp_path / "none"):
        pass
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "lost"))
    with pytest.raises(InputError, match="lost"), work_database():
        pass


def test_memory_is_limited_unless_told_otherwise():
    """A machine's whole memory is not for counting."""
    assert MEMORY_LIMIT == "2GB"
    with work_database() as connection:
        assert connection.execute("SELECT current_setting('memory_limit')").fetchall() == [("1.8 GiB",)]
    with work_database("3GiB") as connection:
        assert connection.execute("SELECT current_setting('memory_limit')").fetchall() == [("3.0 GiB",)]


@pytest.mark.nightly
def test_duckdb_draws_no_progress_bar():
    """Where Python has no script, as under -c, it would draw one on stdout, between the results."""
    program = """
from optldp.estimators.reading.columns.files import connected
with connected() as connection:
    print(connection.execute("SELECT current_setting('enable_progress_bar')").fetchall())
"""
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ran.stdout == "[(False,)]\n"
