"""A command as a source of reports: what it is sent, and whether it prints them byte for byte as published."""

import sys

import numpy as np
import pytest
from optldp.designer.auditing.sources import FromCommand
from optldp.designer.auditing.subjects.registry import kind_of
from optldp.mechanisms import duchi, make_exact
from optldp.mechanisms.categorical import basic_rappor, categorical_grr

POINTS = make_exact(duchi([0.0, 1.0, 2.0, 3.0], 1.0)).mechanism
HIGH = float(POINTS.high[-1])
JOBS = list("abcdefghijkl")


def drawn(mechanism, form, many=400):
    """What a command has drawn that prints this form of x, a line of its input, and its columns."""
    code = f"import sys, json\nfor line in sys.stdin:\n    x = json.loads(line)\n    sys.stdout.write({form})"
    kind, rng = kind_of(mechanism, None, np.random.default_rng(1)), np.random.default_rng(2)
    source = FromCommand(kind, f'{sys.executable} -I -S -c "{code}"', rng)
    return source, source.draw(rng.integers(kind.weights.size, size=many))


@pytest.mark.parametrize(
    ("mechanism", "form"),
    [(POINTS, f"'{HIGH!r}\\n'"), (categorical_grr(JOBS, 1.0), "'11\\n'"), (basic_rappor(JOBS, 1.0), "'0ab0\\n'")],
)
def test_what_is_spelled_as_published_is_not_misspelled(mechanism, form):
    source, columns = drawn(mechanism, form)
    assert (source.misspelled, source.first_misspelled) == (0, "")
    assert not columns["misspelled"].any()


@pytest.mark.parametrize(
    ("mechanism", "form", "first"),
    [
        (POINTS, f"'{HIGH!r}' + ('\\r\\n' if x > 1 else '\\n')", rf"'{HIGH!r}\r\n' is published as '{HIGH!r}\n'"),
        (POINTS, f"'{HIGH!r}' + 20 * '0' + ('1' if x > 1 else '') + '\\n'", f"is published as '{HIGH!r}"),
        (POINTS, f"'+' * (x > 1) + '{HIGH!r}\\n'", f"'+{HIGH!r}"),
        (POINTS, "('1_0.0' if x > 1 else '10.0') + '\\n'", "'1_0.0"),
        (categorical_grr(JOBS, 1.0), "'0' * (x == 'a') + '0\\n'", r"'00\n' is published as '0\n'"),
        (basic_rappor(JOBS, 1.0), "('0AB0' if x == 'a' else '0ab0') + '\\n'", r"'0AB0\n' is published as '0ab0\n'"),
    ],
    ids=["line ends", "digits beyond doubles", "a sign", "an underscore", "zeros", "case"],
)
def test_a_report_that_is_spelled_otherwise_for_some_values_is_counted(mechanism, form, first):
    """The report itself is the same for all values: only how it is written tells."""
    source, columns = drawn(mechanism, form)
    assert 0 < source.misspelled == np.count_nonzero(columns["misspelled"])
    assert first in source.first_misspelled


def test_a_last_line_without_an_end_is_misspelled():
    """One bit for each call."""
    source, _ = drawn(POINTS, f"'{HIGH!r}' + '\\n' * (x != 5)", many=400)
    assert source.misspelled == 0
    code = f"import sys; sys.stdout.write('\\n'.join('{HIGH!r}' for _ in sys.stdin))"
    source = FromCommand(source.kind, f'{sys.executable} -I -S -c "{code}"', np.random.default_rng(1))
    source.draw(np.zeros(3, dtype=int))
    assert source.misspelled == 1
    assert source.first_misspelled == rf"'{HIGH!r}' is published as '{HIGH!r}\n'"


def test_integers_are_sent_as_a_column_of_counts_has_them():
    """A sampler that passes on what has no point is seen; one of decimals alone never was."""
    source, columns = drawn(POINTS, f"(line.strip() if '.' not in line else '{HIGH!r}') + '\\n'")
    assert source.misspelled > 20
    sent = np.unique(columns["the report"])
    assert {0.0, 1.0, 2.0, 3.0} < set(sent.tolist())
