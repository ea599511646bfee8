"""The state of the Python client, on disk: what no vector shows."""

import json
import stat

import pytest
from optldp.mechanisms import save_bundle
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.over_time import Panel as LibraryPanel
from optldp_client import FilePlace, Panel, read_way


@pytest.fixture
def panel(tmp_path):
    save_bundle(LibraryPanel(categorical_grr(["yes", "no"], 1.0), 3, 3, 3.0, "0" * 32), tmp_path / "way.json")
    way = read_way((tmp_path / "way.json").read_text("utf-8"))
    assert isinstance(way, Panel)
    return way


def test_a_state_on_disk_gives_the_same_report_again(panel, tmp_path):
    state, mark = FilePlace(tmp_path / "state"), FilePlace(tmp_path / "mark")
    first = panel.report("ann", 1, "yes", state, mark)
    assert {panel.report("ann", 1, value, state, mark) for value in ["no", "yes"] * 4} == {first}
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o600


def test_without_its_mark_a_state_draws_nothing_in_the_period_that_is_asked_for(panel, tmp_path):
    state, mark = FilePlace(tmp_path / "state"), FilePlace(tmp_path / "mark")
    assert panel.report("ann", 1, "yes", state, mark) is not None
    (tmp_path / "mark").unlink()
    assert panel.report("ann", 2, "yes", state, mark) is None
    assert panel.report("ann", 3, "yes", state, mark) is not None


def test_a_state_that_was_altered_is_refused_and_no_value_is_shown(panel, tmp_path):
    state, mark = FilePlace(tmp_path / "state"), FilePlace(tmp_path / "mark")
    with pytest.raises(ValueError, match="one of the 2 categories") as refused:
        panel.report("ann", 1, "mauve", state, mark)
    assert "mauve" not in str(refused.value)
    panel.report("ann", 1, "yes", state, mark)
    whole = json.loads((tmp_path / "state").read_text("utf-8"))
    changes = (
        {"lost": -1},
        {"turns": {}},
        {"reports": []},
        {"offset": 1.0},
        {"last": 3},
        {"draws": {"x": "1"}},
        {"more": 1},
    )
    for altered in ["{}, ", *(json.dumps(whole | change) for change in changes)]:
        state.write(altered)
        with pytest.raises(ValueError, match="as they were left"):
            panel.report("ann", 1, "yes", state, mark)


def test_a_file_left_beside_the_state_lends_it_no_readers(tmp_path):
    left = tmp_path / "state.new"
    left.write_text("left by a crash, or laid by another")
    left.chmod(0o644)
    FilePlace(tmp_path / "state").write("whole")
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o600
    assert not left.exists()
