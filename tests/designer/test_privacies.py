"""Every kind of privacy is a class and an entry: it is made as its example asks, or refused by its name."""

import pytest
from optldp.designer import privacies
from optldp.designer.privacies import PRIVACIES, NamedPrivacy, in_words, privacy_asked, privacy_name
from optldp.mechanisms import InputError
from optldp.mechanisms.promise import Promise

from ..naming import NEW


@pytest.mark.parametrize("name", PRIVACIES)
def test_an_entry_makes_a_promise_of_its_name_as_its_example_asks(name):
    entry = PRIVACIES[name]
    made = privacy_asked(entry.example, 0.5)
    assert isinstance(made, Promise)
    assert (privacy_name(entry.example), made.kind, made.epsilon) == (name, name, 0.5)
    assert f"{entry.example}" in in_words()
    assert all(getattr(made, option.name.replace("-", "_")) is not None for option in entry.options)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("secret", "--privacy must be one of pure, approximate, metric, got 'secret'"),
        ("approximate", "--privacy approximate needs delta, got none: write approximate:delta=1e-6"),
        ("metric:3", "--privacy metric takes nothing beside, got '3': write metric"),
    ],
)
def test_what_there_is_not_is_refused_in_a_line(text, says):
    with pytest.raises(InputError) as refused:
        privacy_asked(text, 1.0)
    assert str(refused.value) == says


def test_an_entry_without_its_class_is_refused_by_its_name(monkeypatch):
    entry = NamedPrivacy("mechanisms.promise:Nothing", "nothing", NEW)
    monkeypatch.setattr(privacies, "PRIVACIES", {**PRIVACIES, NEW: entry})
    with pytest.raises(InputError, match=f"privacy {NEW!r} is known by name, and nothing here works by it"):
        privacy_asked(NEW, 1.0)
