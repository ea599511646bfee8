"""examples/deployment: the device decides, the service takes one report a token, and what is acknowledged is kept."""

import json
import os
import socket
import subprocess
import sys
import warnings
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("pyarrow")

import optldp_client.drawing
import publish
import service as serving
from device import GIVEN, PENDING, Agreement, DeclinedError, FileRecord, offer
from processes import require_port
from settings import HERE, SettingsError, read_settings
from store import MIGRATIONS, Row, Store
from tokens import mark_of, new_token, token_key

with warnings.catch_warnings():  # it would rather have httpx2 than the httpx of NiceGUI
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

TABLES = [HERE / "tables" / f"income-{number}.json" for number in (1, 2)]
FIRST, SECOND = (path.read_text("utf-8") for path in TABLES)
KNOWN = ("t33645b8b5c0e", "t70fda13cf1af")
AGREED = Agreement("income", frozenset(KNOWN), 1.0)
TODAY = datetime.now(UTC).date().isoformat()
ROW: dict[str, Any] = {"table": KNOWN[0], "output": 1, "day": TODAY, "report_id": "0a" * 16}
VALUE = 31_507.25


class Network:
    """A service that hands out a document and answers reports with a status, or not at all."""

    def __init__(self, document=FIRST, status: int | None = 200):
        self.document, self.status, self.sent = document, status, []

    def __call__(self, method, path, headers, body):
        if method == "GET":
            return 200, self.document.encode()
        self.sent.append(body)
        if self.status is None:
            raise ConnectionError
        return self.status, b"an answer"


def failing(many):
    raise OSError("no randomness")


@pytest.mark.parametrize(
    ("agreed", "document", "says"),
    [
        (replace(AGREED, largest_epsilon=0.5), FIRST, "epsilon must be at most 0.5, got 1.0"),
        (replace(AGREED, tables=frozenset(KNOWN[1:])), FIRST, f"one that this app knows, got {KNOWN[0]}"),
        (AGREED, FIRST.replace('"knots"', '"promise": {"kind": "hope"}, "knots"', 1), "must be pure, got hope"),
        (replace(AGREED, promise="metric"), FIRST, "must be metric, got pure"),
        (AGREED, FIRST[:-400], "whole JSON text"),
        (AGREED, "", "whole JSON text"),
        (AGREED, FIRST.replace('"epsilon": 1', '"epsilon": 0.9', 1), "the table is refused"),
    ],
)
def test_a_device_sends_nothing_of_what_it_did_not_agree_to(agreed, document, says):
    """And remembers nothing: a table that it accepts may come later."""
    assert document != FIRST or agreed != AGREED
    network, record = Network(document), {}
    with pytest.raises(DeclinedError, match=says) as caught:
        offer(VALUE, "token", agreed, record, network)
    assert str(caught.value).endswith("nothing sent")
    assert not network.sent
    assert not record


@pytest.mark.parametrize("generator", [failing, lambda many: b"\0" * (many - 1)])
def test_a_generator_that_fails_stops_the_device(monkeypatch, generator):
    """Nothing is sent, and the message does not hold the value."""
    monkeypatch.setattr(optldp_client.drawing, "random_bytes", generator)
    network, record = Network(), {}
    with pytest.raises(DeclinedError, match="nothing sent") as caught:
        offer(VALUE, "token", AGREED, record, network)
    assert "31507" not in str(caught.value)
    assert not network.sent
    assert not record


def test_a_value_outside_is_not_told():
    """Neither sent nor in the message."""
    network = Network()
    with pytest.raises(DeclinedError, match="got another") as caught:
        offer(1234567.0, "token", AGREED, {}, network)
    assert "1234567" not in str(caught.value)
    assert not network.sent


def test_what_is_pending_is_sent_as_it_was_and_nothing_after(tmp_path):
    """Without an answer the same bytes go out again, of the same table after a rotation; then no more, ever."""
    network = Network(status=None)
    assert offer(VALUE, "token", AGREED, FileRecord(tmp_path), network) == PENDING
    network.document, network.status = SECOND, 503
    assert offer(VALUE, "token", AGREED, FileRecord(tmp_path), network) == PENDING
    network.status = 200
    assert offer(VALUE, "token", AGREED, FileRecord(tmp_path), network) == GIVEN
    assert len(network.sent) == 3
    assert len(set(network.sent)) == 1
    assert json.loads(network.sent[0])["table"] == KNOWN[0]
    assert offer(VALUE, "another", AGREED, FileRecord(tmp_path), network) == GIVEN
    assert len(network.sent) == 3


def test_a_record_that_cannot_be_read_stops_the_device(tmp_path):
    """Who does not know what she gave gives nothing."""
    (tmp_path / "income.json").write_text('{"state": "pen')
    network = Network()
    with pytest.raises(DeclinedError, match="record"):
        offer(VALUE, "token", AGREED, FileRecord(tmp_path), network)
    assert not network.sent


def settings_in(folder: Path, **changes: str):
    """The example's settings with SQLite in a folder; changes by key."""
    lines = (HERE / "settings.toml").read_text("utf-8").replace('"tables/', f'"{HERE}/tables/').splitlines()
    for key, value in changes.items():
        places = [i for i, line in enumerate(lines) if line.split(" = ")[0] == key]
        lines[places[0]] = f"{key} = {value}"
    path = folder / "settings.toml"
    path.write_text("\n".join(lines))
    return read_settings(path)


@contextmanager
def deployed(folder: Path, **changes: str):
    """A client of a service with SQLite, and the service."""
    settings = settings_in(folder, **changes)
    settings.data.mkdir(exist_ok=True)
    url = str(settings.data / "reports.sqlite")
    store = Store(url)
    store.migrate()
    store.close()
    service = serving.Service(settings, url)
    with TestClient(serving.application(service)) as client:
        yield client, service
    service.store.close()
    service.watch.close()


def headers(service, token=None):
    return {"Authorization": f"Bearer {token or new_token(service.key, service.settings.collection['round'])}"}


def test_a_token_gives_one_report(tmp_path):
    """Sent again, or another row with the same token: the same answer, and one report is stored."""
    with deployed(tmp_path) as (client, service):
        mine = headers(service)
        answers = [
            client.post("/v1/reports", json=row, headers=mine) for row in (ROW, ROW, ROW | {"report_id": "0b" * 16})
        ]
        assert {(answer.status_code, answer.text) for answer in answers} == {(200, "kept\n")}
        assert service.store.sizes() == {"tokens": 1, "reports": 1}
        assert service.store.ask("SELECT report_id FROM reports") == ROW["report_id"]
        told = client.get("/metrics").text
        assert 'answer="kept"} 1\n' in told
        assert 'answer="repeated"} 2\n' in told
        assert client.get("/healthz").text == "ok\n"


def test_a_service_refuses_rubbish_in_one_line_that_repeats_nothing(tmp_path, capfd):
    """Nothing is stored, and the log holds no row either."""
    with deployed(tmp_path) as (client, service):
        rows = [
            ROW | {"table": "t000000000000"},
            ROW | {"table": ["t"]},
            ROW | {"output": 10**9},
            ROW | {"output": -1},
            ROW | {"output": True},
            ROW | {"output": 1.0},
            ROW | {"day": "2026-05-01T10:00:00"},
            ROW | {"day": "2020-01-01"},
            ROW | {"day": "2999-01-01"},
            ROW | {"day": TODAY.replace("-", "")},
            ROW | {"report_id": "0A" * 16},
            ROW | {"address": "127.0.0.1"},
            [ROW],
            {},
        ]
        bodies = [json.dumps(row) for row in rows] + [json.dumps(ROW)[:-9], "", "[" * 400, "\x00"]
        answers = [client.post("/v1/reports", content=body, headers=headers(service)) for body in bodies]
        assert {answer.status_code for answer in answers} == {422}
        answers.append(client.post("/v1/reports", content="x" * 600, headers=headers(service)))
        assert answers[-1].status_code == 413
        for wrong in ("", "Bearer ", "Bearer " + "0" * 64, "Bearer " + new_token(service.key, "another round")):
            answers.append(client.post("/v1/reports", json=ROW, headers={"Authorization": wrong}))
            assert answers[-1].status_code == 403
        assert all(answer.text.count("\n") == 1 for answer in answers)
        assert not any("0a0a" in answer.text or "000000" in answer.text for answer in answers)
        assert service.store.sizes() == {"tokens": 0, "reports": 0}
    assert "0a0a" not in capfd.readouterr().err


def test_limits_send_devices_away_until_later(tmp_path):
    """Too many requests of one address, or too many that wait."""
    with deployed(tmp_path, requests_a_minute="1") as (client, service):
        assert [client.post("/v1/reports", json=ROW, headers=headers(service)).status_code for _ in "ab"] == [200, 429]
    with deployed(tmp_path, waiting="0") as (client, service):
        answer = client.post("/v1/reports", json=ROW, headers=headers(service))
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert client.get("/healthz").status_code == 503


def test_a_database_that_is_down_loses_nothing_that_was_acknowledged(tmp_path):
    """Until it is back devices are told to come again; then the same row is kept."""
    with deployed(tmp_path) as (client, service):
        path = service.settings.data / "reports.sqlite"
        service.store.url = service.watch.url = str(tmp_path / "none" / "x.sqlite")
        service.store.close()
        service.watch.close()
        mine = headers(service)
        answer = client.post("/v1/reports", json=ROW, headers=mine)
        assert (answer.status_code, answer.text) == (503, "the database is down: send the same again later\n")
        assert client.get("/healthz").status_code == 503
        service.store.url = service.watch.url = str(path)
        assert client.post("/v1/reports", json=ROW, headers=mine).status_code == 200
        assert service.store.sizes() == {"tokens": 1, "reports": 1}


def test_a_round_that_is_over_takes_nothing_and_its_marks_go(tmp_path):
    """So the memory of marks has an end, after which no token is good that it might have known."""
    with deployed(tmp_path, round_ends="2020-01-01") as (client, service):
        assert client.post("/v1/reports", json=ROW, headers=headers(service)).status_code == 410
        service.store.keep([(b"0" * 16, Row(**ROW))], service.settings.collection["round"])
        publish.retain(service.store, service.settings)
        assert service.store.sizes() == {"tokens": 0, "reports": 1}


@pytest.mark.slow
def test_days_that_are_old_are_deleted(tmp_path):
    """Partitions alone; younger ones stay."""
    settings = settings_in(tmp_path, keep_days="30")
    store = Store(str(tmp_path / "x.sqlite"))
    store.migrate()
    paths = [publish.write_part(settings.data, KNOWN[0], day, 1, [Row(**ROW)]) for day in ("2020-01-01", TODAY)]
    publish.retain(store, settings)
    store.close()
    assert [path.exists() for path in paths] == [False, True]


def test_rotation_takes_old_reports_and_hands_out_the_new_table(tmp_path):
    """Of a service that reads its settings again; wrong ones change nothing."""
    with deployed(tmp_path) as (client, service):
        settings_in(tmp_path, tables=json.dumps([str(path) for path in TABLES]))
        service.again()
        assert client.get("/v1/table").text == SECOND
        etag = client.get("/v1/table").headers["etag"]
        assert client.get("/v1/table", headers={"If-None-Match": etag}).status_code == 304
        assert client.post("/v1/reports", json=ROW, headers=headers(service)).status_code == 200
        settings_in(tmp_path, tables='["none.json"]')
        service.again()
        assert client.get("/v1/table").text == SECOND


def test_tokens_and_reports_cannot_be_joined(tmp_path):
    """They have no column in common, and the order of a batch is that of random names in both."""
    store = Store(str(tmp_path / "x.sqlite"))
    store.migrate()
    batch = [(os.urandom(16), replace(Row(**ROW), report_id=os.urandom(16).hex())) for _ in range(50)]
    assert store.keep(batch, "r") == 50
    with store._transaction():
        marks = [row[0] for row in store._execute("SELECT * FROM tokens").fetchall()]
        reports = [row[0] for row in store._execute("SELECT * FROM reports").fetchall()]
        columns = [
            {told[0] for told in store._execute(f"SELECT name FROM pragma_table_info('{name}')").fetchall()}
            for name in ("tokens", "reports")
        ]
    store.close()
    assert (marks, reports) == (sorted(marks), sorted(reports))
    assert columns == [{"mark", "round"}, {"report_id", "tbl", "output", "day", "part"}]


def test_a_mark_is_of_its_token_and_key_alone(tmp_path):
    """Of another key or round there is none; the key is its owner's alone."""
    key = token_key(tmp_path)
    assert token_key(tmp_path) == key
    assert (tmp_path / "token.key").stat().st_mode & 0o077 == 0
    token = new_token(key, "r")
    mark = mark_of(key, "r", token)
    assert mark is not None
    assert mark.hex() not in token
    assert mark_of(key, "s", token) is mark_of(b"another", "r", token) is mark_of(key, "r", token[:-1]) is None


def test_a_schema_of_before_is_migrated_and_keeps_its_rows(tmp_path):
    """An old service writes on beside the new schema, and its rows are published."""
    store = Store(str(tmp_path / "x.sqlite"))
    assert store.migrate(until=1) == 0
    assert store.keep([(b"a" * 16, Row(**ROW))], "r") == 1
    assert store.migrate() == 1
    assert store.migrate() == len(MIGRATIONS)
    assert store.keep([(b"b" * 16, replace(Row(**ROW), report_id="0c" * 16))], "r") == 1
    part = store.next_part(1, TODAY)
    assert part is not None
    assert [row.report_id for row in store.rows_of(part)] == [ROW["report_id"], "0c" * 16]
    store.close()


def test_few_reports_wait_until_their_day_is_closed(tmp_path):
    """So that a publication does not single out whoever came just now."""
    store = Store(str(tmp_path / "x.sqlite"))
    store.migrate()
    store.keep([(b"a" * 16, Row(**ROW))], "r")
    assert store.next_part(2, TODAY) is None
    assert store.next_part(2, "9999-01-01") == 1
    assert store.next_part(2, TODAY) == 1  # begun, and not yet published
    store.published(1)
    assert store.sizes() == {"tokens": 1, "reports": 0}
    store.close()


def test_a_port_in_use_is_said_in_one_line(capsys):
    """Before anything is started."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(SettingsError):
            require_port("127.0.0.1", taken.getsockname()[1])
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(("key", "value"), [("port", '"80"'), ("round", "5"), ("kind", '"oracle"'), ("tables", "[]")])
def test_settings_that_are_wrong_are_said_in_one_line(tmp_path, capsys, key, value):
    """The key and the cure."""
    with pytest.raises(SettingsError):
        settings_in(tmp_path, **{key: value})
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert key in said


@pytest.mark.nightly
def test_a_publisher_that_is_killed_counts_once(tmp_path, monkeypatch):
    """Killed after counting, before the database forgets: the part is done again, and the counts are the same."""
    with deployed(tmp_path, at_least="1", min_batch="1") as (_, service):
        names = [f"{number:032x}" for number in range(300)]
        batch = [(os.urandom(16), Row(KNOWN[0], i % 3, TODAY, name)) for i, name in enumerate(names)]
        assert service.store.keep(batch, "r") == 300
        with monkeypatch.context() as patch:
            patch.setattr(Store, "published", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                publish.publish(service.store, service.settings)
        assert publish.publish(service.store, service.settings) == 300
        publish.tell(service.settings)
        days = publish.optldp("monitor", TABLES[0], service.settings.data / "counts" / "income-1")["days"]
        assert [day["n"] for day in days] == [300]
        page = (service.settings.data / "published" / "estimate.html").read_text("utf-8")
        assert "95% interval" in page


@pytest.mark.nightly
def test_devices_lose_nothing_and_count_once_while_services_are_killed():
    """The simulation with 2,000 devices, by whichever database is here."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, HERE / "simulate.py", "--devices", "2000", "--port", str(port)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "all is right" in ran.stdout
    assert "killed: service" in ran.stdout
