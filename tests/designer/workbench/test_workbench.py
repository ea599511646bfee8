"""The workbench without its page: states, answers, and that what is taken away gives every number again."""

import asyncio
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from optldp.designer.workbench.answers import answer, epsilon_for, facts, rivals
from optldp.designer.workbench.latest import Latest, Overtaken
from optldp.designer.workbench.server import Guard, bound_socket
from optldp.designer.workbench.state import PRESETS, State
from optldp.designer.workbench.taking import Source, command, script, table_bytes
from optldp.designer.workbench.trial import categories, shares, trial, tried
from optldp.mechanisms import InputError, load_table, verify

CHOSEN = State(heights=PRESETS["two groups"], low=-3.0, high=9.5, units="EUR", n=500, epsilon=1.5, seed=4)


def test_a_state_goes_through_an_address_and_back():
    assert State.from_query(CHOSEN.query()) == CHOSEN
    assert State().query() == ""


@pytest.mark.parametrize(
    "query",
    [
        "epsilon=-1",
        "n=1",
        "n=many",
        "heights=1-2",
        "of=everything",
        "low=5&high=5",
        "values=1",
        "seed=-1",
        "names=a",
        "names=a,a",
    ],
)
def test_an_address_with_what_cannot_be_chosen_is_refused_in_a_line(query):
    with pytest.raises(InputError, match=r"got"):
        State.from_query(query)


@pytest.mark.nightly
def test_an_error_finds_its_budget_and_the_budget_its_error():
    state = State(n=10_000)
    prior = state.prior().on(5)
    epsilon = epsilon_for(prior, state, 1.5)
    found = answer(prior, State(n=10_000, epsilon=epsilon))
    assert 0.998 * 1.5 <= found.error <= 1.5


def test_categories_have_an_error_that_finds_its_budget_and_their_own_rivals():
    state = State(of="categories", names=("a", "b", "c"), heights=PRESETS["even"], n=2_000)
    epsilon = epsilon_for(state.categorical_prior(), state, 0.04)
    chosen = replace(state, epsilon=epsilon)
    made, found = answer(state.categorical_prior(), chosen), rivals(state.categorical_prior(), chosen)
    assert 0.998 * 0.04 <= made.error <= 0.04
    assert found.bound <= made.error == pytest.approx(found.rows[0].error, rel=1e-6)
    assert tried(state.categorical_prior(), made, 1).facts()["inside"] >= 2
    assert json.loads(table_bytes(made.design))["categories"] == ["a", "b", "c"]


def test_no_rival_is_below_the_bound():
    found = rivals(State().prior().on(5), State())
    assert found.rows[0].error is not None
    assert all(row.error >= found.bound for row in found.rows if row.error is not None)
    assert len(found.rows) > 8


@pytest.mark.slow
@pytest.mark.parametrize("of", ["distribution", "median"])
def test_other_questions_have_errors_above_the_bound_and_a_proved_table(of):
    state = State(of=of, n=5_000)
    prior = state.prior().on(5)
    made, found = answer(prior, state), rivals(prior, state)
    assert verify(made.design.mechanism).verdict == "proved"
    assert found.bound <= made.error == pytest.approx(min(row.error for row in found.rows if row.error is not None))
    assert made.poisoner is None
    assert tried(prior, made, 1).inside


def test_the_interval_of_simulated_people_closes_on_their_mean():
    prior = State().prior().on(5)
    found = trial(prior, answer(prior, State()).design.mechanism, 5_000, 1)
    assert found.inside
    widths = found.high - found.low
    assert widths[-1] < widths[0] / 5


def test_the_table_is_proved_and_has_no_prior(tmp_path):
    path = tmp_path / "mech.json"
    path.write_bytes(table_bytes(answer(State().prior().on(5), State()).design))
    table = load_table(path)
    assert table.prior is None
    assert verify(table).verdict == "proved"


def numbers(found):
    """All that is told, without what has no number."""
    return {name: value for name, value in found["rivals"].items() if value is not None}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("of", "from_file"),
    [
        *[("mean", False), ("mean", True), ("distribution", False)],
        pytest.param("median", True, marks=pytest.mark.nightly),
        *[("categories", False), ("categories", True)],
    ],
)
def test_script_and_command_line_give_every_number_of_the_page(tmp_path, optldp, monkeypatch, of, from_file):
    monkeypatch.chdir(tmp_path)
    source = Source("people.csv", "x", None if of == "categories" else (0.0, 20.0)) if from_file else None
    (tmp_path / "people.csv").write_text("x\n" + "\n".join(f"{value % 17}" for value in range(60)))
    state = replace(State(n=2000, epsilon=1.5) if from_file else CHOSEN, of=of)
    words = command(state, source, "--json").split()[1:]
    told = json.loads(optldp(*(word.strip("'") for word in words)).stdout)
    (tmp_path / "again.py").write_text(script(state, source))
    done = subprocess.run([sys.executable, "again.py"], capture_output=True, text=True, check=True)
    again = json.loads(done.stdout)
    assert numbers(again) == pytest.approx(numbers(told), rel=1e-9)
    assert again["of"] == told["of"] == of
    assert (again["one_poisoner"] is None) == (told["one_poisoner"] is None) == (of != "mean")
    for name in ("epsilon", "n", "error", "least_error", "beliefs", "trial", *["one_poisoner"] * (of == "mean")):
        assert again[name] == pytest.approx(told[name], rel=1e-9)
    if of == "mean" and not from_file:
        prior = state.prior()
        made = answer(prior, state)
        page = facts(made, rivals(prior, state)) | {"trial": tried(prior, made, state.seed).facts()}
        assert json.loads(json.dumps(page)) == told


def test_nothing_that_is_taken_away_holds_a_value_or_a_prior_of_a_file():
    source = Source("people.csv", "x", (0.0, 20.0))
    state = State(heights=PRESETS["two groups"], low=1.25, high=7.75, units="secret")
    for text in (state.query(drawn=False), command(state, source), script(state, source)):
        assert not any(word in text for word in ("heights", "1.25", "7.75", "secret"))


def test_a_newer_request_ends_the_one_that_is_being_computed_at_its_next_step():
    done, latest = [], Latest()

    async def ask(number):
        await asyncio.sleep(0)
        latest.go_on()
        done.append(number)

    async def several():
        await asyncio.gather(*(latest.ask(lambda number=number: ask(number)) for number in range(3)))

    asyncio.run(several())
    assert done == [2]


def test_a_design_is_ended_by_what_it_tells_its_steps_to():
    def stop(*_):
        raise Overtaken

    prior = State().prior().on(5)
    for compute in (answer, rivals):
        with pytest.raises(Overtaken):
            compute(prior, State(), stop)


class TestGuard:
    def asked(self, host="127.0.0.1:80", query=b"", cookie="", kind="http", **more):
        sent, reached = [], []

        async def app(scope, receive, send):
            reached.append(scope)
            await send({"type": "http.response.start", "status": 200, "headers": []})

        async def send(message):
            sent.append(message)

        async def receive():
            raise AssertionError("nothing is read")

        extra = [(name.encode(), value.encode()) for name, value in more.items()]
        headers = [(b"host", host.encode()), (b"cookie", cookie.encode()), *extra]
        scope = {"type": kind, "headers": headers, "query_string": query}
        asyncio.run(Guard(app, "right", 80)(scope, receive, send))
        return bool(reached), sent[0]

    def test_the_token_lets_in_and_is_kept_in_a_cookie(self):
        reached, answered = self.asked(query=b"token=right")
        assert reached
        assert b"HttpOnly; SameSite=Strict" in dict(answered["headers"])[b"set-cookie"]
        assert self.asked(cookie="optldp-80=right")[0]
        assert self.asked(cookie="optldp-80=right", kind="websocket")[0]

    @pytest.mark.parametrize(
        "how",
        [
            {},
            {"query": b"token=wrong"},
            {"cookie": "optldp-80=wrong"},
            {"cookie": "optldp-80=right", "host": "evil.example"},
            {"cookie": "optldp-80=right", "origin": "http://evil.example"},
            {"query": b"token=right", "host": "evil.example"},
        ],
    )
    def test_others_are_refused(self, how):
        reached, answered = self.asked(**how)
        assert not reached
        assert answered["status"] == 403
        reached, answered = self.asked(**how, kind="websocket")
        assert not reached
        assert answered == {"type": "websocket.close", "code": 1008}


def test_a_port_in_use_is_refused_in_a_line():
    taken = bound_socket(0)
    taken.listen()
    try:
        with pytest.raises(InputError, match=r"the port must be free, got \d+"):
            bound_socket(taken.getsockname()[1])
    finally:
        taken.close()


def test_pictures_say_in_words_what_they_show():
    from optldp.designer.workbench import charts

    state = State()
    prior = state.prior().on(5)
    design = answer(prior, state).design
    table = design.mechanism
    found = trial(prior, table, 500, 1)
    pictures = [
        charts.histogram(prior, charts.LIGHT),
        charts.structure(design, charts.LIGHT),
        charts.reports_of(design, 30.0, charts.DARK),
        charts.rivals(rivals(prior, state), charts.DARK, "EUR"),
        charts.convergence(found, charts.DARK),
        charts.odds(answer(prior, state).beliefs, charts.LIGHT),
        charts.shares(shares(prior, table, 500, 1), charts.LIGHT, "EUR"),
    ]
    named = State(of="categories")
    oracle = answer(named.categorical_prior(), named)
    pictures += [
        charts.histogram(named.categorical_prior(), charts.LIGHT),
        charts.structure(oracle.design, charts.LIGHT),
        charts.reports_of(oracle.design, "tea", charts.DARK),
        charts.shares(categories(named.categorical_prior(), oracle.design.mechanism, 500, 1), charts.LIGHT, ""),
    ]
    for options in pictures:
        json.dumps(options, allow_nan=False)
        assert len(options["aria"]["label"]["description"]) > 30
    assert pictures[3]["series"][0]["markLine"]["precision"] > 6  # a bound is drawn where it is
    assert np.isclose(sum(pictures[2]["series"][0]["data"]), 100, atol=0.1)
