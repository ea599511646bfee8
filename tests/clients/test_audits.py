"""Clients as samplers: what their reports are drawn from, and that an audit finds one that leaks."""

import io
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from clients.conformance import sampler
from clients.conformance.audits import audited, mechanisms

LEAKS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    labels = json.loads(asked["document"])["categories"]
    print(json.dumps({"reports": [str(labels.index(draw["value"])) for draw in asked["draws"]]}))
"""

ECHOES = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"reports": [draw["value"] + draw["words"][0] for draw in json.loads(line)["draws"]]}))
"""


def test_each_value_has_words_of_its_own_and_a_report(tmp_path, monkeypatch, capfd):
    told = tmp_path / "jobs.json"
    told.write_text('{"categories": ["cook", "nurse"]}', "utf-8")
    monkeypatch.setattr(sys, "argv", ["sampler", str(told), sys.executable, "-c", ECHOES])
    monkeypatch.setattr(sys, "stdin", io.StringIO('"nurse"\n"nurse"\n"cook"\n'))
    monkeypatch.setattr(sampler, "AT_ONCE", 2)
    sampler.main()
    reports = capfd.readouterr().out.splitlines()
    assert [report[:-16] for report in reports] == ["nurse", "nurse", "cook"]
    assert len({report[-16:] for report in reports}) == 3


def test_a_client_that_draws_nothing_is_no_sampler():
    with pytest.raises(ValueError, match="must draw a report of each value"):
        list(sampler.reports([json.dumps({"stopped": True})]))


@pytest.mark.nightly
def test_an_audit_finds_a_client_that_reports_the_value_itself(tmp_path):
    answers = next(file for _, file in mechanisms(tmp_path) if file.stem == "answers")
    done = audited((sys.executable, "-c", LEAKS), answers, 2_000)
    assert done.returncode == 1, done.stdout + done.stderr
