"""What every mechanism that is registered must do; a check is a function of a case, and a new one is written here.

A check that fails says what the mechanism's class lacks. A mechanism that cannot do it refuses, in one line; that is a
hole, which `holes` lists with its reason.
"""

import copy
import json
import math
import pickle
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optldp.designer import mechanism_html, read_reports
from optldp.estimators import count, influence
from optldp.mechanisms import TableError, load_mechanism
from optldp.mechanisms.files.checksum import checksum
from optldp.mechanisms.files.identifier import file_checksum, table_identifier
from optldp.mechanisms.ledger import Ledger, new_ledger_key
from optldp.mechanisms.sampling.random_words import random_words

from ..small_channels import save
from .case import Case, write

Check = Callable[[Case], None]

CHECKS: dict[str, Check] = {}
"""Every check by its name."""

SLOW = {"audited"}


def check(function: Check) -> Check:
    """Register a check under its name."""
    CHECKS[function.__name__] = function
    return function


@check
def file_read_again(case: Case) -> None:
    """The file, read and written again, is the same bytes; copies and pickles are the same mechanism."""
    found = load_mechanism("table.json")
    save(found, Path("again.json"))
    assert Path("again.json").read_bytes() == Path("table.json").read_bytes()
    for copied in (found, copy.deepcopy(case.mechanism), pickle.loads(pickle.dumps(case.mechanism))):
        assert type(copied) is type(case.mechanism)
        assert file_checksum(copied) == json.loads(Path("table.json").read_text())["checksum"]


@check
def altered_file_refused(case: Case) -> None:
    """A file that promises a tenth of the budget is refused, though its checksum is right."""
    document = json.loads(Path("table.json").read_text())
    altered = _with_less_budget(document)
    assert altered != document
    for right in (False, True):
        if right:
            altered["checksum"] = checksum({name: part for name, part in altered.items() if name != "checksum"})
        Path("altered.json").write_text(json.dumps(altered))
        with pytest.raises(TableError):
            load_mechanism("altered.json")


def _with_less_budget(document: Any) -> Any:
    """The document with a tenth of every budget of a value, and numbers of levels as they are."""
    if isinstance(document, list):
        return [_with_less_budget(part) for part in document]
    if not isinstance(document, dict):
        return document
    made = {name: _with_less_budget(part) for name, part in document.items()}
    return made | {name: 0.1 * made[name] for name in ("epsilon",) if isinstance(made.get(name), int | float)}


@check
def verified(case: Case) -> None:
    """`verify` proves the promise, and the library finds no failure."""
    found = case.run("verify", "table.json")
    assert found["ok"] is True
    assert found["failures"] in ([], None)


@check
def shown(case: Case) -> None:
    """`show` names the table as its reports do, and tells a promise and what one report can do."""
    facts = case.run("show", "table.json")
    assert facts["table"] == table_identifier(case.mechanism)
    assert "one_report_times_n" in facts
    assert {"epsilon", "levels", "promise"} & facts.keys()


@check
def drawn(case: Case) -> None:
    """There is a picture of it, and a page to sign."""
    case.run("show", "table.json", "--plot", "table.svg")
    assert Path("table.svg").read_text().startswith("<?xml")
    assert file_checksum(case.mechanism) in mechanism_html(case.mechanism)


@check
def perturbed(case: Case) -> None:
    """Each row of the data has a report, the same in both forms of files, of which each row names the table."""
    header, rows = case.reports()
    assert len(rows) == 240
    assert {row.rpartition(",")[2] for row in rows} == {table_identifier(case.mechanism)}
    assert header.rpartition(",")[2] == "table"
    case.perturb(1, "reports.parquet")
    both = [read_reports(case.mechanism, name).reports for name in ("reports 1.csv", "reports.parquet")]
    assert pickle.dumps(_plain(both[0])) == pickle.dumps(_plain(both[1]))


def _plain(reports: Any) -> Any:
    if isinstance(reports, dict):
        return {name: _plain(each) for name, each in reports.items()}
    if isinstance(reports, np.ndarray):
        return reports.tolist()
    return [_plain(each) for each in vars(reports).values()] if hasattr(reports, "__dict__") else reports


@check
def text_read_again(case: Case) -> None:
    """A report as text is that very report again, drawn of a value that its space tells from others by bytes."""
    made = case.mechanism
    value = (case.value, 1) if "levels" in case.name else case.value
    content = made.inputs.content(value)
    words = random_words(np.random.default_rng(7))
    (text,) = made.to_text(made.draw(made.inputs.sampled(made.inputs.of_content(content), words), words))
    assert made.to_text(made.from_text([text])) == [text]


@check
def foreign_report_refused(case: Case) -> None:
    """A row that holds no report is named, and the file of another table is refused."""
    header, rows = case.reports()
    names = header.split(",")
    place = next(k for k, name in enumerate(names) if "level" not in name)
    cells = rows[2].split(",")
    cells[place] = "banana"
    write("foreign.csv", header, [*rows[:2], ",".join(cells), *rows[3:]])
    refused_with(case, "3", "estimate", "table.json", "foreign.csv")
    write("other.csv", header, [f"{row.rpartition(',')[0]},t000000000000" for row in rows])
    refused_with(case, "t000000000000", "estimate", "table.json", "other.csv")


def refused_with(case: Case, text: str, *words: object) -> None:
    """A command is refused, in one line that has a text."""
    with pytest.raises(ValueError, match=text):
        case.run(*words)


@check
def counts_add_up(case: Case) -> None:
    """Counts of two halves, added, are those of all: what is estimated is the same, and neither half is."""
    header, rows = case.reports()
    parts = [write(f"part {k}.csv", header, part) for k, part in enumerate((rows, rows[:100], rows[100:]))]
    whole, first, second = (count(case.mechanism, read_reports(case.mechanism, part).reports) for part in parts)
    assert _told(first + second) == _told(whole) != _told(first)


def _told(counts: Any) -> list[Any]:
    """All arrays of counts, in an order that does not depend on how they were counted."""
    return sorted((each.tolist() for each in _arrays(counts)), key=repr)


def _arrays(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _arrays(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _arrays(each)
    elif type(value).__module__.startswith("optldp.estimators"):
        yield from _arrays(list(vars(value).values()))


@check
def counted_file_estimated(case: Case) -> None:
    """`count` writes what `estimate --counts` answers as from the reports themselves."""
    case.reports()
    case.run("count", "table.json", "reports 1.csv", "--out", "counted.csv")
    of_counts = case.run("estimate", "table.json", "--counts", "counted.csv")
    of_reports = case.run("estimate", "table.json", "reports 1.csv")
    assert set(of_counts) == set(of_reports)
    assert np.allclose(_numbers(of_counts), _numbers(of_reports), rtol=1e-6, atol=1e-9)


def _numbers(told: Any) -> list[float]:
    """All numbers that are estimates or ends of their intervals."""
    if isinstance(told, list):
        return [number for each in told for number in _numbers(each)]
    if not isinstance(told, dict):
        return []
    here = [told[name] for name in ("value", "low", "high") if name in told]
    numbers = [float(each) for one in here for each in np.atleast_1d(np.asarray(one, dtype=float))]
    return numbers + [number for name, each in told.items() if name not in BESIDE for number in _numbers(each)]


BESIDE = ("value", "low", "high")


@check
def estimated(case: Case) -> None:
    """Every number that is estimated lies in its interval, which has a length."""
    case.reports()
    numbers = _numbers(case.run("estimate", "table.json", "reports 1.csv"))
    assert numbers
    assert all(map(math.isfinite, numbers))


@check
def repeated_user_refused(case: Case) -> None:
    """A user who comes twice is named by the number of such, or, where users are not matched, the key is refused."""
    case.perturb(1, "keyed.csv", "--key", "user")
    header, *rows = Path("keyed.csv").read_text().splitlines()
    user, told = rows[0].partition(",")[0], rows[-1].partition(",")[2]
    write("twice.csv", header, [*rows, f"{user},{told}"])
    refused_with(case, "a user must report|--key", "estimate", "table.json", "twice.csv", "--key", "user")


@check
def counted_by_sql(case: Case) -> None:
    """There is a query that counts its reports elsewhere."""
    assert "GROUP BY" in case.run("count-sql", "table.json", "--from", "reports")["query"]


@check
def remembered(case: Case) -> None:
    """A ledger gives the same report for the same value of a user, and books its cost once."""
    ledger = Ledger.create("spent.ledger", new_ledger_key(), budget=10.0)
    first, second = (ledger.reports(case.mechanism, ["ann"], [case.value]).reports for _ in range(2))
    assert pickle.dumps(_plain(first[0])) == pickle.dumps(_plain(second[0]))


@check
def poisoned(case: Case) -> None:
    """What one report can do at most is known, and something."""
    assert np.all(influence(case.mechanism).times_n > 0)


@check
def evaluated(case: Case) -> None:
    """What its reports would cost in error is told for values that are known."""
    data = case.columns[:2] if case.columns[:1] == ("--column",) else ()
    assert case.run("evaluate", "table.json", "--on", "people.csv", *data)


@check
def audited(case: Case) -> None:
    """An honest sampler passes its audit."""
    assert case.run("audit", "table.json", "--samples", 20_000, "--seed", 1)["ok"] is True
