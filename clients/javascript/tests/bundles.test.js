/**
 * The client of bundles against the library: laws of reports of every kind, refusals.
 *
 *     python make_bundles.py FOLDER && OPTLDP_FIXTURES=FOLDER node --test clients/javascript/tests/bundles.test.js
 */

import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseBundle, perturbBundle, reportLine } from "../optldp-bundles.js";
import { TableError } from "../optldp-client.js";

const folder = process.env.OPTLDP_FIXTURES ?? assert.fail("OPTLDP_FIXTURES must name the folder of make_bundles.py");
const { reports, good } = JSON.parse(readFileSync(join(folder, "bundles.json"), "utf8"));
const textOf = (name) => readFileSync(join(folder, good[name].file), "utf8");
const bundleOf = (name) => parseBundle(textOf(name));

globalThis.crypto ??= webcrypto; // Node 18 keeps it in a module

for (const [name, { kind, tests }] of Object.entries(good)) {
  test(`${reports} reports are as frequent as the library says: "${name}"`, async () => {
    const mechanism = await bundleOf(name);
    assert.equal(mechanism.kind, kind);
    for (const { value, groups, law, critical } of tests) {
      const counts = law.map(() => 0);
      for (let i = 0; i < reports; i++) {
        const line = reportLine(mechanism, value);
        assert.ok(line in groups, `${line} is no report at ${JSON.stringify(value)}`);
        counts[groups[line]]++;
      }
      const square = law.reduce((sum, p, g) => sum + (counts[g] - reports * p) ** 2 / (reports * p), 0);
      assert.ok(square <= critical, `chi-square ${square} above ${critical} at ${JSON.stringify(value)}`);
    }
  });
}

test("the client accepts and refuses the very bundles that the library does", async () => {
  const changed = JSON.parse(readFileSync(join(folder, "changed.json"), "utf8"));
  const wrong = [];
  for (const [name, text, fits] of changed) {
    const accepted = await parseBundle(text).then(() => true, (error) => {
      assert.ok(error instanceof TableError, `${name}: ${error.stack}`);
      assert.ok(!error.message.includes("\n") && error.message.length < 400, error.message);
      return false;
    });
    if (accepted !== fits) wrong.push([name, fits]);
  }
  assert.deepEqual(wrong, []);
  const taken = changed.filter(([, , fits]) => fits).length;
  assert.ok(changed.length > 1000 && taken > 50 && taken < changed.length - 50, `${taken} of ${changed.length}`);
});

/** What would take too much memory or time, of documents that fit else: as the library refuses them by their shape. */
const names = (many) => Array.from({ length: many }, (_, k) => String(k));
function evenTable(many) {
  const { value } = JSON.parse(textOf("pairs apart"));
  const row = Array.from({ length: many }, (_, j) => (j ? 2 ** 47 : 2 ** 53 - (many - 1) * 2 ** 47));
  const ends = { low: names(many).map(Number), high: names(many).map(Number) };
  const provenance = { ...value.provenance, parameters: {} };
  return { ...value, ...ends, provenance, numerators: value.knots.map(() => row) };
}
const COSTLY = {
  "randomised response": [{ categories: ["x".repeat(1_000_000), ...names(500)] }, /^categories times .* got 501000000/],
  "sets of two of five": [{ categories: names(2 ** 19 + 2), n_chosen: 2 ** 19 + 1 }, /^n_chosen must be at most 524288/],
  "pairs apart": [{ keys: names(2 ** 20), value: evenTable(33) }, /^keys times outputs must be .* got 34603008/],
  attributes: [{ attributes: names(257) }, /^attributes must be at most 256, got 257/],
};

for (const [name, [changes, message]] of Object.entries(COSTLY)) {
  test(`what would cost too much is refused in one line: "${name}"`, async () => {
    const text = JSON.stringify({ ...JSON.parse(textOf(name)), ...changes });
    await assert.rejects(parseBundle(text), (error) => error instanceof TableError && message.test(error.message));
  });
}

test("a report comes by the columns that a file has, levels by their budgets", async () => {
  const levels = await bundleOf("levels of categories");
  assert.deepEqual(levels.columns, ["level", "report"]);
  const seen = new Set(Array.from({ length: 200 }, () => perturbBundle(levels, ["red", 1]).level));
  assert.deepEqual([...seen].sort(), ["0.5", "1.0", "2.0"]);
  const { pay, age, hours } = perturbBundle(await bundleOf("attributes"), [0.4, 3, 1.7]);
  assert.equal([pay, age, hours].filter((cell) => cell === "").length, 1);
});

/** What is no value of a kind; none of it may stand in a message. */
const STRANGE = {
  "randomised response": ["orange77", "", 0, null, ["red"], { red: 1 }],
  "pairs apart": ["red", [["orange77", 1]], [["red", 77]], [["red", NaN]], [["red", 1], ["red", 1]], { red: 1 }, null],
  "pairs without padding": [[]],
  attributes: [[0.4, 3], [0.4, 3, 77], [0.4, 3, "1.7"], "abc", null, { pay: 1 }],
  "levels of categories": ["red", ["red", 77], ["red", 0.5], ["red", "0"], ["orange77", 0], ["red"], null],
};

for (const [name, values] of Object.entries(STRANGE)) {
  test(`what is no value is refused, and no message repeats it: "${name}"`, async () => {
    const mechanism = await bundleOf(name);
    for (const value of values) {
      assert.throws(() => perturbBundle(mechanism, value), (error) => {
        assert.ok(error instanceof RangeError || error instanceof TypeError, error.stack);
        assert.ok(!/77|orange/.test(error.message), error.message);
        return true;
      });
    }
  });
}

test("only a bundle that passed every check is drawn from, and nothing in it can be changed", async () => {
  const made = await bundleOf("randomised response");
  for (const other of [{ ...made }, structuredClone(made), JSON.parse(textOf("randomised response")), null]) {
    assert.throws(() => perturbBundle(other, "red"), /^TypeError: the mechanism must come from parseBundle/);
  }
  assert.throws(() => (made.epsilons[0] = 9), TypeError);
});

test("random words come from WebCrypto alone and are erased after use", async () => {
  const [random, real] = [Math.random, Object.getOwnPropertyDescriptor(globalThis, "crypto")];
  const pools = new Set();
  const keep = (pool) => (pools.add(pool), webcrypto.getRandomValues(pool));
  const drawn = await Promise.all(Object.keys(good).map(async (name) => [await bundleOf(name), good[name].tests[0]]));
  Math.random = () => assert.fail("Math.random is no source of privacy");
  Object.defineProperty(globalThis, "crypto", { configurable: true, value: { getRandomValues: keep } });
  try {
    for (const [mechanism, { value }] of drawn) perturbBundle(mechanism, value);
  } finally {
    Math.random = random;
    Object.defineProperty(globalThis, "crypto", real);
  }
  assert.equal(pools.size, drawn.length);
  for (const pool of pools) assert.ok(pool.every((word) => word === 0));
});
