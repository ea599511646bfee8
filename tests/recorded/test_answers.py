"""No answer changed unseen; and the comparison sees one that did."""

import copy

import pytest

from .answers import answers, differences, recorded


@pytest.mark.slow
def test_every_answer_is_as_recorded(tmp_path):
    """`python -m tests.recorded.answers` says the same; whoever means a change writes it with --write."""
    kept, apart = recorded()
    assert [line for _, _, line in differences(kept, answers(tmp_path), apart)] == []


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
