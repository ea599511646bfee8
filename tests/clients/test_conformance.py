"""The driver of the conformance kit: what it lets pass, and what it finds."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from clients.conformance.driver import fault_of, faults
from clients.conformance.manifest import CLIENTS, Manifest, built
from clients.conformance.vectors import KINDS, Vector

READ = Vector("a document", "tables", {"do": "read", "document": ""}, accepted=False)
DRAW = Vector("draws", "tables", {"do": "draw", "document": "", "draws": []}, reports=(1.5, 1.2345678901234567e20))
TEXT = Vector("draws of categories", "categories", {"do": "draw", "document": "", "draws": []}, reports=("3",))
LIFE = Vector("a life", "panels", {"do": "live", "steps": []}, answers=({"sent": "2"}, {"crashed": True}))
SHORT = Vector("no words", "tables", {"do": "draw", "document": "", "draws": []})


@pytest.mark.parametrize(
    ("vector", "answer", "says"),
    [
        (READ, {"accepted": False, "reason": "knots must rise"}, ""),
        (READ, {"accepted": False}, "must have a reason"),
        (READ, {"accepted": True}, "must be refused, got accepted"),
        (READ, {"skipped": "no time"}, "skipped: no time"),
        (READ, {}, "got no verdict"),
        (DRAW, {"reports": [1.5, 123456789012345670000]}, ""),
        (DRAW, {"reports": [1.5, 2.0]}, "others at 1 places, first 1"),
        (DRAW, {"reports": [1.5]}, "a report for each value"),
        (DRAW, {"reports": [True, 2.0]}, "others at 2 places, first 0"),
        (DRAW, {"reports": ["1.5", 123456789012345670000]}, "others at 1 places, first 0"),
        (TEXT, {"reports": ["3"]}, ""),
        (TEXT, {"reports": [3]}, "others at 1 places, first 0"),
        (LIFE, {"answers": [{"sent": "2"}, {"crashed": True}]}, ""),
        (LIFE, {"answers": [{"sent": "2"}, {"sent": "2"}]}, "others at 1, first 1"),
        (LIFE, {"answers": [{"sent": "2"}]}, "an answer for each step"),
        (LIFE, {"reports": []}, "an answer for each step"),
        (SHORT, {"stopped": True}, ""),
        (SHORT, {"reports": [1.5]}, "must stop the draw"),
    ],
)
def test_an_answer_passes_only_where_it_is_right(vector, answer, says):
    fault = fault_of(vector, json.dumps(answer))
    assert says in fault if says else fault == ""


def test_a_client_that_answers_too_few_lines_is_wrong():
    (fault,) = faults([sys.executable, "-c", 'print("""{"accepted": false, "reason": "no"}""")'], [READ, READ])
    assert "got 1 for 2" in fault


def test_the_page_says_what_each_client_claims():
    page = (CLIENTS.parent / "docs" / "how-to" / "client.md").read_text("utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| `")]
    told = {
        row[0].strip("`"): [kind for kind, has in zip(KINDS, row[2:], strict=True) if has == "yes"]
        for row in rows
        if len(row) == 2 + len(KINDS)
    }
    claims = {file.parent.name: Manifest.of(file.parent.name).kinds for file in CLIENTS.glob("*/client.json")}
    assert told == {client: list(kinds) for client, kinds in claims.items()}


def test_a_client_is_built_where_it_is_told_to_be(tmp_path):
    build = (sys.executable, "-c", "import sys; open(sys.argv[1] + '/made', 'w').close()", "{scratch}")
    command = built(Manifest(("tables",), build, ("{scratch}/made", "{folder}"), tmp_path / "client"), tmp_path)
    assert (tmp_path / "made").exists()
    assert command == (f"{tmp_path}/made", f"{tmp_path}/client")


def test_a_command_of_a_stranger_runs_as_it_stands(tmp_path):
    assert built(Manifest.of("awk '{print}' file"), tmp_path) == ("awk", "{print}", "file")
