// @ts-check
/**
 * Perturbs numbers by an exact optldp table (`optldp-table/2`, docs/exact-table-format.md) or by its floor form
 * (docs/floor-form.md), in a browser or in Node.
 *
 *     const table = await parseTable(await (await fetch("mech.json")).text());
 *     send(perturb(table, value));
 *
 * A table is trusted only after its checksum fits and whole numbers have proved it private. Reports are drawn from
 * random words of WebCrypto by comparing whole numbers, word for word as the Python library draws them.
 */

/** @typedef {null | boolean | string | number | bigint | JsonList | JsonObject} Json */
/** @typedef {{ [key: string]: Json }} JsonObject */
/** @typedef {Json[]} JsonList */
/** @typedef {Float64Array | Float32Array | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array
 *   | Int32Array | Uint32Array} NumberArray */
/** @typedef {{ step: number, odds: number[] }} Tails Lattice step; how often, in 2^53, each binary digit is one. */

/** @typedef {(row: number, output: number) => number} Before */

/**
 * @typedef {object} ExactTable What there is to know about a table that passed every check.
 * @property {string} units Name of the units of the knots.
 * @property {number} epsilon The budget; proved.
 * @property {readonly number[]} knots The inputs with a row of their own; the first and the last end the domain.
 * @property {readonly number[]} low Lower end of every output, in the units of the reports.
 * @property {readonly number[]} high Upper end; equal to the lower one where the output is a point.
 * @property {readonly number[]} smallest Smallest numerator of every output over all rows; in 2^53.
 * @property {readonly number[]} largest Largest numerator of every output over all rows; in 2^53.
 * @property {number} tightest The output with the largest ratio of the two.
 * @property {bigint} limit limit / 2^128 is proved to be at most e^epsilon; no output's ratio is above it.
 * @property {boolean} unbiased Whether the table claims that reports average to the value; if so, proved.
 * @property {string} method How the table was made, in its own words.
 * @property {string} version The optldp that wrote it, in its own words.
 * @property {string | null} priorSource Where the prior in the file came from, or null if it holds none.
 * @property {string} checksum
 */

/**
 * @typedef {object} Law A table made ready to draw from.
 * @property {Float64Array} knots
 * @property {BigInt64Array} knotBits The knots as integers of the same order.
 * @property {Before} before For a row and an output, the sum of the numerators before it.
 * @property {Float64Array} low
 * @property {Float64Array} high
 * @property {Float64Array} top The largest report of every output: of a cell, the double below its upper end.
 * @property {Map<number, number>} refuges Where a report goes that a cell would make equal to a point inside it.
 * @property {boolean} hasCells
 * @property {Tails | null} tails
 */

export const FORMAT = "optldp-table/2";
const KEYS = ["format", "units", "epsilon", "knots", "low", "high", "denominator", "numerators", "within",
  "provenance", "prior", "checksum"];
export const BUNDLE = "optldp-bundle/1";
const FLOOR_KEYS = ["format", "kind", "units", "epsilon", "ratio", "knots", "step", "places", "floor", "starts",
  "provenance", "prior", "checksum"];
export const DENOMINATOR = 2 ** 53;
export const WHOLE = BigInt(DENOMINATOR);
export const SCALE = 2n ** 128n;
const MOST_RAISED = 2n ** 62n;
const MOST_SIDE = 2 ** 15; // knots and outputs
const MOST_ENTRIES = 2 ** 25; // of what is held at once: docs/bundle-format.md, "What a file may cost"
const [MIN_EPSILON, MAX_EPSILON] = [1e-6, 16];
const [NARROWEST_DOMAIN, WIDEST_DOMAIN] = [1e-100, 1e100]; // squares of widths neither vanish nor overflow
const LARGEST_REPORT = 1e120;
export const LARGEST_TEXT = 2 ** 25; // characters: what the library reads, as bytes
const DEEPEST = 8; // a table nests four deep
const LONGEST_POOL = 8192; // 64-bit words: WebCrypto gives 64 KiB at a time
const PRIOR_SOURCES = ["public", "private-report", "sensitive"];
const WEIGHT_SUM_TOLERANCE = 1e-9;
const MOST_ESCAPES = 9999; // in one text: with many more, matching it overflows the stack
const TOKEN = new RegExp(
  String.raw`[ \t\n\r]*([{}\[\],:]|"[^"\\\u0000-\u001f]*(?:\\.[^"\\\u0000-\u001f]*){0,${MOST_ESCAPES}}"` +
    String.raw`|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|$)`, "y");

/** A table that cannot be used; the message is one line that names the first fault. */
export class TableError extends Error {
  name = "TableError";
}

// What is exported without a word in docs/browser-client.md is for the client of bundles, beside this one.

/** @type {(message: string) => never} */
export function refuse(message) {
  throw new TableError(message);
}

/** A value for a message: short, on one line, doubles apart from whole numbers. @type {(value: unknown) => string} */
export function shown(value) {
  if (typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 1e21) return `${value}.0`;
  if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
  if (value === null || typeof value !== "object") return String(value).slice(0, 40);
  return Array.isArray(value) ? "a list" : "an object";
}

/**
 * Reads JSON text; numbers without point or exponent become BigInt, all others doubles. (JSON.parse would read
 * 9007199254740993 as 2^53, cannot tell 1.0 from 1 and lets a repeated key pass.)
 * @type {(text: string) => Json}
 */
export function readJson(text) {
  let at = 0;
  /** @type {() => never} */
  const fail = () => refuse(`the file must be whole JSON text, got something else near character ${at}`);
  const next = () => {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text) ?? fail();
    at = TOKEN.lastIndex;
    return found[1];
  };
  /** @type {(token: string) => string} */
  const string = (token) => {
    try {
      return token[0] === '"' ? JSON.parse(token) : fail();
    } catch {
      return fail(); // an escape that JSON does not know
    }
  };
  /** @type {(token: string) => number | bigint} */
  const number = (token) => {
    const double = Number(token);
    if (!Number.isFinite(double)) refuse(`numbers must fit in a double, got ${token.slice(0, 40)}`);
    return /[.eE]/.test(token) ? double : BigInt(token);
  };
  /** @type {(close: string, element: (token: string) => void) => void} */
  const elements = (close, element) => {
    let token = next();
    while (token !== close) {
      element(token);
      token = next();
      if (token === ",") {
        token = next();
        if (token === close) fail();
      } else if (token !== close) fail();
    }
  };
  /** @type {(token: string, depth: number) => Json} */
  const value = (token, depth) => {
    if (depth > DEEPEST) refuse("the document must not be nested deeper than a table is");
    if (token === "[") {
      const list = /** @type {Json[]} */ ([]);
      elements("]", (first) => list.push(value(first, depth + 1)));
      return list;
    }
    if (token === "{") {
      /** @type {JsonObject} */
      const object = Object.create(null); // so that no key has a meaning, __proto__ among them
      elements("}", (first) => {
        const key = string(first);
        if (key in object) refuse(`keys must not repeat, got ${shown(key)} twice`);
        if (next() !== ":") fail();
        object[key] = value(next(), depth + 1);
      });
      return object;
    }
    if (token === "null") return null;
    if (token === "true" || token === "false") return token === "true";
    return /^[-\d]/.test(token) ? number(token) : string(token);
  };
  const document = value(next(), 0);
  return next() === "" ? document : fail();
}

/** @type {(text: string) => Uint8Array<ArrayBuffer>} */
function utf8(text) {
  if (/\p{Surrogate}/u.test(text)) refuse(`text must be Unicode, got ${shown(text)}`);
  return new TextEncoder().encode(text);
}

/** The order of the bytes in UTF-8, which is not that of UTF-16. @type {(a: string, b: string) => number} */
function byBytes(a, b) {
  const [x, y] = [utf8(a), utf8(b)];
  const k = x.findIndex((byte, i) => byte !== y[i]);
  return k < 0 ? -1 : x[k] - (y[k] ?? -1);
}

/**
 * For each value a letter and eight bytes: a double after "n", a count after any other.
 * @type {(tag: string, values: (number | bigint)[]) => DataView<ArrayBuffer>}
 */
function tagged(tag, values) {
  const view = new DataView(new ArrayBuffer(9 * values.length));
  values.forEach((value, i) => {
    view.setUint8(9 * i, tag.charCodeAt(0));
    if (tag === "n") view.setFloat64(9 * i + 1, Number(value) + 0, true); // -0 + 0 is 0
    else view.setBigUint64(9 * i + 1, BigInt(value), true);
  });
  return view;
}

/** Appends the bytes that the checksum of a value is taken of. @type {(value: Json, parts: BlobPart[]) => void} */
function encode(value, parts) {
  if (Array.isArray(value)) {
    parts.push(tagged("a", [value.length]));
    if (value.every(isNumber)) parts.push(tagged("n", value));
    else value.forEach((element) => encode(element, parts));
  } else if (typeof value === "string") {
    const bytes = utf8(value);
    parts.push(tagged("s", [bytes.length]), bytes);
  } else if (typeof value === "object" && value !== null) {
    const keys = Object.keys(value).sort(byBytes);
    parts.push(tagged("o", [keys.length]));
    keys.flatMap((key) => [key, value[key]]).forEach((part) => encode(part, parts));
  } else parts.push(isNumber(value) ? tagged("n", [value]) : value === null ? "z" : value ? "t" : "f");
}

/**
 * The checksum of a document, in which a member `checksum` does not count.
 * @type {(document: JsonObject) => Promise<string>}
 */
export async function checksumOf({ checksum: _, ...content }) {
  if (!globalThis.crypto?.subtle) throw new Error("WebCrypto must be there, got none: serve by https or at localhost");
  /** @type {BlobPart[]} */
  const parts = [];
  encode(content, parts);
  const digest = await crypto.subtle.digest("SHA-256", await new Blob(parts).arrayBuffer());
  return "sha256:" + Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @type {(value: Json) => value is number | bigint} */
const isNumber = (value) => typeof value === "number" || typeof value === "bigint";
/** @type {(name: string, value: Json) => number} */
export function asNumber(name, value) {
  return isNumber(value) ? Number(value) : refuse(`${name} must be a number, got ${shown(value)}`);
}
/** @type {(name: string, value: Json) => string} */
export function asText(name, value) {
  return typeof value === "string" ? value : refuse(`${name} must be text, got ${shown(value)}`);
}
/** @type {(name: string, value: Json) => Json[]} */
export function asList(name, value) {
  return Array.isArray(value) ? value : refuse(`${name} must be a list, got ${shown(value)}`);
}
/** @type {(name: string, value: Json) => number[]} */
function asNumbers(name, value) {
  return asList(name, value).map((entry) => asNumber(`every entry of ${name}`, entry));
}

/** @type {(name: string, value: Json, keys?: string[]) => JsonObject} */
export function asObject(name, value, keys) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    return refuse(`${name} must be an object, got ${shown(value)}`);
  }
  const missing = keys?.find((key) => !(key in value));
  if (missing !== undefined) refuse(`${name} must have the key '${missing}', which is missing`);
  const unknown = keys && Object.keys(value).find((key) => !keys.includes(key));
  return unknown === undefined ? value : refuse(`${name} must have the keys ${keys} only, got ${shown(unknown)}`);
}

/** @type {(value: Json) => number[]} */
function checkedKnots(value) {
  const knots = asNumbers("knots", value);
  if (knots.length < 2) refuse(`knots must be at least 2, got ${knots.length}`);
  const k = knots.findIndex((knot, i) => knot <= knots[i - 1]);
  if (k > 0) refuse(`knots must be strictly increasing, got ${knots[k - 1]} then ${knots[k]} at position ${k}`);
  const width = knots[knots.length - 1] - knots[0];
  if (!(width > NARROWEST_DOMAIN && width < WIDEST_DOMAIN)) refuse(`knots must span 1e-100 to 1e100, got ${width}`);
  return knots;
}

/** @type {(name: string, value: Json) => number[]} */
function asEnds(name, value) {
  /** @type {Map<Json, number>} */
  const infinite = new Map([["-inf", -Infinity], ["inf", Infinity]]);
  return asList(name, value).map((end) => infinite.get(end) ?? asNumber(`every entry of ${name}`, end) + 0); // not -0
}

/** @type {(low: number[], high: number[]) => void} */
function checkOutputs(low, high) {
  if (low.length === 0 || low.length !== high.length) {
    refuse(`outputs must have as many low as high ends, at least 1, got ${low.length} and ${high.length}`);
  }
  let reach = -Infinity;
  low.forEach((start, j) => {
    const end = high[j];
    /** @type {(fits: boolean, what: string) => void} */
    const need = (fits, what) => void (fits || refuse(`${what}, got ${start} to ${end} at output ${j}`));
    need(start < end || (start === end && Number.isFinite(start)), "every output must have low <= high");
    const near = [start, end].every((x) => Math.abs(x) <= LARGEST_REPORT || !Number.isFinite(x));
    need(near, `finite ends must be within ${LARGEST_REPORT}`);
    const after = j === 0 || start > low[j - 1] || (start === low[j - 1] && end > high[j - 1]);
    need(after, "outputs must be sorted by low end, then by high end, without repeats");
    need(start === end || start >= reach, "cells must not overlap the cell before them");
    if (start < end) reach = end;
  });
}

/** The next double above x, or below it if `direction` is -1. @type {(x: number, direction?: 1 | -1) => number} */
function nextDouble(x, direction = 1) {
  const bits = orderedBits(x) + (x === 0 && direction < 0 ? -2n : BigInt(direction)); // below 0 comes -0, the same
  scratchBits[0] = bits < 0n ? bits ^ 0x7fffffffffffffffn : bits;
  return scratch[0] + 0;
}

/**
 * Where a report goes that a cell would make equal to a point inside it: to the next larger double of the cell that is
 * no point, else to the next smaller one. A report is then always found in the output that it was drawn from.
 * @type {(low: readonly number[], high: readonly number[]) => Map<number, number>}
 */
function refugesOf(low, high) {
  const points = low.filter((start, j) => start === high[j]).map((point) => point + 0);
  const cells = [...low.keys()].filter((j) => low[j] < high[j]);
  const [above, below, refuges] = [new Map(), new Map(), new Map()]; // for each point the nearest doubles that are none
  /** @type {(free: Map<number, number>, next: number) => number} */
  const past = (free, next) => free.get(next) ?? next;
  for (const point of points) below.set(point, past(below, nextDouble(point, -1)));
  for (const point of [...points].reverse()) above.set(point, past(above, nextDouble(point)));
  let place = -1; // the last cell that starts at or below the point; points come in rising order
  for (const point of points) {
    while (place + 1 < cells.length && low[cells[place + 1]] <= point) place++;
    const [start, end] = [low[cells[place]], high[cells[place]]]; // undefined before the first cell
    if (!(start <= point && point < end)) continue;
    const [up, down] = [above.get(point), below.get(point)];
    if (up >= end && down < start) refuse(`a cell must hold a double that is no point, got none from ${start} to ${end}`);
    refuges.set(point, up < end ? up : down);
  }
  return refuges;
}

/** @type {(value: Json, low: number[], high: number[]) => Tails | null} */
function checkedLaw(value, low, high) {
  const { kind, step: s, ratio: r } = asObject("within", value);
  const tailed = kind === "geometric-tails";
  const known = tailed || kind === "uniform";
  if (!known) refuse(`the law within outputs must be the same for all rows, got ${shown(kind)}`);
  asObject("within", value, tailed ? ["kind", "step", "ratio"] : ["kind"]);
  const left = low[0] === -Infinity ? high[0] : -Infinity;
  const right = high.includes(Infinity) ? low[high.indexOf(Infinity)] : Infinity;
  low.forEach((start, j) => {
    const [end, here] = [high[j], `got ${start} to ${high[j]} at output ${j}`];
    const [tail, point] = [!Number.isFinite(end - start), start === end];
    if (tail && !tailed) refuse(`a uniform law needs finite ends, ${here}`);
    const fits = tail ? start > -Infinity || end < Infinity : point;
    if (tailed && !fits) refuse(`beside geometric tails there must be only points, ${here}`);
    if (point && (end <= left || start >= right)) refuse(`points must lie between the geometric tails, ${here}`);
  });
  if (!tailed) return null;
  if (low[0] === -Infinity && right === left) refuse(`two geometric tails must have ends of their own, got ${left} twice`);
  const [step, ratio] = [asNumber("within.step", s), asNumber("within.ratio", r)];
  if (!(step > 0 && step <= LARGEST_REPORT)) refuse(`within.step must be in (0, ${LARGEST_REPORT}], got ${step}`);
  if (!(ratio > 0 && ratio < 1)) refuse(`within.ratio must be between 0 and 1, got ${ratio}`);
  return { step, odds: digitOdds(ratio) };
}

/** @type {(value: Json, n: number, m: number) => Float64Array[]} */
export function checkedNumerators(value, n, m) {
  const rows = asList("numerators", value);
  if (rows.length !== n) refuse(`numerators must have a row for each of ${n} knots, got ${rows.length}`);
  return rows.map((row, i) => {
    const entries = asList(`row ${i} of numerators`, row);
    if (entries.length !== m) refuse(`row ${i} must have a number for each of ${m} outputs, got ${entries.length}`);
    let excess = -BigInt(DENOMINATOR);
    const here = (/** @type {number} */ j) => `got ${shown(entries[j])} at row ${i}, output ${j}`;
    entries.forEach((entry, j) => {
      if (typeof entry !== "bigint") return refuse(`numerators must be whole numbers, ${here(j)}`);
      if (entry < 0n || entry > DENOMINATOR) refuse(`numerators must lie in 0..2^53, ${here(j)}`);
      excess += entry;
    });
    if (excess > 0n) refuse(`row ${i} must sum to 2^53 exactly, got ${excess} more`);
    if (excess < 0n) refuse(`row ${i} must sum to 2^53 exactly, got ${-excess} less`);
    return Float64Array.from(entries, Number);
  });
}

/** @type {(value: Json, n: number) => string | null} */
function checkedPrior(value, n) {
  if (value === null) return null;
  const { weights: w, rounding: r, source } = asObject("prior", value, ["weights", "rounding", "source"]);
  const [weights, rounding] = [asNumbers("prior.weights", w), asNumbers("prior.rounding", r)];
  const fits = weights.length === n && rounding.length === n - 1 && [...weights, ...rounding].every((x) => x >= 0);
  if (!fits) refuse(`a prior must have ${n} weights and ${n - 1} rounding terms`);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (!(Math.abs(sum - 1) <= WEIGHT_SUM_TOLERANCE)) refuse(`prior weights must sum to 1, got ${sum}`);
  const known = PRIOR_SOURCES.find((name) => name === source);
  return known ?? refuse(`prior.source must be one of ${PRIOR_SOURCES}, got ${shown(source)}`);
}

/** An object of numbers, texts, booleans, nulls or lists of them. @type {(name: string, value: Json) => JsonObject} */
function asRecord(name, value) {
  const record = asObject(name, value);
  const deep = Object.values(record).flat().find((entry) => typeof entry === "object" && entry !== null);
  return deep === undefined ? record : refuse(`${name} must hold plain values or lists of them, got ${shown(deep)}`);
}

/** @type {(value: Json) => { method: string, version: string, unbiased: boolean }} */
export function checkedProvenance(value) {
  const origin = asObject("provenance", value, ["method", "parameters", "version", "certificate"]);
  const unbiased = asRecord("provenance.parameters", origin.parameters).unbiased === true;
  if (origin.certificate !== null) asRecord("provenance.certificate", origin.certificate);
  const [method, version] = [origin.method, origin.version].map((entry) => asText("every name in provenance", entry));
  return { method, version, unbiased };
}

/** The whole number x / 2^-1074, exact for every finite double. @type {(x: number) => bigint} */
function inUnits(x) {
  const bits = new BigUint64Array(new Float64Array([x]).buffer)[0];
  const [exponent, fraction] = [(bits >> 52n) & 0x7ffn, bits & (2n ** 52n - 1n)];
  const size = exponent === 0n ? fraction : (fraction + 2n ** 52n) << (exponent - 1n);
  return x < 0 ? -size : size;
}

/** p with p / 2^128 <= e^epsilon: Taylor's series, every term rounded down. @type {(epsilon: number) => bigint} */
export function exponentialBelow(epsilon) {
  let sum = 0n;
  for (let k = 1n, term = 2n ** 128n; term > 0n; k++) {
    sum += term;
    term = (term * inUnits(epsilon)) / (k << 1074n);
  }
  return sum;
}

/** @typedef {Pick<ExactTable, "smallest" | "largest" | "tightest" | "limit">} Proof */

/** Proves all ratios within e^epsilon by whole numbers. @type {(rows: Float64Array[], epsilon: number) => Proof} */
export function provePrivate(rows, epsilon) {
  const [smallest, largest] = [Array.from(rows[0]), Array.from(rows[0])];
  for (const row of rows) {
    row.forEach((entry, j) => {
      smallest[j] = Math.min(smallest[j], entry);
      largest[j] = Math.max(largest[j], entry);
    });
  }
  return proveRatios(smallest, largest, epsilon);
}

/** The same from the least and the largest entry of every output. @type {(smallest: number[], largest: number[],
 * epsilon: number) => Proof} */
function proveRatios(smallest, largest, epsilon) {
  const [least, most, limit] = [smallest.map(BigInt), largest.map(BigInt), exponentialBelow(epsilon)];
  let tightest = 0;
  most.forEach((top, j) => {
    const here = `got ${top} / ${least[j]} at output ${j}`;
    if (top << 128n > limit * least[j]) refuse(`every ratio must be proved at most e^${epsilon}, ${here}`);
    if (top * least[tightest] > most[tightest] * least[j]) tightest = j;
  });
  return { smallest, largest, tightest, limit };
}

/**
 * Proves by whole numbers that reports average to the knots, within 1e-12 of the domain or 2^-50 of the largest report.
 * @type {(numerators: Float64Array[], knots: number[], low: number[], high: number[], tails: Tails | null) => void}
 */
function proveUnbiased(numerators, knots, low, high, tails) {
  // means in units of 2^-1074 / 2^54: a tail's are over 2^53, a cell's over 2
  const digits = tails?.odds.map((odds, i) => BigInt(odds) << BigInt(i + 1)) ?? [];
  const beyond = digits.reduce((sum, digit) => sum + digit, 0n) * inUnits(tails?.step ?? 0);
  const means = low.map((start, j) => {
    if (start === -Infinity) return (inUnits(high[j]) << 54n) - beyond;
    return high[j] === Infinity ? (inUnits(start) << 54n) + beyond : (inUnits(start) + inUnits(high[j])) << 53n;
  });
  const wanted = knots.map((knot) => inUnits(knot) << 107n); // times the denominator
  const width = wanted[wanted.length - 1] - wanted[0];
  const largest = means.reduce((most, mean) => (mean > most ? mean : -mean > most ? -mean : most), 0n);
  numerators.forEach((row, i) => {
    const bias = means.reduce((sum, mean, j) => sum + mean * BigInt(row[j]), -wanted[i]);
    const size = bias < 0n ? -bias : bias;
    const fits = size * 10n ** 12n <= width || size <= largest << 3n; // 2^53 / 2^50
    if (!fits) refuse(`a table that claims to be unbiased must be so to 1e-12 of its domain, got more at knot ${i}`);
  });
}

/** The whole number nearest to x in [0, 2^53], ties to even, without a comparison. @type {(x: number) => number} */
function nearest(x) {
  const upper = Math.floor(x / 2 ** 27) * 2 ** 27;
  return upper + (x - upper + 2 ** 52 - 2 ** 52); // doubles from 2^52 on are whole
}

/** How often, in 2^53, each binary digit of a geometric number is one. @type {(ratio: number) => number[]} */
function digitOdds(ratio) {
  const odds = [];
  for (let q = ratio, digit; (digit = nearest((q / (1 + q)) * DENOMINATOR)) > 0; q *= q) odds.push(digit);
  return odds;
}

const scratch = new Float64Array(1);
const scratchBits = new BigInt64Array(scratch.buffer);

/** An integer in the order of the doubles, -0 being 0. @type {(x: number) => bigint} */
function orderedBits(x) {
  scratch[0] = x + 0;
  const bits = scratchBits[0];
  scratch[0] = 0; // the value may be secret
  return bits ^ ((bits >> 63n) & 0x7fffffffffffffffn);
}

/** The law of each table that passed `parseTable`, out of reach for other scripts. @type {WeakMap<ExactTable, Law>} */
const laws = new WeakMap();

/**
 * Reads an exact table from its JSON text and proves it private.
 *
 * Throws a TableError with one line for a text that is no table, was altered, or is not proved by whole numbers to
 * keep its epsilon.
 * @type {(text: string) => Promise<ExactTable>}
 */
export async function parseTable(text) {
  if (text.length > LARGEST_TEXT) refuse(`a table must be at most ${LARGEST_TEXT} characters, got ${text.length}`);
  const file = asObject("the file", readJson(text));
  if (file.format === BUNDLE) return parseFloor(file);
  if (file.format !== FORMAT) refuse(`format must be "${FORMAT}" or "${BUNDLE}", got ${shown(file.format)}`);
  const read = readTable(file, KEYS);
  const facts = { ...read.facts, checksum: await fittingChecksum(file) };
  return readied(facts, read.law);
}

/**
 * What an exact table says and how to draw from it, all proved but a checksum; in a bundle a table has none of its own.
 * @typedef {{ facts: Omit<ExactTable, "checksum">, law: Law }} ReadTable
 * @type {(file: JsonObject, keys?: string[]) => ReadTable}
 */
export function readTable(file, keys = KEYS.filter((key) => key !== "checksum")) {
  if ("promise" in file) {
    refuse(
      "a table must promise pure epsilon-LDP to be drawn from here, got another promise: draw by optldp perturb, or by " +
        "a Sampler in Python",
    );
  }
  asObject("the table", file, keys);
  const sides = [file.knots, file.low].map((side) => (Array.isArray(side) ? side.length : 0));
  for (const side of sides) requireModest("knots and outputs", side, MOST_SIDE);
  requireModest("knots times outputs", sides[0] * sides[1]);
  const fits = file.denominator === WHOLE;
  if (!fits) refuse(`denominator must be ${DENOMINATOR}, got ${shown(file.denominator)}`);
  const [epsilon, knots] = [checkedEpsilon(file.epsilon), checkedKnots(file.knots)];
  const [low, high] = [asEnds("low", file.low), asEnds("high", file.high)];
  checkOutputs(low, high);
  const refuges = refugesOf(low, high);
  const tails = checkedLaw(file.within, low, high);
  const numerators = checkedNumerators(file.numerators, knots.length, low.length);
  const around = checkedAround(file, knots.length);
  const proof = provePrivate(numerators, epsilon);
  if (around.unbiased) proveUnbiased(numerators, knots, low, high, tails);
  const starts = numerators.map((row) => {
    let sum = 0;
    return row.map((entry) => (sum += entry) - entry);
  });
  const before = (/** @type {number} */ row, /** @type {number} */ j) => starts[row][j];
  const facts = { epsilon, ...around, ...proof, knots, low, high };
  return { facts, law: lawOfFacts(facts, before, refuges, tails) };
}

/**
 * Reads the floor form of a table (docs/floor-form.md): rows are a floor and what a window, an interval of the line on
 * which outputs have their extras side by side, adds to it. So rows sum to 2^53 and no ratio is above the one stated.
 * @type {(file: JsonObject) => Promise<ExactTable>}
 */
async function parseFloor(file) {
  if (file.kind !== "floor") refuse(`a bundle must be of kind "floor", got ${shown(file.kind)}`);
  asObject("the floor form", file, FLOOR_KEYS);
  const [epsilon, knots, step] = [checkedEpsilon(file.epsilon), checkedKnots(file.knots), asNumber("step", file.step)];
  const limit = exponentialBelow(epsilon);
  const digits = /^[1-9][0-9]{0,48}$/.test(asText("ratio", file.ratio)) ? String(file.ratio) : "0";
  const ratio = BigInt(digits);
  const within = ratio > SCALE && ratio <= limit;
  if (!within) refuse(`the ratio must be proved at most e^${epsilon}, and above 1, got ${shown(file.ratio)} / 2^128`);
  const units = inUnits(step);
  const isPower = units > 0n && (units & (units - 1n)) === 0n && step >= 2 ** -1000 && step <= 2 ** 400;
  if (!isPower) refuse(`step must be a power of two from 2^-1000 to 2^400, got ${shown(step)}`);
  const [places, floor] = [asWhole("places", file.places, -WHOLE, WHOLE), asWhole("floor", file.floor, 1n, WHOLE)];
  const starts = asWhole("starts", file.starts, 0n, MOST_RAISED);
  const [n, m] = [knots.length, places.length];
  if (floor.length !== m || starts.length !== n) refuse("outputs must have a floor each, and knots a start each");
  requireModest("knots and outputs", Math.max(n, m), MOST_SIDE);
  const reports = places.map((place) => Number(place) * step);
  checkOutputs(reports, reports);
  const form = windowsOf(floor, ratio, starts);
  const around = checkedAround(file, n);
  const proof = proveRatios(...spansOf(form), epsilon);
  if (around.unbiased) proveFloorUnbiased(form, places, step, knots);
  const checksum = await fittingChecksum(file);
  const facts = { epsilon, ...around, ...proof, knots, low: reports, high: [...reports], checksum };
  return readied(facts, lawOfFacts(facts, beforeIn(form), new Map(), null));
}

/** @typedef {{ floor: bigint[], extras: bigint[], edges: bigint[], width: bigint, starts: bigint[] }} Windows Where the
 * extras of each output begin and end on their line, and where the window of each row begins on it. */

/** @type {(floor: bigint[], ratio: bigint, starts: bigint[]) => Windows} */
function windowsOf(floor, ratio, starts) {
  const extras = floor.map((t) => (t * (ratio - SCALE)) >> 128n);
  const edges = runningSums(extras);
  const width = floor.reduce((left, t) => left - t, WHOLE);
  const latest = edges[edges.length - 1] - width;
  if (width < 0n || latest < 0n) refuse("the floor must sum to at most 2^53, and to it at least times the ratio");
  if (latest + width > MOST_RAISED) refuse("the floor times the ratio must be at most 2^62, got more");
  const k = starts.findIndex((start) => start > latest || BigInt(Number(start)) !== start);
  if (k >= 0) refuse(`starts must be doubles from 0 to ${latest}, got ${starts[k]} at knot ${k}`);
  return { floor, extras, edges, width, starts };
}

/** Zero, and the sums of the first 1, 2, ... of them. @type {(parts: bigint[]) => bigint[]} */
function runningSums(parts) {
  let sum = 0n;
  return [0n, ...parts.map((part) => (sum += part))];
}

/**
 * The least and the largest entry of every output. What its part of the line has in common with a window is least at
 * the first or the last start, and largest at one of the two around where all of the shorter one is in the other.
 * @type {(form: Windows) => [number[], number[]]}
 */
function spansOf({ floor, edges, width, starts }) {
  const sorted = [...starts].sort((a, b) => (a < b ? -1 : Number(a > b)));
  const last = sorted.length - 1;
  /** @type {number[][]} */
  const [smallest, largest] = [[], []];
  floor.forEach((t, j) => {
    const [begin, end] = [edges[j], edges[j + 1]];
    const common = (/** @type {bigint} */ start) => {
      const [left, right] = [start > begin ? start : begin, start + width < end ? start + width : end];
      return right > left ? right - left : 0n;
    };
    const stands = begin > end - width ? begin : end - width;
    const at = lastAtMost(sorted.length, (place) => sorted[place], stands);
    const around = [0, at, Math.min(at + 1, last), last].map((place) => t + common(sorted[place]));
    smallest.push(Number(around.reduce((a, b) => (a < b ? a : b))));
    largest.push(Number(around.reduce((a, b) => (a > b ? a : b))));
  });
  return [smallest, largest];
}

/** Proves as `proveUnbiased` does, by sums of places over the line. @type {(form: Windows, places: bigint[],
 * step: number, knots: number[]) => void} */
function proveFloorUnbiased({ floor, extras, edges, width, starts }, places, step, knots) {
  const sums = runningSums(extras.map((extra, j) => extra * places[j]));
  const base = floor.reduce((sum, t, j) => sum + t * places[j], 0n);
  const until = (/** @type {bigint} */ place) => {
    const j = Math.min(lastAtMost(edges.length, (k) => edges[k], place), places.length - 1);
    return sums[j] + (place - edges[j]) * places[j];
  };
  const unit = inUnits(step);
  const wanted = knots.map((knot) => inUnits(knot) << 53n);
  const domain = wanted[wanted.length - 1] - wanted[0];
  const [first, final] = [-places[0], places[places.length - 1]];
  const farthest = (first > final ? first : final) * unit;
  starts.forEach((start, i) => {
    const bias = (base + until(start + width) - until(start)) * unit - wanted[i];
    const size = bias < 0n ? -bias : bias;
    const fits = size * 10n ** 12n <= domain || size <= farthest << 3n; // 2^53 / 2^50
    if (!fits) refuse(`a table that claims to be unbiased must be so to 1e-12 of its domain, got more at knot ${i}`);
  });
}

/** Sums before an output: of floors, and of what a window has in common with the line.
 * @type {(form: Windows) => Before} */
function beforeIn({ floor, edges, width, starts }) {
  const floors = Float64Array.from(runningSums(floor), Number);
  return (row, j) => {
    const common = edges[j] - starts[row];
    return floors[j] + Number(common < 0n ? 0n : common > width ? width : common);
  };
}

/** Refuses what would take too much memory or time, here or where reports are read: the library's bounds, without its
 * option to allow more. @type {(what: string, size: number, most?: number) => void} */
export function requireModest(what, size, most = MOST_ENTRIES) {
  if (size > most) refuse(`${what} must be at most ${most}, got ${size}: a file may not cost more`);
}

/** @type {(name: string, value: Json, least: bigint, most: bigint) => bigint[]} */
export function asWhole(name, value, least, most) {
  return asList(name, value).map((entry, j) => {
    if (typeof entry === "bigint" && entry >= least && entry <= most) return entry;
    return refuse(`${name} must be whole numbers from ${least} to ${most}, got ${shown(entry)} at place ${j}`);
  });
}

/** @type {(value: Json) => number} */
export function checkedEpsilon(value) {
  const epsilon = asNumber("epsilon", value);
  return epsilon >= MIN_EPSILON && epsilon <= MAX_EPSILON
    ? epsilon : refuse(`epsilon must be in [1e-6, 16], got ${epsilon}`);
}

/**
 * What concerns no one's privacy.
 * @typedef {{ units: string, method: string, version: string, unbiased: boolean, priorSource: string | null }} Around
 * @type {(file: JsonObject, n: number) => Around}
 */
function checkedAround(file, n) {
  const [origin, priorSource] = [checkedProvenance(file.provenance), checkedPrior(file.prior, n)];
  return { units: asText("units", file.units), ...origin, priorSource };
}

/** The checksum of a file, which must be the one that it states. @type {(file: JsonObject) => Promise<string>} */
export async function fittingChecksum(file) {
  const found = await checksumOf(file);
  if (file.checksum !== found) refuse(`checksum must be ${found}, got ${shown(file.checksum)}: the file was altered`);
  return found;
}

/** A table's facts, frozen, with its law kept apart. @type {(facts: ExactTable, law: Law) => ExactTable} */
function readied(facts, law) {
  const { knots, low, high, smallest, largest } = facts;
  [knots, low, high, smallest, largest].forEach((list) => Object.freeze(list));
  const table = Object.freeze(facts);
  laws.set(table, law);
  return table;
}

/** @type {(facts: Pick<ExactTable, "knots" | "low" | "high">, before: Before, refuges: Map<number, number>,
 * tails: Tails | null) => Law} */
function lawOfFacts({ knots, low, high }, before, refuges, tails) {
  return {
    knots: Float64Array.from(knots),
    knotBits: BigInt64Array.from(knots, orderedBits),
    before,
    low: Float64Array.from(low),
    high: Float64Array.from(high),
    top: Float64Array.from(high, (end, j) => (low[j] < end ? nextDouble(end, -1) : end)),
    refuges,
    hasCells: tails === null && low.some((start, j) => start < high[j]),
    tails,
  };
}

/** @type {(table: ExactTable) => Law} */
function lawOf(table) {
  const law = laws.get(table);
  if (law === undefined) throw new TypeError("the table must come from parseTable, got something else");
  return law;
}

/** Random words of 64 bits from WebCrypto; what is left of them is erased by `erase`. */
export class RandomWords {
  /** @param {number} expected How many words will be needed, or fewer. */
  constructor(expected) {
    this.pool = new Uint32Array(2 * Math.min(Math.max(1, expected), LONGEST_POOL));
    this.used = this.pool.length;
  }

  /** The upper bits of the next word, up to 53, as a whole number. @type {(bits: number) => number} */
  take(bits) {
    if (this.used === this.pool.length) {
      crypto.getRandomValues(this.pool);
      this.used = 0;
    }
    this.used += 2;
    return this.pool[this.used - 1] * 2 ** (bits - 32) + (this.pool[this.used - 2] >>> (64 - bits));
  }

  /** All 64 bits of the next word. @type {() => bigint} */
  word() {
    this.take(53);
    return (BigInt(this.pool[this.used - 1]) << 32n) + BigInt(this.pool[this.used - 2]);
  }

  erase() {
    this.pool.fill(0); // whoever has the words of a report can undo its noise
  }
}

/**
 * The last place of so many whose entry is at most `key`, or 0; the number of steps depends on their number alone.
 * @template {number | bigint} T
 * @param {number} length
 * @param {(place: number) => T} entry
 * @param {T} key
 */
export function lastAtMost(length, entry, key) {
  let place = 0;
  for (let step = 2 ** Math.floor(Math.log2(length)); step >= 1; step /= 2) {
    if (place + step < length && entry(place + step) <= key) place += step;
  }
  return place;
}

/** A value's interval, and its right knot's weight in 2^53. @type {(law: Law, value: number) => [number, number]} */
export function placeValue(law, value) {
  const [bits, last] = [orderedBits(Number(value)), law.knots.length - 1];
  if (typeof value !== "number" || bits < law.knotBits[0] || bits > law.knotBits[last]) {
    // the value stays out of the message: messages end up in logs
    throw new RangeError(`the value must be a number from ${law.knots[0]} to ${law.knots[last]}, got another`);
  }
  const k = Math.min(lastAtMost(last + 1, (place) => law.knotBits[place], bits), last - 1);
  const left = law.knots[k];
  return [k, nearest(((value - left) / (law.knots[k + 1] - left)) * DENOMINATOR)];
}

/** The number of the output drawn for a value. @type {(law: Law, value: number, words: RandomWords) => number} */
export function drawOutput(law, value, words) {
  const [k, weight] = placeValue(law, value);
  const row = k + Number(words.take(53) < weight);
  return lastAtMost(law.low.length, (place) => law.before(row, place), words.take(53));
}

/** @type {(law: Law, value: number, words: RandomWords) => number} */
export function draw(law, value, words) {
  const j = drawOutput(law, value, words);
  const [low, high] = [law.low[j], law.high[j]];
  if (law.hasCells) {
    const report = Math.min(low + (high - low) * ((2 * words.take(52) + 1) / DENOMINATOR), law.top[j]);
    return low < high ? law.refuges.get(report) ?? report : report;
  }
  if (law.tails === null || low === high) return low;
  const steps = law.tails.odds.reduce((sum, odds, i) => sum + 2 ** i * Number(words.take(53) < odds), 0);
  return low === -Infinity ? high - steps * law.tails.step : low + steps * law.tails.step;
}

/**
 * Draws one private report for a value in the domain. Every report of the same value spends epsilon again.
 * @type {(table: ExactTable, value: number) => number}
 */
export function perturb(table, value) {
  return perturbMany(table, [value])[0];
}

/**
 * Draws one private report for each value in the domain, which must come in an array or a typed array. Its length and
 * every element are read once; anything that is no number of the domain is refused.
 * @type {(table: ExactTable, values: readonly number[] | NumberArray) => Float64Array}
 */
export function perturbMany(table, values) {
  const law = lawOf(table);
  const listed = Array.isArray(values) || (ArrayBuffer.isView(values) && !(values instanceof DataView));
  if (!listed) throw new TypeError("the values must be an array or a typed array of numbers, got something else");
  const size = values.length;
  if (!Number.isSafeInteger(size)) throw new TypeError("the values must have a whole number as length, got another");
  const reports = new Float64Array(size);
  const words = new RandomWords((law.hasCells ? 3 : 2) * reports.length);
  try {
    for (let i = 0; i < reports.length; i++) reports[i] = draw(law, values[i], words);
    return reports;
  } finally {
    words.erase();
  }
}

/**
 * Draws the number of an output for a value in the domain, from 0: a report as engines count it, and all that estimators
 * use. A number of the same value spends epsilon again, as a report does.
 * @type {(table: ExactTable, value: number) => number}
 */
export function perturbIndex(table, value) {
  const law = lawOf(table);
  const words = new RandomWords(2);
  try {
    return drawOutput(law, value, words);
  } finally {
    words.erase();
  }
}

/**
 * A report as a row to send (docs/report-format.md): the table's identifier, a drawn output, the day in UTC, an id of
 * fresh randomness, and nothing else. A row that is sent again must be the same row.
 * @type {(table: ExactTable, value: number) => { table: string, output: number, day: string, report_id: string }}
 */
export function perturbRow(table, value) {
  const output = perturbIndex(table, value);
  const id = crypto.getRandomValues(new Uint8Array(16));
  return {
    table: `t${table.checksum.slice("sha256:".length, "sha256:".length + 12)}`,
    output,
    day: new Date().toISOString().slice(0, 10),
    report_id: Array.from(id, (byte) => byte.toString(16).padStart(2, "0")).join(""),
  };
}

/**
 * The one spelling of a report, as the library writes it (docs/report-format.md): `4.0`, `0.25`, `1e-07`. A report that
 * some values had spelled otherwise would tell them.
 * @type {(report: number) => string}
 */
export function reportText(report) {
  const size = Math.abs(report);
  if (size === 0 || (size >= 1e-4 && size < 1e16)) return String(report) + (Number.isInteger(report) ? ".0" : "");
  return report.toExponential().replace(/e(?<sign>[+-])(?<digit>\d)$/, "e$<sign>0$<digit>");
}

/**
 * The probability of every output for a value, rounded to doubles: to look at, not to draw from.
 * @type {(table: ExactTable, value: number) => number[]}
 */
export function rowAt(table, value) {
  const law = lawOf(table);
  const [k, weight] = placeValue(law, value);
  const after = (/** @type {number} */ row, /** @type {number} */ j) =>
    j + 1 < table.low.length ? law.before(row, j + 1) : DENOMINATOR;
  return table.low.map((_, j) => {
    const [left, right] = [k, k + 1].map((row) => after(row, j) - law.before(row, j));
    return left / DENOMINATOR + (weight / DENOMINATOR) * ((right - left) / DENOMINATOR);
  });
}
