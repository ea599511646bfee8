/**
 * The client against the library: tables, refusals, reports word for word, frequencies.
 *
 *     python make_fixtures.py FOLDER && OPTLDP_FIXTURES=FOLDER node --test clients/javascript/tests/client.test.js
 */

import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import {
  exponentialBelow,
  parseTable,
  perturb,
  perturbIndex,
  perturbMany,
  perturbRow,
  reportText,
  rowAt,
  TableError,
} from "../optldp-client.js";
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
  "a cell of points only": /must hold a double that is no point, got none from 1 to 1\.0000000000000002$/,
  "two points that fill a cell": /must hold a double that is no point/,
  "two tails with one end": /must have ends of their own, got 1 twice$/,
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

test("the client accepts and refuses the very documents that the library does", async () => {
  const mutants = JSON.parse(readFileSync(join(folder, "mutants.json"), "utf8"));
  const accepted = async (text) => {
    try {
      await parseTable(text);
      return true;
    } catch (error) {
      assert.ok(error instanceof TableError, String(error));
      assert.ok(!error.message.includes("\n") && error.message.length < 400, error.message);
      return false;
    }
  };
  const wrong = [];
  for (const [name, text, fits] of mutants) if ((await accepted(text)) !== fits) wrong.push([name, fits]);
  assert.deepEqual(wrong, []);
  const taken = mutants.filter(([, , fits]) => fits).length;
  assert.ok(mutants.length > 3000 && taken > 200 && taken < mutants.length - 200, `${taken} of ${mutants.length}`);
});

const [, plain] = good.find(([name]) => name === "two points");
const [, cells] = good.find(([name]) => name === "piecewise");
const [, lattice] = good.find(([name]) => name === "lattice");

test("a report is spelled as the library spells it, and zero has no sign", () => {
  for (const [number, text] of said.spellings) assert.equal(reportText(number), text);
  assert.equal(reportText(-0), "0.0");
});

test("the lower bound of e^epsilon is the library's to the last of its 128 bits", () => {
  for (const [epsilon, p] of said.exponentials) assert.equal(String(exponentialBelow(epsilon)), p);
});

test("a text too long to be a table is refused unread", async () => {
  const message = /^TableError: a table must be at most 33554432 characters, got 33554433$/;
  await assert.rejects(parseTable("[".repeat(2 ** 25 + 1)), message);
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

/** What is no list of numbers, each holding the values 5 and 6 somewhere. */
const NO_LISTS = {
  "a set": () => new Set([5, 6]),
  "a map": () => new Map([[5, 6]]),
  "an iterator": () => [5, 6][Symbol.iterator](),
  "a generator": () => (function* () { yield 5; yield 6; })(),
  "an object like an array": () => ({ 0: 5, 1: 6, length: 2 }),
  "an object that lies about its length": () => ({ 0: 5, 1: 6, length: 0, [Symbol.iterator]: () => [5, 6].values() }),
  "an object with an iterator": () => ({ *[Symbol.iterator]() { yield 5; yield 6; } }),
  "a buffer": () => new Float64Array([5, 6]).buffer,
  "a view of bytes": () => new DataView(new Float64Array([5, 6]).buffer),
  "text": () => "56",
  "text as an object": () => new String("56"),
  "a number": () => 5,
  "a function": () => (a, b) => a + b,
  "nothing": () => null,
  "undefined": () => undefined,
};

/** Lists with something in them that is no number of the domain. */
const BAD_LISTS = {
  "a list of lists": () => [[5], [6]],
  "a list of texts": () => ["5", "6"],
  "a list with a hole": () => [5, , 6], // eslint-disable-line no-sparse-arrays -- that is its fault
  "a list of number objects": () => [new Number(5), { valueOf: () => 6 }],
  "big whole numbers": () => [5n, 6n],
  "a typed list of big whole numbers": () => new BigInt64Array([5n, 6n]),
  "true": () => [true, 6],
  "a date": () => [new Date(5)],
  "NaN behind a number": () => new Float64Array([5, NaN]),
  "infinity": () => new Float32Array([5, Infinity]),
  "longer than it is": () => new Proxy([5, 6], { get: (list, key) => (key === "length" ? 3 : list[key]) }),
};

for (const [name, make] of Object.entries({ ...NO_LISTS, ...BAD_LISTS })) {
  test(`no report is made of ${name}, and the error names no value`, async () => {
    for (const fixture of [plain, cells, lattice]) {
      const table = await tableOf(fixture);
      assert.throws(() => perturbMany(table, make()), (error) => {
        assert.ok(error instanceof (name in NO_LISTS ? TypeError : RangeError), String(error));
        assert.ok(!error.message.includes("\n") && !/\b[56]\b/.test(error.message.replace(/from .* to .*,/, "")));
        return true;
      });
    }
  });
}

/** Lists of numbers of all kinds, with 9,000 values each: more words than one pool holds. */
const LISTS = {
  "a list": (values) => Array.from(values),
  "a frozen list": (values) => Object.freeze(Array.from(values)),
  "a list of another realm": (values) => runInNewContext("Array.from(values)", { values }),
  "doubles": (values) => values,
  "doubles of another realm": (values) => runInNewContext("Float64Array.from(values)", { values }),
  "floats": (values) => Float32Array.from(values),
  "bytes": (values) => Uint8Array.from(values),
  "shared memory": (values) => {
    const shared = new Float64Array(new SharedArrayBuffer(8 * values.length));
    shared.set(values);
    return shared;
  },
  "a list that claims another iterator": (values) =>
    Object.assign(Array.from(values), { [Symbol.iterator]: () => [].values() }),
};

for (const [name, make] of Object.entries(LISTS)) {
  test(`every value of ${name} gets random words of its own, in pools that WebCrypto can fill`, async () => {
    for (const [fixture, each] of [[plain, 2], [cells, 3]]) {
      const table = await tableOf(fixture);
      const value = Math.round(table.knots[0]);
      let asked = 0;
      const count = (pool) => {
        assert.ok(pool.byteLength <= 65536);
        asked += pool.length / 2;
        return webcrypto.getRandomValues(pool);
      };
      const values = new Float64Array(9000).fill(fixture === cells ? 1 : value);
      const reports = withRandom(count, () => perturbMany(table, make(values)));
      assert.equal(reports.length, 9000);
      assert.ok(asked >= 9000 * each, `${asked} words`);
      assert.ok(new Set(reports).size > 1);
    }
  });
}

test("a list that changes between two readings is read once", async () => {
  const table = await tableOf(plain);
  const read = { length: 0, 0: 0, 1: 0 };
  const list = new Proxy([5, 6], { get: (target, key) => (read[key]++, read[key] > 1 ? "again" : target[key]) });
  assert.equal(perturbMany(table, list).length, 2);
  assert.deepEqual(read, { length: 1, 0: 1, 1: 1 });
});

test("a length that is no whole number is refused", async () => {
  const table = await tableOf(plain);
  for (const length of [[5, 6], "2", NaN, Infinity, -1.5, { valueOf: () => 2 }, null]) {
    const list = new Proxy([5, 6], { get: (target, key) => (key === "length" ? length : target[key]) });
    assert.throws(() => perturbMany(table, list), /^TypeError: the values must have a whole number as length/);
  }
});

test("a report is found in the output that it was drawn from, whatever the place in it", async () => {
  for (const [name, fixture] of good) {
    const table = await tableOf(fixture);
    const sums = table.low.map(() => 0);
    for (const { value, words } of fixture.draws.slice(0, 3)) {
      for (const place of ["0", "fff", "7ffffffffffff000", "8000000000000000", "fffffffffffff7ff", "ffffffffffffffff"]) {
        const report = withRandom(scripted([...words.slice(0, 2), ...words.slice(2).map(() => place)]), () =>
          perturb(table, value));
        const other = withRandom(scripted([...words.slice(0, 2), ...words.slice(2).map(() => "5555555555555000")]), () =>
          perturb(table, value));
        assert.equal(outputIndex(table, report), outputIndex(table, other), `${name} at ${value}: ${report}`);
        sums[outputIndex(table, report)]++;
      }
    }
    assert.ok(sums.some((count) => count > 0));
  }
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

test("a drawn index is an output that the value may have, and a row names its table", async () => {
  for (const [, fixture] of good.slice(0, 3)) {
    const table = await tableOf(fixture);
    const middle = (table.knots[0] + table.knots[table.knots.length - 1]) / 2;
    assert.throws(() => perturbIndex(table, table.knots[0] - 1), RangeError);
    const seen = new Set(Array.from({ length: 500 }, () => perturbIndex(table, middle)));
    for (const output of seen) assert.ok(rowAt(table, middle)[output] > 0);
    const [one, other] = [perturbRow(table, middle), perturbRow(table, middle)];
    assert.deepEqual(Object.keys(one), ["table", "output", "day", "report_id"]);
    assert.equal(one.table, `t${table.checksum.slice(7, 19)}`);
    assert.match(one.day, /^\d{4}-\d\d-\d\d$/);
    assert.match(one.report_id, /^[0-9a-f]{32}$/);
    assert.notEqual(one.report_id, other.report_id);
  }
});
