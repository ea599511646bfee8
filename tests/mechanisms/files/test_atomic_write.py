"""Files are written whole or not at all."""

import pytest
from optldp.mechanisms import InputError
from optldp.mechanisms.files.atomic_write import replacing


def test_the_target_appears_only_when_the_block_ends(tmp_path):
    """Until then there is a temporary neighbour of the same suffix."""
    target = tmp_path / "out.csv"
    with replacing(target) as temporary:
        temporary.write_text("new")
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".csv"
        assert not target.exists()
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_a_failure_keeps_the_old_file_and_leaves_nothing_behind(tmp_path, failure):
    """Ctrl-C included."""
    target = tmp_path / "out.json"
    target.write_text("old")

    def write_half():
        with replacing(target) as temporary:
            temporary.write_text("half")
            raise failure

    with pytest.raises(failure):
        write_half()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    """A folder as target, or a folder that is not there."""
    with pytest.raises(InputError, match="must be a file, got the folder"), replacing(tmp_path):
        pass
    with pytest.raises(InputError, match="must be writable, got"), replacing(tmp_path / "no" / "x.json") as temporary:
        temporary.write_text("x")
    assert list(tmp_path.iterdir()) == []
