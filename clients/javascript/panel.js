// @ts-check
/**
 * Reports of a user in a rotating panel (a bundle of kind `panel`, docs/bundle-format.md), with a state that a device
 * keeps, so that nothing is drawn twice:
 *
 *     const panel = await parsePanel(await (await fetch("way.json")).text());
 *     const sent = await reportInPeriod(panel, { user: "ann", period: 7, value: 42.5, state: localStorage });
 *     if (sent !== null) send(sent); // { period: "7", report: "41.0" }
 *
 * The report is in the state before it is returned: the same period has the same report again, whatever the value is.
 */

import {
  asList, asNumber, asObject, asText, asWhole, BUNDLE, checkedEpsilon, fittingChecksum, FORMAT, LARGEST_TEXT,
  RandomWords, readJson, refuse, shown,
} from "./optldp-client.js";
import { exactly, readMember } from "./optldp-bundles.js";
import { asCount } from "./oracles.js";

/** @import { Json, JsonObject } from "./optldp-client.js" */
/** @import { Placed } from "./optldp-bundles.js" */

/**
 * @typedef {object} Panel What there is to know about a panel that passed every check.
 * @property {number} periods
 * @property {number} reports Of a user, in all periods or in any `span` in a row.
 * @property {number | null} span
 * @property {number} epsilon What these reports spend together.
 * @property {readonly string[]} columns The columns of a report.
 * @property {string} checksum
 */

/** @typedef {{ salt: Uint8Array | null, shares: number[] | null, placed: Placed<any> }} Inside */

/** @typedef {Pick<Storage, "getItem" | "setItem">} Store Such as `localStorage`. */

/**
 * @typedef {object} State What a device keeps of one panel and one user.
 * @property {string} format
 * @property {string} owner A digest of the way and the user: a state of another one is refused.
 * @property {number} number How often it was written.
 * @property {number} latest The last period that was asked for.
 * @property {number} lost Until this period another copy may have sent reports.
 * @property {number[] | null} turns Where the device drew them.
 * @property {Record<string, string>} reports What was sent, by period.
 * @property {Record<string, string>} draws Of values that are remembered: each one's report by its place.
 * @property {number | null} offset Of rounding to knots, once it is drawn.
 * @property {number | null} last The place that was sent last.
 * @property {string | null} signs Those that were drawn together at first, "+" and "-".
 * @property {string | null} sign The value's own when the last block ended.
 * @property {number} told How many of the signs are used.
 * @property {Record<string, number>} values Of a history until its report is drawn: the value of each period.
 */

const KEYS = ["format", "kind", "mechanism", "periods", "reports", "epsilon", "salt", "shares", "span"];
const STATE = "optldp-periods/1";
const TAG = "optldp-turn/1";
export const MOST_PERIODS = 100_000n;
const LARGEST_TOTAL = 2n ** 31n;
const LONGEST_NAME = 1024; // code points

/** @type {WeakMap<Panel, Inside>} */
const insides = new WeakMap();

/**
 * Reads a panel; `TableError`, in one line, for a file that is none, was altered or is not proved to be private.
 * @type {(text: string) => Promise<Panel>}
 */
export async function parsePanel(text) {
  const { file, members, placed, periods } = readWay(text, "panel", KEYS);
  const span = members.span === null ? null : asCount("the span", members.span, 1n, BigInt(periods));
  const reports = asCount("reports", members.reports, 1n, BigInt(span ?? periods));
  const epsilon = readBudget(members, placed, reports);
  const columns = Object.freeze(["period", ...placed.columns]);
  const panel = /** @type {Panel} */ (
    Object.freeze({ periods, reports, span, epsilon, columns, checksum: await fittingChecksum(file) })
  );
  insides.set(panel, { placed, salt: readSalt(members.salt), shares: readShares(members, periods, reports) });
  return panel;
}

/**
 * What ways over time have in common.
 * @type {(text: string, kind: string, keys: string[]) =>
 *   { file: JsonObject, members: JsonObject, document: JsonObject, placed: Placed<any>, periods: number }}
 */
export function readWay(text, kind, keys) {
  const { file, members } = readWayFile(text, { [kind]: keys });
  const document = asObject("the mechanism", members.mechanism);
  const placed = readMember(document);
  if (placed.epsilons.length > 1 || document.format !== FORMAT && placed.columns[0] !== "report") {
    refuse(`a ${kind} is of a table of numbers or a mechanism for categories, got another`);
  }
  return { file, members, document, placed, periods: asCount("periods", members.periods, 2n, MOST_PERIODS) };
}

/** The file of a way of one of some kinds, with the members that it has but its checksum.
 * @type {(text: string, keys: Record<string, string[]>) => { file: JsonObject, members: JsonObject, kind: string }} */
export function readWayFile(text, keys) {
  if (text.length > LARGEST_TEXT) refuse(`a bundle must be at most ${LARGEST_TEXT} characters, got ${text.length}`);
  const file = asObject("the file", readJson(text));
  const kind = typeof file.kind === "string" && Object.hasOwn(keys, file.kind) ? file.kind : null;
  if (file.format !== BUNDLE || kind === null) {
    return refuse(`kind must be ${Object.keys(keys).join(" or ")}, got ${shown(file.kind ?? null)}`);
  }
  const { checksum: _, ...members } = file;
  asObject("the way", members, keys[kind]);
  return { file, members, kind };
}

/** The budget of a way, which so many draws keep. @type {(members: JsonObject, placed: Placed<any>, many: number) =>
 * number} */
export function readBudget(members, placed, many) {
  const epsilon = checkedEpsilon(members.epsilon);
  if (exactly(placed.epsilons[0]) * BigInt(many) > exactly(epsilon)) {
    refuse(`${many} draws of a user must spend at most ${epsilon}, got ${placed.epsilons[0]} each`);
  }
  return epsilon;
}

/** @type {(salt: Json) => Uint8Array | null} */
export function readSalt(salt) {
  if (salt === null) return null;
  const digits = asText("the salt", salt);
  if (!/^[0-9a-f]{32}$/.test(digits)) refuse(`the salt must be 32 hexadecimal digits, got ${shown(digits)}`);
  return Uint8Array.from({ length: 16 }, (_, i) => parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

/** @type {(members: JsonObject, periods: number, reports: number) => number[] | null} */
function readShares({ shares, span }, periods, reports) {
  if (shares === null) return null;
  const whole = asWhole("shares", shares, 0n, LARGEST_TOTAL);
  const total = whole.reduce((sum, share) => sum + share, 0n);
  const fits = whole.length === periods && reports === 1 && span === null && total > 0n && total < LARGEST_TOTAL;
  if (!fits) refuse(`there must be a share for each of ${periods} periods of one report, of a sum below 2^31, got others`);
  return whole.map(Number);
}

/** @type {(bytes: Uint8Array) => Uint8Array} */
function framed(bytes) {
  const whole = new Uint8Array(8 + bytes.length);
  new DataView(whole.buffer).setBigUint64(0, BigInt(bytes.length), true);
  whole.set(bytes, 8);
  return whole;
}

/** The SHA-256 of parts, each with its length before it. @type {(parts: Uint8Array[]) => Promise<Uint8Array>} */
async function digest(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + 8 + part.length, 0));
  let at = 0;
  for (const part of parts.map(framed)) {
    whole.set(part, at);
    at += part.length;
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", whole));
}

/** Word `number` of a user, as docs/bundle-format.md says. @type {(salt: Uint8Array, user: string, number: number) =>
 * Promise<bigint>} */
export async function turnWord(salt, user, number) {
  const text = new TextEncoder();
  const last = new Uint8Array(8);
  new DataView(last.buffer).setBigUint64(0, BigInt(number), true);
  const made = await digest([text.encode(TAG), salt, text.encode(user), last]);
  return new DataView(made.buffer).getBigUint64(0, true);
}

/** The place of so many that a word picks. @type {(word: bigint, many: number) => number} */
const placeOf = (word, many) => Number((word * BigInt(many)) >> 64n);

/** The place that a word picks by shares. @type {(shares: number[], word: bigint) => number} */
export function picked(shares, word) {
  const chosen = placeOf(word, shares.reduce((sum, share) => sum + share, 0));
  let end = 0;
  return shares.findIndex((share) => (end += share) > chosen);
}

/** The turns of words, from 1 on and rising. @type {(panel: Panel, shares: number[] | null, word: (number: number) =>
 * Promise<bigint>) => Promise<number[]>} */
async function turnsBy(panel, shares, word) {
  if (shares !== null) return [1 + picked(shares, await word(0))];
  const chosen = /** @type {Set<number>} */ (new Set());
  for (let number = 0; number < panel.reports; number++) {
    const last = (panel.span ?? panel.periods) - panel.reports + number + 1;
    const drawn = 1 + placeOf(await word(number), last);
    chosen.add(chosen.has(drawn) ? last : drawn);
  }
  return [...chosen].sort((x, y) => x - y);
}

/** A user's name as every client writes it. @type {(user: unknown) => string} */
function userName(user) {
  const name = typeof user === "string" ? user.normalize("NFC") : "";
  const length = typeof user === "string" ? [...user].length : 0;
  if (length < 1 || length > LONGEST_NAME || /\p{Surrogate}/u.test(name)) {
    throw new TypeError(`the user must be text of 1 to ${LONGEST_NAME} characters, got something else`);
  }
  return name;
}

/**
 * The turns of a user, which follow from the name; `TypeError` where devices draw them.
 * @type {(panel: Panel, user: string) => Promise<number[]>}
 */
export async function turnsOf(panel, user) {
  const { salt, shares } = insideOf(panel);
  if (salt === null) throw new TypeError("periods of this panel are drawn by devices, got a name");
  const name = userName(user);
  return turnsBy(panel, shares, (number) => turnWord(salt, name, number));
}

/** @type {(panel: Panel) => Inside} */
function insideOf(panel) {
  const inside = insides.get(panel);
  if (inside === undefined) throw new TypeError("the panel must come from parsePanel, got something else");
  return inside;
}

/**
 * The report of a user in a period, by the columns that `optldp perturb` writes; null where nothing is to be sent: out of
 * turn, in a period that had ended before a later one was asked for, or where a lost state may have sent it already.
 *
 * `state` is where the device keeps what it sent, such as `localStorage`, and `mark`, if given, another such place, which
 * is not restored or lost together with it: a state that is missing or behind its mark counts as spent until there.
 *
 * `RangeError` or `TypeError` for a value, a period or a user that is none, and for a state that was altered.
 * @type {(panel: Panel, asked: { user: string, period: number, value: unknown, state: Store, mark?: Store }) =>
 *   Promise<Record<string, string> | null>}
 */
export async function reportInPeriod(panel, { user, period, value, state, mark }) {
  const { placed, salt } = insideOf(panel);
  return booked(panel, { user, period, state, mark }, async (kept, name, fresh) => {
    if (salt === null) kept.turns ??= kept.lost ? [] : await drawnTurns(panel);
    const turns = kept.turns ?? (await turnsOf(panel, name));
    const mine = turns.includes(((period - 1) % (panel.span ?? panel.periods)) + 1);
    return mine && fresh ? drawnCell(placed, placed.place(value)) : null;
  });
}

/** A new report. @type {(placed: Placed<any>, input: any) => string} */
export function drawnCell(placed, input) {
  const words = new RandomWords(16);
  try {
    return placed.draw(input, words)[0];
  } finally {
    words.erase();
  }
}

/**
 * The report of a period, which is in the state before it is returned. `draw` gets the state, the user's name, and whether
 * anything may be drawn in this period; it returns a report, or null for none.
 * @type {(way: { periods: number, checksum: string, columns: readonly string[] }, asked: { user: string, period: number,
 *   state: Store, mark?: Store }, draw: (kept: State, name: string, fresh: boolean) => Promise<string | null>) =>
 *   Promise<Record<string, string> | null>}
 */
export async function booked(way, { user, period, state, mark }, draw) {
  const name = userName(user);
  const known = Number.isInteger(period) && period >= 1 && period <= way.periods;
  if (!known) throw new RangeError(`the period must be a whole number from 1 to ${way.periods}, got another`);
  const key = `optldp-panel ${way.checksum} ${name}`;
  const text = new TextEncoder();
  const owner = hexOf(await digest([text.encode(way.checksum), text.encode(name)]));
  return alone(key, async () => {
    const kept = readState(state.getItem(key), owner) ?? newState(owner);
    const further = mark?.getItem(key) ?? null;
    if (further !== null) behindMark(kept, further);
    else if (kept.number > 0 && mark) kept.lost = Math.max(kept.lost, period); // the mark was lost, so may have been more
    if (further === null) mark?.setItem(key, markOf(kept));
    const fresh = !(period in kept.reports) && period >= kept.latest && period > kept.lost;
    const drawn = await draw(kept, name, fresh);
    if (drawn !== null) kept.reports[period] = drawn;
    kept.latest = Math.max(kept.latest, period);
    kept.number += 1;
    state.setItem(key, JSON.stringify(kept)); // before the mark, and the mark before the report leaves
    mark?.setItem(key, markOf(kept));
    const report = kept.reports[period];
    return report === undefined ? null : { [way.columns[0]]: String(period), [way.columns[1]]: report };
  });
}

/** @type {Map<string, Promise<unknown>>} */
const running = new Map();

/** Runs one at a time: of all tabs where there are locks, elsewhere of this script. @template T
 * @param {string} key @param {() => Promise<T>} run @returns {Promise<T>} */
async function alone(key, run) {
  const locks = globalThis.navigator?.locks;
  if (locks !== undefined) return await locks.request(key, run);
  const mine = (running.get(key) ?? Promise.resolve()).then(run, run);
  running.set(key, mine);
  return mine;
}

/** @type {(bytes: Uint8Array) => string} */
const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @type {(owner: string) => State} */
const newState = (owner) => ({
  format: STATE, owner, number: 0, latest: 0, lost: 0, turns: null, reports: {}, draws: {}, offset: null, last: null,
  signs: null, sign: null, told: 0, values: {},
});

/** @type {(count: unknown) => boolean} */
const isCount = (count) => Number.isSafeInteger(count) && /** @type {number} */ (count) >= 0;

/** A state of a way and a user, none of any other. @type {(text: string | null, owner: string) => State | null} */
function readState(text, owner) {
  if (text === null) return null;
  try {
    const kept = JSON.parse(text);
    const { turns, reports, draws, offset, last, signs, sign, values } = kept;
    const fits = [
      Object.keys(kept).sort().join() === Object.keys(newState(owner)).sort().join(),
      kept.format === STATE && kept.owner === owner,
      [kept.number, kept.latest, kept.lost, kept.told].every(isCount),
      turns === null || Array.isArray(turns) && turns.every(isCount),
      [reports, draws].every((sent) => Object.entries(sent).every(([place, report]) =>
        /^[0-9]+$/.test(place) && typeof report === "string")),
      offset === null || typeof offset === "number" && offset >= 0 && offset < 1,
      last === null || Object.hasOwn(draws, last),
      (signs === null) === (sign === null) && (signs === null || offset !== null && /^[+-]+$/.test(signs)),
      [null, "+", "-"].includes(sign),
      Object.entries(values).every(([period, value]) => /^[0-9]+$/.test(period) && typeof value === "number"),
    ];
    if (fits.every(Boolean)) return kept;
  } catch {
    // refused below
  }
  throw new TypeError("the state must be this user's of this way, as it was left, got another");
}

/** @type {(kept: State) => string} */
const markOf = ({ number, latest }) => JSON.stringify({ number, latest });

/** Counts as spent what a copy that was further may have sent. @type {(kept: State, text: string) => void} */
function behindMark(kept, text) {
  const further = /^\{"number":([0-9]{1,15}),"latest":([0-9]{1,15})\}$/.exec(text);
  if (further === null) throw new TypeError("the mark must be as it was left, got another");
  const [number, latest] = further.slice(1).map(Number);
  if (number <= kept.number) return;
  [kept.number, kept.latest, kept.lost] = [number, Math.max(kept.latest, latest), Math.max(kept.lost, latest)];
}

/** @type {(panel: Panel) => Promise<number[]>} */
async function drawnTurns(panel) {
  const words = new RandomWords(panel.reports);
  try {
    return await turnsBy(panel, insideOf(panel).shares, async () => words.word());
  } finally {
    words.erase();
  }
}
