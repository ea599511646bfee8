"""No answer changed unseen; and the comparison sees one that did."""

import copy

import pytest

from .answers import answers, differences, recorded
from .commands import commands


@pytest.mark.parametrize("share", [pytest.param(4, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.nightly)])
def test_every_answer_is_as_recorded(tmp_path, share):
    """By day all reports and one of four commands. `python -m tests.recorded.answers` says the same of all.

    Whoever means a change writes it with --write.
    """
    kept, apart = recorded()
    found = answers(tmp_path, share)
    asked = {name: answer for name, answer in kept.items() if share == 1 or name in found}
    assert [line for _, _, line in differences(asked, found, apart)] == []
    assert len(found) > len(kept) / (2 * share)


def test_every_command_has_an_answer_and_no_answer_lacks_its_command():
    """Whichever of them run by day."""
    kept, _ = recorded()
    assert commands().keys() == {name for name in kept if not name.startswith("reports ")}


def test_an_answer_that_is_another_is_seen():
    """A number by a billionth, a word, and what is new or gone."""
    kept, apart = recorded()
    assert list(differences(kept, kept, apart)) == []
    for change in (
        lambda told: told.update(value=told["value"] * (1 + 3e-9)),
        lambda told: told.update(method="another"),
        lambda told: told.update(new=1),
        lambda told: told.pop("std_error"),
    ):
        changed = copy.deepcopy(kept)
        change(changed["estimate numbers"])
        assert len(list(differences(kept, changed, apart))) == 1
