/**
 * The client of panels against the library: turns by names, and a state that draws nothing twice.
 *
 *     python make_panels.py FOLDER && OPTLDP_FIXTURES=FOLDER node --test clients/javascript/tests/panel.test.js
 */

import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { TableError } from "../optldp-client.js";
import { parsePanel, reportInPeriod, turnsOf } from "../panel.js";

const folder = process.env.OPTLDP_FIXTURES ?? assert.fail("OPTLDP_FIXTURES must name the folder of make_panels.py");
const { users, panels } = JSON.parse(readFileSync(join(folder, "panels.json"), "utf8"));
const textOf = (name) => readFileSync(join(folder, panels[name].file), "utf8");
const panelOf = (name) => parsePanel(textOf(name));

globalThis.crypto ??= webcrypto; // Node 18 keeps it in a module

class Store extends Map {
  getItem(key) {
    return this.get(key) ?? null;
  }
  setItem(key, text) {
    this.set(key, text);
  }
}

/** What a user sends in all periods of a panel, whose value is "red" or, of numbers, 0. */
async function life(panel, { user = "ann", state = new Store(), mark, value = "red", from = 1 } = {}) {
  const sent = [];
  for (let period = from; period <= panel.periods; period++) {
    if ((await reportInPeriod(panel, { user, period, value, state, mark })) !== null) sent.push(period);
  }
  return sent;
}

for (const [name, { turns }] of Object.entries(panels).filter(([, { turns }]) => turns !== null)) {
  test(`turns are those of the library: "${name}"`, async () => {
    const panel = await panelOf(name);
    assert.deepEqual(await Promise.all(users.map((user) => turnsOf(panel, user))), turns);
  });
}

test("a life has the reports of its turns and no others", async () => {
  const panel = await panelOf("four of twelve");
  assert.deepEqual(await life(panel), await turnsOf(panel, "ann"));
  const rotating = await panelOf("in any five");
  const sent = await life(rotating, { value: 0 });
  for (let first = 1; first <= 48; first++) {
    assert.equal(sent.filter((period) => period >= first && period < first + 5).length, 2);
  }
});

test("a period that is asked for again has the same report, whatever the value is", async () => {
  const [panel, state] = [await panelOf("one report"), new Store()];
  const [period] = await turnsOf(panel, "ann");
  const first = await reportInPeriod(panel, { user: "ann", period, value: "red", state });
  assert.deepEqual(Object.keys(first), ["period", "report"]);
  for (const value of ["green", "blue", "green", "blue", "green", "blue"]) {
    assert.deepEqual(await reportInPeriod(panel, { user: "ann", period, value, state }), first);
  }
});

test("two calls at once give one report", async () => {
  const [panel, state] = [await panelOf("one report"), new Store()];
  const [period] = await turnsOf(panel, "ann");
  const asked = ["red", "green", "blue", "red", "green", "blue"].map((value) => ({ user: "ann", period, value, state }));
  const sent = await Promise.all(asked.map((each) => reportInPeriod(panel, each)));
  assert.equal(new Set(sent.map(({ report }) => report)).size, 1);
});

test("a clock that is set back draws nothing new", async () => {
  const [panel, state] = [await panelOf("one report"), new Store()];
  const [period] = await turnsOf(panel, "ann");
  assert.equal(await reportInPeriod(panel, { user: "ann", period: period + 1, value: "red", state }), null);
  assert.equal(await reportInPeriod(panel, { user: "ann", period, value: "red", state }), null);
});

test("turns that a device draws are kept, and spent once the state is lost beside its mark", async () => {
  const [panel, mark] = [await panelOf("drawn by devices"), new Store()];
  const state = new Store();
  const sent = await life(panel, { state, mark });
  assert.equal(sent.length, 2);
  assert.deepEqual(await life(panel, { state, mark }), sent); // the same reports again
  assert.deepEqual(await life(panel, { state: new Store(), mark }), []);
  await assert.rejects(turnsOf(panel, "ann"), TypeError);
});

test("a state that was put back sends nothing in the periods since", async () => {
  const [panel, state, mark] = [await panelOf("four of twelve"), new Store(), new Store()];
  const turns = await turnsOf(panel, "ann");
  await reportInPeriod(panel, { user: "ann", period: 1, value: "red", state, mark });
  const backup = new Store(state);
  await reportInPeriod(panel, { user: "ann", period: turns[1], value: "red", state, mark });
  assert.deepEqual(await life(panel, { state: backup, mark, from: 2 }), turns.slice(2));
});

test("without its mark a state draws nothing in the period that is asked for", async () => {
  const [panel, state, mark] = [await panelOf("four of twelve"), new Store(), new Store()];
  const turns = await turnsOf(panel, "ann");
  await reportInPeriod(panel, { user: "ann", period: turns[0], value: "red", state, mark });
  mark.clear();
  assert.equal(await reportInPeriod(panel, { user: "ann", period: turns[1], value: "red", state, mark }), null);
  assert.notEqual(await reportInPeriod(panel, { user: "ann", period: turns[2], value: "red", state, mark }), null);
});

test("states of another panel and of another user are others, and one that was altered is refused", async () => {
  const [one, other, state] = [await panelOf("one report"), await panelOf("four of twelve"), new Store()];
  await life(one, { state });
  await life(one, { state, user: "bo" });
  await life(other, { state });
  assert.equal(state.size, 3);
  const texts = [...state.values()];
  for (const altered of ["{}", "[", ...texts.slice(1), texts[0].replace('"lost":0', '"lost":-1')]) {
    for (const key of state.keys()) state.set(key, altered);
    await assert.rejects(life(one, { state }), { message: /as it was left/ });
  }
});

test("what is no period, user or value is refused, and no value is shown", async () => {
  const [panel, state] = [await panelOf("one report"), new Store()];
  const [period] = await turnsOf(panel, "ann");
  for (const asked of [{ period: 0 }, { period: 13 }, { period: "3" }, { user: "" }, { user: "\ud800" }, { value: "mauve" }]) {
    await assert.rejects(reportInPeriod(panel, { user: "ann", period, value: "red", state, ...asked }), (error) =>
      (error instanceof RangeError || error instanceof TypeError) && !error.message.includes("mauve"));
  }
  assert.equal(state.size, 0);
});

test("a panel that was altered is refused", async () => {
  const good = textOf("four of twelve");
  for (const [from, to] of [['"reports": 4', '"reports": 5'], ['"periods": 12', '"periods": 1'], ["0123", "0124"]]) {
    await assert.rejects(parsePanel(good.replace(from, to)), TableError);
  }
});
