// @ts-check
/**
 * Reports of a whole life whose one budget holds for all of a history (docs/bundle-format.md): one sum of it (a bundle of
 * kind `rows`), or signs of its changes (`tree`). State and mark are those of a panel; a state of rows holds values until
 * the report is drawn.
 *
 *     const way = await parseWholeLife(await (await fetch("way.json")).text());
 *     const sent = await reportOfLife(way, { user: "ann", period: 7, value: 42.5, state, mark });
 */

import {
  asList, asNumber, asObject, asWhole, checkedEpsilon, fittingChecksum, FORMAT, RandomWords, refuse,
} from "./optldp-client.js";
import { exactly, readMember } from "./optldp-bundles.js";
import { asCount, proveRatio, randomChoices, uniformBelow } from "./oracles.js";
import { booked, drawnCell, MOST_PERIODS, picked, readSalt, readWayFile, turnWord } from "./panel.js";

/** @import { Json, JsonObject } from "./optldp-client.js" */
/** @import { Placed } from "./optldp-bundles.js" */
/** @import { Store, State } from "./panel.js" */

/**
 * @typedef {object} WholeLife What there is to know about such a way that passed every check.
 * @property {string} kind
 * @property {number} periods
 * @property {number} epsilon What all reports of a user spend together.
 * @property {readonly string[]} columns The columns of a report.
 * @property {string} checksum
 */

/** @typedef {{ step: number, many: number, plus: bigint[] }} Branch Of K signs: weights of 0 to K of them plus. */

/** @typedef {{ placed: Placed<any>, low: number, high: number, salt: Uint8Array, shares: number[], rows: number[][],
 *   branches: Branch[] }} Inside */

/** @typedef {{ kept: State, place: number, period: number, value: any, fresh: boolean }} Asked A place is that of the
 * user's share. */

const KEYS = {
  rows: ["format", "kind", "mechanism", "rows", "shares", "variances", "epsilon", "salt", "stays"],
  tree: ["format", "kind", "table", "periods", "shares", "branches", "variance", "epsilon", "salt"],
};
const MOST_ROWS = 10_000;
const MOST_SIGNS = 32n;
const LARGEST_SHARES = 2n ** 31n - 1n;
const WHOLE = 2n ** 53n;

/** @type {WeakMap<WholeLife, Inside>} */
const insides = new WeakMap();

/**
 * Reads such a way; `TableError`, in one line, for a file that is none, was altered or is not proved to be private.
 * @type {(text: string) => Promise<WholeLife>}
 */
export async function parseWholeLife(text) {
  const { file, members, kind } = readWayFile(text, KEYS);
  const epsilon = checkedEpsilon(members.epsilon);
  const table = readTable(kind === "rows" ? members.mechanism : members.table, epsilon);
  const rows = kind === "rows" ? readRows(members) : [];
  const periods = kind === "rows" ? rows[0].length : asCount("periods", members.periods, 2n, MOST_PERIODS);
  const branches = kind === "tree" ? readBranches(members, periods, epsilon) : [];
  const shares = readShares(members.shares, rows.length + (kind === "tree" ? periods + branches.length : 0));
  const salt = readSalt(members.salt) ?? refuse("the salt must be 32 hexadecimal digits, got none");
  const columns = Object.freeze(["period", kind === "rows" ? "row" : "branch", "report"]);
  const way = /** @type {WholeLife} */ (
    Object.freeze({ kind, periods, epsilon, columns, checksum: await fittingChecksum(file) })
  );
  insides.set(way, { ...table, salt, shares, rows, branches });
  return way;
}

/** @type {(value: Json, epsilon: number) => { placed: Placed<any>, low: number, high: number }} */
function readTable(value, epsilon) {
  const document = asObject("the table", value);
  if (document.format !== FORMAT) refuse("values must be reported through a table of numbers, got another mechanism");
  const placed = readMember(document);
  if (exactly(placed.epsilons[0]) > exactly(epsilon)) {
    refuse(`a report must spend at most ${epsilon}, got ${placed.epsilons[0]}`);
  }
  const knots = /** @type {any[]} */ (document.knots).map(Number);
  return { placed, low: knots[0], high: knots[knots.length - 1] };
}

/** @type {(name: string, value: Json) => number[]} */
const asNumbers = (name, value) => asList(name, value).map((each) => asNumber(`every entry of ${name}`, each));

/** @type {(members: JsonObject) => number[][]} */
function readRows(members) {
  const rows = asList("rows", members.rows).map((row) => asNumbers("a row", row));
  if (rows.length < 1 || rows.length > MOST_ROWS) refuse(`there must be 1 to ${MOST_ROWS} rows, got ${rows.length}`);
  const periods = rows[0].length;
  const fits = rows.every((row) => row.length === periods && row.some((weight) => weight !== 0));
  if (!fits || periods < 2 || periods > MOST_PERIODS) {
    refuse(`rows must have 2 to ${MOST_PERIODS} weights each, of which some are not zero, got others`);
  }
  const variances = asNumbers("variances", members.variances);
  if (variances.length !== rows.length || variances.some((variance) => variance <= 0)) {
    refuse("there must be a positive variance for each row, got others");
  }
  const stays = rows.some((row) => row.reduce((sum, weight) => sum + weight, 0) !== 0);
  if (members.stays !== false && !(members.stays === true && stays)) {
    refuse("stays must be true or false, and true of rows that tell a value that stays, got another");
  }
  return rows;
}

/** @type {(members: JsonObject, periods: number, epsilon: number) => Branch[]} */
function readBranches(members, periods, epsilon) {
  if (asNumber("variance", members.variance) <= 0) refuse("variance must be positive, got another");
  const branches = asList("branches", members.branches).map((each) => {
    const numbers = asWhole("a branch", each, 1n, WHOLE);
    const [step, many, least, high, low] = numbers;
    const fits = numbers.length === 5 && step < periods && least <= many && many <= MOST_SIGNS && low <= high;
    if (!fits) refuse("a branch must be five whole numbers in their ranges, got others");
    proveRatio(high, low, epsilon);
    const plus = [];
    for (let k = 0n, orders = 1n; k <= many; orders = (orders * (many - k)) / (k + 1n), k++) {
      plus.push(orders * (k >= least ? high : low));
    }
    if (plus.reduce((sum, weight) => sum + weight) > WHOLE) refuse("weights of signs must sum to at most 2^53, got more");
    return { step: Number(step), many: Number(many), plus };
  });
  if (new Set(branches.map(({ step }) => step)).size < branches.length) refuse("steps must differ, got one twice");
  return branches;
}

/** @type {(value: Json, many: number) => number[]} */
function readShares(value, many) {
  const shares = asWhole("shares", value, 0n, LARGEST_SHARES);
  const total = shares.reduce((sum, share) => sum + share, 0n);
  if (shares.length !== many || total < 1n || total > LARGEST_SHARES) {
    refuse(`there must be ${many} shares, of a sum below 2^31, got others`);
  }
  return shares.map(Number);
}

/**
 * The report of a user in a period, by the columns that `optldp perturb` writes; null where nothing is to be sent. State
 * and mark are those of `reportInPeriod`, and so are its errors.
 * @type {(way: WholeLife, asked: { user: string, period: number, value: unknown, state: Store, mark?: Store }) =>
 *   Promise<Record<string, string> | null>}
 */
export async function reportOfLife(way, { value, ...asked }) {
  const inside = insides.get(way);
  if (inside === undefined) throw new TypeError("the way must come from parseWholeLife, got something else");
  let place = 0;
  const draw = way.kind === "rows" ? drawnSum : drawnSign;
  const sent = await booked({ ...way, columns: ["period", "report"] }, asked, async (kept, name, fresh) => {
    place = picked(inside.shares, await turnWord(inside.salt, name, 0));
    return draw(inside, way.periods, { kept, place, period: asked.period, value, fresh });
  });
  const beside = way.kind === "rows" ? place : Math.max(place - way.periods + 1, 0);
  return sent && { period: sent.period, [way.columns[1]]: String(beside), report: sent.report };
}

/** Keeps the history; its sum when the last period with a weight ends.
 * @type {(inside: Inside, periods: number, asked: Asked) => string | null} */
function drawnSum({ placed, low, high, rows }, periods, { kept, place, period, value, fresh }) {
  const row = rows[place];
  let end = periods;
  while (row[end - 1] === 0) end--;
  if (period <= end && Object.keys(kept.reports).length === 0) {
    placed.place(value); // raises for what is no value
    kept.values[period] ??= value;
  }
  if (period !== end || !fresh) return null;
  let held = kept.values[Math.min(...Object.keys(kept.values).map(Number))];
  const total = row.reduce((sum, weight, i) => {
    held = kept.values[i + 1] ?? held; // the last one before, or else the next
    return sum + weight * scaled(held, low, high);
  }, 0);
  const told = 0.5 * (low + high) + 0.5 * (high - low) * Math.max(-1, Math.min(1, total));
  const report = drawnCell(placed, placed.place(Math.max(low, Math.min(high, told))));
  kept.values = {};
  return report;
}

/** Draws the signs of who tells changes, if none are lost; the next one when a block ends, or else a value's report.
 * @type {(inside: Inside, periods: number, asked: Asked) => string | null} */
function drawnSign({ placed, low, high, branches }, periods, { kept, place, period, value, fresh }) {
  if (place < periods) return fresh && period === place + 1 ? drawnCell(placed, placed.place(value)) : null;
  const { step, many, plus } = branches[place - periods];
  const words = new RandomWords(1);
  /** @type {(offset: number) => "+" | "-"} */
  const signed = (offset) => {
    placed.place(value); // raises for what is no value
    return scaled(value, low, high) > 2 * offset - 1 ? "+" : "-";
  };
  try {
    if (kept.signs === null && kept.lost === 0) {
      kept.offset = words.take(53) / 2 ** 53;
      kept.signs = drawnSigns(many, plus, words);
      kept.sign = signed(kept.offset);
    }
    const ends = period > 1 && period % step === 0;
    if (!fresh || !ends || kept.lost > 0 || kept.signs === null || kept.offset === null) return null;
    const [now, fair] = [signed(kept.offset), words.word() >> 63n ? "+" : "-"]; // drawn by all, so that time tells nothing
    const changed = now !== kept.sign && kept.told < kept.signs.length;
    const told = now === kept.signs[kept.told] ? "+" : "-"; // the change, plus if it was upwards, times the next sign
    kept.sign = now;
    kept.told += Number(changed);
    return changed ? told : fair;
  } finally {
    words.erase();
  }
}

/** @type {(many: number, weights: bigint[], words: RandomWords) => string} */
function drawnSigns(many, weights, words) {
  const total = weights.reduce((sum, weight) => sum + weight);
  const drawn = BigInt(uniformBelow(Number(total), words));
  let end = 0n;
  const plus = weights.findIndex((weight) => (end += weight) > drawn);
  return randomChoices(many, many, words).map((one) => (one < plus ? "+" : "-")).join("");
}

/** A value of [low, high] moved to [-1, 1]. @type {(value: number, low: number, high: number) => number} */
const scaled = (value, low, high) => (value - 0.5 * (low + high)) / (0.5 * (high - low));
