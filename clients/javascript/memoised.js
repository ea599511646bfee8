// @ts-check
/**
 * Reports of values that are remembered (a bundle of kind `memoised`, docs/bundle-format.md): a device draws a report of
 * each different knot or category once, and sends it again when the value comes back. What it promises is of two histories
 * that change and come back at the same times, and of nothing else (docs/asking-again.md).
 *
 *     const way = await parseMemoised(await (await fetch("way.json")).text());
 *     const sent = await reportRemembered(way, { user: "ann", period: 7, value: 42.5, state, mark });
 */

import { fittingChecksum, FORMAT, RandomWords } from "./optldp-client.js";
import { asCount } from "./oracles.js";
import { booked, drawnCell, readBudget, readWay } from "./panel.js";

/** @import { Store, State } from "./panel.js" */
/** @import { Placed } from "./optldp-bundles.js" */

/**
 * @typedef {object} Memoised What there is to know about such a way that passed every check.
 * @property {number} periods
 * @property {number} values How many different values of a user are drawn for at most.
 * @property {number} epsilon What their draws spend together.
 * @property {readonly string[]} columns The columns of a report.
 * @property {string} checksum
 */

/** @typedef {{ placed: Placed<any>, knots: number[] | null }} Inside Knots where values are numbers. */

const KEYS = ["format", "kind", "mechanism", "periods", "values", "epsilon"];

/** @type {WeakMap<Memoised, Inside>} */
const insides = new WeakMap();

/**
 * Reads such a way; `TableError`, in one line, for a file that is none, was altered or is not proved to be private.
 * @type {(text: string) => Promise<Memoised>}
 */
export async function parseMemoised(text) {
  const { file, members, document, placed, periods } = readWay(text, "memoised", KEYS);
  const values = asCount("values", members.values, 1n, BigInt(periods));
  const epsilon = readBudget(members, placed, values);
  const columns = Object.freeze(["period", ...placed.columns]);
  const way = /** @type {Memoised} */ (
    Object.freeze({ periods, values, epsilon, columns, checksum: await fittingChecksum(file) })
  );
  const knots = document.format === FORMAT ? /** @type {any[]} */ (document.knots).map(Number) : null;
  insides.set(way, { placed, knots });
  return way;
}

/**
 * The report of a user in a period, by the columns that `optldp perturb` writes; null where nothing is to be sent. State
 * and mark are those of `reportInPeriod`, and so are its errors.
 * @type {(way: Memoised, asked: { user: string, period: number, value: unknown, state: Store, mark?: Store }) =>
 *   Promise<Record<string, string> | null>}
 */
export async function reportRemembered(way, { value, ...asked }) {
  const inside = insides.get(way);
  if (inside === undefined) throw new TypeError("the way must come from parseMemoised, got something else");
  return booked(way, asked, async (kept, _, fresh) => (fresh ? remembered(inside, way.values, kept, value) : null));
}

/** @type {(inside: Inside, most: number, kept: State, value: any) => string | null} */
function remembered({ placed, knots }, most, kept, value) {
  const input = placed.place(value); // raises for what is no value
  kept.offset ??= drawnOffset();
  const place = knots === null ? input : roundedTo(knots, Number(value), kept.offset);
  if (!(place in kept.draws) && Object.keys(kept.draws).length < most && !kept.lost) {
    kept.draws[place] = drawnCell(placed, knots === null ? input : placed.place(knots[place]));
  }
  if (place in kept.draws) kept.last = place;
  return kept.last === null ? null : kept.draws[kept.last];
}

/** The knot's number that a value is rounded to. @type {(knots: number[], value: number, offset: number) => number} */
function roundedTo(knots, value, offset) {
  let k = 0;
  while (k < knots.length - 2 && knots[k + 1] <= value) k++;
  return k + Number((value - knots[k]) / (knots[k + 1] - knots[k]) > offset);
}

/** From 0 to 1, by 53 random bits. */
function drawnOffset() {
  const words = new RandomWords(1);
  try {
    return words.take(53) / 2 ** 53;
  } finally {
    words.erase();
  }
}
