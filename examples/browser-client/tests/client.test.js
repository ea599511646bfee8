/**
 * The client against the library: tables, refusals, reports word for word, frequencies.
 *
 *     python make_fixtures.py FOLDER && OPTLDP_FIXTURES=FOLDER node --test examples/browser-client/tests/client.test.js
 */

import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { exponentialBelow, parseTable, perturb, perturbMany, rowAt, TableError } from "../optldp-client.js";
import { outputIndex } from "../output-index.js";

const folder = process.env.OPTLDP_FIXTURES ?? assert.fail("OPTLDP_FIXTURES must name the folder of make_fixtures.py");
const said = JSON.parse(readFileSync(join(folder, "fixtures.json"), "utf8"));
const good = Object.entries(said.good);
const bad = Object.entries(said.bad);
const REPORTS = 100_000;
const textOf = ({ file }) => readFileSync(join(folder, file), "utf8");
const tableOf = (fixture) => parseTable(textOf(fixture));

/** What each refusal names, for the documents that the library's own tests damage. */
const NAMED = {
  "wrong version": /^format must be .*got "optldp-table\/3"/,
  "no numerators": /key 'numerators', which is missing/,
  "a key too many": /only, got "probabilities"/,
  "another denominator": /denominator must be 9007199254740992, got 4503599627370496$/,
  "a denominator in doubles": /denominator must be 9007199254740992, got 9007199254740992\.0$/,
  "a fraction": /whole numbers, got 0\.5 at row 0, output 0$/,
  "a double": /whole numbers, got 1\.0 at row 1, output 0$/,
  "a text": /whole numbers, got "2" at row 1, output 1$/,
  "true": /whole numbers, got true at row 0, output 0$/,
  "negative": /lie in 0\.\.2\^53, got -1 at row 0, output 0$/,
  "above one": /lie in 0\.\.2\^53, got 9007199254740993 at row 0, output 0$/,
  "far above one": /lie in 0\.\.2\^53, got 1000.* at row 0, output 0$/,
  "uneven rows": /row 1 must have a number for each of 2 outputs, got 1$/,
  "a row too few": /a row for each of 2 knots, got 1$/,
  "no rows": /a row for each of 2 knots, got 0$/,
  "an output too many": /row 0 must have a number for each of 1 outputs, got 2$/,
  "a sum one above": /row 0 must sum to 2\^53 exactly, got 1 more$/,
  "a sum one below": /row 1 must sum to 2\^53 exactly, got 1 less$/,
  "one unit over the limit": /ratio must be proved at most e\^1, got 6584790284608189 \/ 2422408970132803 at output 0$/,
  "an output of zero in one row": /ratio must be proved at most e\^1\.1, got 1 \/ 0 at output 0$/,
  "duplicate outputs": /without repeats, got 5 to 5 at output 1$/,
  "unsorted outputs": /sorted by low end, then by high end/,
  "overlapping cells": /cells must not overlap .* at output 1$/,
  "an end too far": /within 1e\+120, got 1e\+130/,
  "knots that fall": /strictly increasing, got 10 then 0 at position 1$/,
  "a law that differs between rows": /same for all rows, got "linear"$/,
  "an infinite cell": /finite ends, got -Infinity to -5 at output 0$/,
  "no unbiasedness": /claims to be unbiased must be so/,
  "a bias of 2e-12": /claims to be unbiased must be so/,
  "no budget": /epsilon must be in \[1e-6, 16\], got 0$/,
  "too large a budget": /epsilon must be in \[1e-6, 16\], got 17$/,
  "another checksum": /checksum must be sha256:[0-9a-f]{64}, got "sha256:0+"/,
  "no object": /must be an object, got a list$/,
};

/** Runs a task with another source of randomness in place of WebCrypto's; `fill` gets every pool to be filled. */
function withRandom(fill, task) {
  const real = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  Object.defineProperty(globalThis, "crypto", { configurable: true, value: { getRandomValues: fill } });
  try {
    return task();
  } finally {
    if (real) Object.defineProperty(globalThis, "crypto", real);
    else delete globalThis.crypto;
  }
}

/** A source that gives the 64-bit words written in hexadecimal, least significant half first. */
function scripted(words) {
  let next = 0;
  return (pool) => {
    for (let i = 0; i < pool.length; i += 2, next++) {
      const word = BigInt("0x" + (words[next] ?? "0"));
      pool[i] = Number(word & 0xffffffffn);
      pool[i + 1] = Number(word >> 32n);
    }
    return pool;
  };
}

globalThis.crypto ??= webcrypto; // Node 18 keeps it in a module

for (const [name, fixture] of good) {
  test(`the client proves the table "${name}" with the library's facts`, async () => {
    const table = await tableOf(fixture);
    const { tightest: j } = table;
    assert.deepEqual([j, table.largest[j], table.smallest[j]], [fixture.tightest, fixture.largest, fixture.smallest]);
    assert.equal(String(table.limit), fixture.limit);
    rowAt(table, fixture.value).forEach((p, k) => assert.ok(Math.abs(p - fixture.row[k]) < 1e-15, `output ${k}`));
  });

  test(`the client makes of the same random words the same reports as the library: "${name}"`, async () => {
    const table = await tableOf(fixture);
    for (const { value, words, report } of fixture.draws) {
      assert.equal(withRandom(scripted(words), () => perturb(table, value)), report, `at ${value}`);
    }
  });

  test(`${REPORTS} reports are as frequent as the table says: "${name}"`, async () => {
    const table = await tableOf(fixture);
    const reports = perturbMany(table, new Float64Array(REPORTS).fill(fixture.value));
    const counts = new Array(fixture.law.length).fill(0);
    const outputs = Int32Array.from(reports, (report) => outputIndex(table, report));
    outputs.forEach((j) => counts[fixture.groups[j]]++);
    const square = fixture.law.reduce((sum, p, g) => sum + (counts[g] - REPORTS * p) ** 2 / (REPORTS * p), 0);
    mkdirSync(join(folder, "reports"), { recursive: true });
    writeFileSync(join(folder, "reports", `${fixture.file}.f64`), reports); // for the library to look at
    writeFileSync(join(folder, "reports", `${fixture.file}.i32`), outputs);
    assert.ok(square <= fixture.critical, `chi-square ${square} above ${fixture.critical}`);
  });
}

for (const [name, fixture] of bad) {
  test(`the client refuses, in one line that names the fault, "${name}"`, async () => {
    const says = fixture.says ? new RegExp(fixture.says.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")) : NAMED[name] ?? /\S/;
    await assert.rejects(tableOf(fixture), (error) => {
      assert.ok(error instanceof TableError, String(error));
      assert.match(error.message, says);
      assert.ok(!error.message.includes("\n") && error.message.length < 400, error.message);
      return true;
    });
  });
}

const [, plain] = good.find(([name]) => name === "two points");
const [, cells] = good.find(([name]) => name === "piecewise");
const [, lattice] = good.find(([name]) => name === "lattice");

test("the lower bound of e^epsilon is the library's to the last of its 128 bits", () => {
  for (const [epsilon, p] of said.exponentials) assert.equal(String(exponentialBelow(epsilon)), p);
});

test("a text too long to be a table is refused unread", async () => {
  const message = /^TableError: a table must be at most 134217728 characters, got 134217729$/;
  await assert.rejects(parseTable("[".repeat(2 ** 27 + 1)), message);
});

test("any change of a number, a text or a name breaks the checksum", async () => {
  const names = [['"units": ""', '"units": "EUR"'], ['"parameters": {}', '"parameters": {"a": 1}']];
  for (const [old, changed] of [["1.1", "1.2"], ['"test"', '"text"'], ...names]) {
    const text = textOf(plain);
    assert.ok(text.includes(old));
    await assert.rejects(parseTable(text.replace(old, changed)), /^TableError: checksum must be/);
  }
});

test("a value that is no number of the domain is refused, and no message repeats it", async () => {
  const table = await tableOf(plain);
  for (const value of [-0.0001234, 10.00001234, NaN, Infinity, -Infinity, "5", null, undefined, 5n, [5], true]) {
    assert.throws(() => perturb(table, value), (error) => {
      assert.ok(error instanceof RangeError);
      assert.equal(error.message, "the value must be a number from 0 to 10, got another");
      return true;
    });
  }
  assert.throws(() => perturbMany(table, [1, 11]), RangeError);
});

test("minus zero is zero and the ends of the domain belong to it", async () => {
  const table = await tableOf(plain);
  assert.equal(perturbMany(table, [-0, 0, 10]).length, 3);
  assert.equal(perturbMany(table, []).length, 0);
});

test("only a table that passed every check is perturbed with", async () => {
  const table = await tableOf(plain);
  for (const other of [{ ...table }, structuredClone(table), JSON.parse(textOf(plain)), null, undefined]) {
    assert.throws(() => perturb(other, 5), /^TypeError: the table must come from parseTable/);
  }
});

test("nothing in a table can be changed", async () => {
  const table = await tableOf(plain);
  assert.throws(() => (table.epsilon = 9), TypeError);
  for (const key of ["knots", "low", "high", "smallest", "largest"]) {
    assert.throws(() => (table[key][0] = 9), TypeError);
  }
});

test("two words make a report of points and three one of cells, whatever the value", async () => {
  for (const [fixture, words] of [[plain, 2], [cells, 3]]) {
    const table = await tableOf(fixture);
    for (const share of [0, 0.25, 0.5, 1]) {
      let asked = 0;
      const count = (pool) => ((asked += pool.length / 2), webcrypto.getRandomValues(pool));
      const knots = table.knots;
      const value = knots[0] + share * (knots[knots.length - 1] - knots[0]);
      withRandom(count, () => perturb(table, value));
      assert.equal(asked, words);
    }
  }
});

test("random words come from WebCrypto alone and are erased after use", async () => {
  const random = Math.random;
  Math.random = () => assert.fail("Math.random is no source of privacy");
  try {
    for (const fixture of [plain, cells, lattice]) {
      const table = await tableOf(fixture);
      const pools = new Set();
      const keep = (pool) => (pools.add(pool), webcrypto.getRandomValues(pool));
      withRandom(keep, () => perturbMany(table, new Float64Array(20_000).fill(fixture.value)));
      assert.ok(pools.size >= 1);
      for (const pool of pools) assert.ok(pool.every((word) => word === 0));
    }
  } finally {
    Math.random = random;
  }
});

test("words are erased also where a value is refused", async () => {
  const table = await tableOf(plain);
  const pools = [];
  const keep = (pool) => (pools.push(pool), webcrypto.getRandomValues(pool));
  assert.throws(() => withRandom(keep, () => perturbMany(table, [5, 5, 99])), RangeError);
  assert.ok(pools.length > 0 && pools.every((pool) => pool.every((word) => word === 0)));
});

test("without WebCrypto the client says so and does nothing", async () => {
  const real = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  Object.defineProperty(globalThis, "crypto", { configurable: true, value: undefined });
  try {
    await assert.rejects(tableOf(plain), /^Error: WebCrypto must be there, got none: serve by https/);
  } finally {
    Object.defineProperty(globalThis, "crypto", real);
  }
});
