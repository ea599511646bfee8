// @ts-check
/**
 * Perturbs what is more than one number by an optldp bundle (`optldp-bundle/1`, docs/bundle-format.md): categories, pairs
 * of a key and a number, several attributes, and all of these at levels of privacy that users choose.
 *
 *     const mechanism = await parseBundle(await (await fetch("mech.json")).text());
 *     send(perturbBundle(mechanism, "nurse"));
 *
 * A bundle is trusted only after its checksum fits and whole numbers have proved it private. Reports are drawn from
 * random words of WebCrypto by comparing whole numbers.
 */

import {
  asList, asNumber, asObject, asText, BUNDLE, checkedEpsilon, checkedProvenance, draw, fittingChecksum, FORMAT,
  LARGEST_TEXT, placeValue, RandomWords, readJson, readTable, refuse, reportText, requireModest, shown,
} from "./optldp-client.js";
import { asCount, numberOf, ORACLES, randomChoices, randomisedResponse, textOf } from "./oracles.js";
import { PAIR_KEYS, readPairs } from "./pairs.js";

/** @import { Json, JsonObject } from "./optldp-client.js" */
/** @import { Oracle } from "./oracles.js" */

/**
 * How a mechanism takes values and draws; a value is placed, and refused, before a random word is looked at.
 * @template T
 * @typedef {object} Placed
 * @property {number[]} epsilons The budget; of levels, each one's.
 * @property {string[]} columns What a file calls the cells of a report.
 * @property {string} nature What the mechanisms of several levels must have in common.
 * @property {(value: any) => T} place
 * @property {(placed: T, words: RandomWords) => string[]} draw The cells of a report.
 * @property {number[]} [rising] The budgets of single attributes, which rise from level to level, too.
 * @property {number} places What is counted of values beside a report of a level: categories, outputs, those of keys.
 * @property {(cells: string[]) => string[]} [told] The cells as a file holds them, where that differs.
 */

/**
 * @typedef {object} Mechanism What there is to know about a bundle that passed every check.
 * @property {string} kind
 * @property {readonly number[]} epsilons The budgets of the levels that users choose from; one where there are none.
 * @property {readonly string[]} columns The columns of a report.
 * @property {string} checksum
 */

const MOST_NAMED = 2 ** 27; // categories times the characters of the longest
const MOST_ATTRIBUTES = 256;
const MOST_CATEGORIES = 2 ** 20;
const MOST_LEVELS = 256;
const MOST_LEVEL_REPORTS = 4096;
const LEVEL = "level";

/** @type {WeakMap<Mechanism, Placed<any>>} */
const drawn = new WeakMap();

/** @type {Record<string, (members: JsonObject, kind: string) => Placed<any>>} */
const KINDS = {
  ...Object.fromEntries(Object.keys(ORACLES).map((kind) => [kind, readCategories])),
  "key-value-unary": readKeys,
  "key-value-response": readKeys,
  attributes: readAttributes,
  personalised: readLevels,
  "personalised-pairs": readLevels,
  "personalised-attributes": readLevels,
};

/** What may be a level of each kind of levels; "number" is a table. @type {Record<string, string[]>} */
const LEVELS_OF = {
  personalised: ["number", ...Object.keys(ORACLES)],
  "personalised-pairs": ["key-value-unary", "key-value-response"],
  "personalised-attributes": ["attributes"],
};

/**
 * Reads a bundle; `TableError`, in one line, for a file that is none, was altered or is not proved to be private.
 * @type {(text: string) => Promise<Mechanism>}
 */
export async function parseBundle(text) {
  if (text.length > LARGEST_TEXT) refuse(`a bundle must be at most ${LARGEST_TEXT} characters, got ${text.length}`);
  const file = asObject("the file", readJson(text));
  if (file.format !== BUNDLE) refuse(`format must be "${BUNDLE}", got ${shown(file.format)}`);
  const { checksum: _, ...members } = file;
  const placed = readMember(members); // no table, by its format
  const [epsilons, columns] = [placed.epsilons, placed.columns].map((list) => Object.freeze([...list]));
  const facts = { kind: kindOf(file), epsilons, columns, checksum: await fittingChecksum(file) };
  const mechanism = /** @type {Mechanism} */ (Object.freeze(facts));
  drawn.set(mechanism, placed);
  return mechanism;
}

/** A mechanism inside another: a table, or a bundle of a kind that is here. @type {(members: JsonObject) =>
 * Placed<any>} */
export function readMember(members) {
  if (members.format === FORMAT) return placedNumbers(members);
  if (members.format !== BUNDLE) refuse(`format must be "${BUNDLE}", got ${shown(members.format)}`);
  const kind = kindOf(members);
  if (!Object.hasOwn(KINDS, kind)) {
    refuse(
      `kind must be one of ${Object.keys(KINDS)}, got ${shown(members.kind)}: design one of these, or draw by optldp ` +
        "perturb",
    );
  }
  return KINDS[kind](members, kind);
}

/** The kind that a document names; no kind's name where it is no text. @type {(document: JsonObject) => string} */
const kindOf = ({ kind }) => (typeof kind === "string" ? kind : "");

/** @type {(name: string, value: Json) => string[]} */
function asLabels(name, value) {
  const labels = asList(name, value).map((label) => asText(`every one of ${name}`, label));
  const some = labels.length >= 2 && labels.length <= MOST_CATEGORIES;
  if (!some) refuse(`${name} must be 2 to ${MOST_CATEGORIES}, got ${labels.length}`);
  const longest = labels.reduce((most, label) => Math.max(most, [...label].length), 0);
  requireModest(`${name} times the characters of the longest`, labels.length * longest, MOST_NAMED);
  const bad = labels.find((label) => label === "" || label.includes("\0"));
  if (bad !== undefined) refuse(`${name} must be neither empty nor hold the character NUL, got ${shown(bad)}`);
  if (new Set(labels).size < labels.length) refuse(`${name} must differ, got one twice`);
  return labels;
}

/** @type {(members: JsonObject, kind: string) => { labels: string[], epsilon: number, oracle: Oracle }} */
function readOracle(members, kind) {
  const { keys, read } = ORACLES[kind];
  asObject("the mechanism", members, ["format", "kind", "categories", "epsilon", "provenance", ...keys]);
  const [labels, epsilon] = [asLabels("categories", members.categories), checkedEpsilon(members.epsilon)];
  checkedProvenance(members.provenance);
  return { labels, epsilon, oracle: read(members, labels.length, epsilon) };
}

/** A value is a category's name. @type {(members: JsonObject, kind: string) => Placed<number>} */
function readCategories(members, kind) {
  const { labels, epsilon, oracle } = readOracle(members, kind);
  const codes = new Map(labels.map((label, code) => [label, code]));
  return {
    epsilons: [epsilon],
    columns: ["report"],
    nature: JSON.stringify([kind, labels, oracle.reports]),
    places: labels.length,
    place(value) {
      const code = codes.get(value);
      if (code === undefined) throw new RangeError(`the value must be one of the ${labels.length} categories, got another`);
      return code;
    },
    draw: (code, words) => [textOf(oracle.draw(code, words))],
  };
}

/** A value is a list of pairs, each a list of a key and a number. @type {(members: JsonObject, kind: string) =>
 * Placed<any>} */
function readKeys(members, kind) {
  asObject("the mechanism", members, ["format", "kind", ...PAIR_KEYS]);
  return readPairs(members, kind === "key-value-unary", asLabels("keys", members.keys), readNumbers(members.value));
}

/** @type {(document: Json) => import("./optldp-client.js").ReadTable} */
function readNumbers(document) {
  const file = asObject("a table", document);
  if (file.format !== FORMAT) refuse(`a table must have the format "${FORMAT}", got ${shown(file.format)}`);
  return readTable(file);
}

/** A level of numbers; what it draws is the very double. @type {(document: Json) => Placed<number>} */
function placedNumbers(document) {
  const { facts, law } = readNumbers(document);
  const ends = [facts.knots[0], facts.knots[facts.knots.length - 1]].map((end) => end + 0);
  return {
    epsilons: [facts.epsilon],
    columns: ["report"],
    nature: JSON.stringify(["number", ends, facts.units]),
    places: facts.low.length,
    place(value) {
      placeValue(law, value);
      return value;
    },
    draw: (value, words) => [reportText(draw(law, value, words))],
  };
}

/** A value is a list of one number for each attribute. @type {(members: JsonObject) => Placed<number[]>} */
function readAttributes(members) {
  asObject("the mechanism", members, ["format", "kind", "attributes", "mechanisms", "sampled", "epsilon"]);
  const names = asList("attributes", members.attributes).map((name) => asText("every name of an attribute", name));
  requireModest("attributes", names.length, MOST_ATTRIBUTES);
  const tables = asList("mechanisms", members.mechanisms).map(placedNumbers);
  const fits = names.length > 0 && names.length === tables.length && !names.includes("");
  if (!fits) refuse(`every attribute needs a name and one table, got ${tables.length} for ${names.length}`);
  if (new Set(names).size < names.length) refuse("attributes must differ, got one twice");
  const [epsilon, many] = [checkedEpsilon(members.epsilon), names.length];
  const sampled = asCount("sampled", members.sampled, 1n, BigInt(many));
  const spent = tables.map((table) => exactly(table.epsilons[0])).sort((x, y) => (x < y ? 1 : -1));
  const sum = spent.slice(0, sampled).reduce((total, each) => total + each, 0n);
  if (sum > exactly(epsilon)) refuse(`the epsilons of any ${sampled} attributes must sum to at most ${epsilon}`);
  return {
    epsilons: [epsilon],
    columns: names,
    nature: JSON.stringify([names, sampled, tables.map((table) => table.nature)]),
    places: tables.reduce((sum, table) => sum + table.places, 0),
    rising: tables.map((table) => table.epsilons[0]),
    place(values) {
      const listed = Array.isArray(values) && values.length === many;
      if (!listed) throw new TypeError(`the values must be a list of ${many} numbers, got something else`);
      return values.map((value, i) => tables[i].place(value));
    },
    draw(values, words) {
      const chosen = new Set(randomChoices(many, sampled, words));
      return values.map((value, i) => (chosen.has(i) ? tables[i].draw(value, words)[0] : ""));
    },
  };
}

/** A double as a whole number of 2^-80, which budgets from 1e-6 to 16 are. @type {(x: number) => bigint} */
export const exactly = (x) => BigInt(x * 2 ** 80);

/** A value is a list of a value as the level takes it and the level's number, from 0, the most private.
 * @type {(members: JsonObject, kind: string) => Placed<{ level: number, value: any }>} */
function readLevels(members, kind) {
  const { level_mechanism: protocol, ...others } = members;
  asObject("the mechanism", others, ["format", "kind", "levels", "level_epsilon"]);
  const levels = asList("levels", members.levels).map((document) => {
    const level = asObject("a level", document);
    const name = level.format === FORMAT ? "number" : kindOf(level);
    if (!LEVELS_OF[kind].includes(name)) refuse(`a level must be one of ${LEVELS_OF[kind]}, got ${shown(level.kind ?? null)}`);
    return readMember(level);
  });
  const some = levels.length >= 2 && levels.length <= MOST_LEVELS;
  if (!some) refuse(`there must be 2 to ${MOST_LEVELS} levels, got ${levels.length}`);
  levels.forEach((level, i) => {
    const [before, now] = [levels[i - 1] ?? { nature: level.nature, epsilons: [] }, risingOf(level)];
    if (level.nature !== before.nature) refuse(`levels must match, got others at level ${i}`);
    const rises = i === 0 || now.every((epsilon, k) => epsilon > risingOf(levels[i - 1])[k]);
    if (!rises) refuse(`levels must have rising budgets, got others at level ${i}`);
  });
  if (levels[0].columns.includes(LEVEL)) refuse(`an attribute must not be named "${LEVEL}"`);
  const budgets = levels.map((level) => level.epsilons[0]);
  const oracle = levelOracle(members, protocol, levels.length);
  // outputs of numbers are each level's own, categories and keys those of all
  const own = levels[0].rising !== undefined || levels[0].nature.startsWith('["number"');
  const places = own ? levels.reduce((sum, level) => sum + level.places, 0) : levels[0].places;
  requireModest("reports of levels times what is counted beside each", (oracle?.many ?? levels.length) * places);
  return {
    epsilons: budgets,
    columns: [LEVEL, ...levels[0].columns],
    nature: "",
    places,
    place(given) {
      const listed = Array.isArray(given) && given.length === 2;
      if (!listed) throw new TypeError("the value must be a list of a value and a level's number, got something else");
      const [value, level] = given;
      const known = Number.isInteger(level) && level >= 0 && level < levels.length;
      if (!known) throw new RangeError(`the level must be a number from 0 to ${levels.length - 1}, got another`);
      return { level, value: levels[level].place(value) };
    },
    draw({ level, value }, words) {
      const cells = levels[level].draw(value, words);
      return [String(oracle === null ? level : numberOf(oracle, oracle.draw(level, words))), ...cells];
    },
    told: (cells) => (protocol === undefined ? [reportText(budgets[Number(cells[0])]), ...cells.slice(1)] : cells),
  };
}

/** The budgets that must rise from level to level: the whole one and, of attributes, each one's.
 * @type {(level: Placed<any>) => number[]} */
const risingOf = (level) => [...level.epsilons, ...(level.rising ?? [])];

/** How the level is reported; null: in the clear. @type {(members: JsonObject, protocol: Json | undefined, many: number)
 * => Oracle | null} */
function levelOracle(members, protocol, many) {
  if (protocol === undefined) {
    return members.level_epsilon === null ? null : randomisedResponse(many, checkedEpsilon(members.level_epsilon));
  }
  const document = asObject("level_mechanism", protocol);
  const fits = document.format === BUNDLE && Object.hasOwn(ORACLES, kindOf(document));
  if (!fits) refuse(`level_mechanism must be a bundle for categories, got ${shown(document.kind)}`);
  const { labels, epsilon, oracle } = readOracle(document, kindOf(document));
  const told = asNumber("level_epsilon", members.level_epsilon) === epsilon && labels.length === many;
  if (!told) refuse(`level_mechanism must have ${many} categories and the budget level_epsilon, got another`);
  if (oracle.many > MOST_LEVEL_REPORTS) refuse(`there must be at most ${MOST_LEVEL_REPORTS} reports of a level`);
  return oracle;
}

/** @type {(mechanism: Mechanism) => Placed<any>} */
function placedOf(mechanism) {
  const placed = drawn.get(mechanism);
  if (placed === undefined) throw new TypeError("the mechanism must come from parseBundle, got something else");
  return placed;
}

/** @type {(mechanism: Mechanism, value: unknown) => string[]} */
function cellsOf(mechanism, value) {
  const placed = placedOf(mechanism);
  const input = placed.place(value);
  const words = new RandomWords(16);
  try {
    return placed.draw(input, words);
  } finally {
    words.erase();
  }
}

/**
 * Draws one private report and returns it by the columns that `optldp perturb` writes. Every report of the same value
 * spends epsilon again. `RangeError` or `TypeError` for what is no value of the mechanism; no message repeats it.
 * @type {(mechanism: Mechanism, value: unknown) => Record<string, string>}
 */
export function perturbBundle(mechanism, value) {
  const [placed, cells] = [placedOf(mechanism), cellsOf(mechanism, value)];
  return Object.fromEntries((placed.told?.(cells) ?? cells).map((cell, i) => [placed.columns[i], cell]));
}

/**
 * The same as a line for `optldp audit --sampler`, which numbers levels from 0.
 * @type {(mechanism: Mechanism, value: unknown) => string}
 */
export function reportLine(mechanism, value) {
  return cellsOf(mechanism, value).join(",");
}
