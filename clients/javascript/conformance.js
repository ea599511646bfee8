// @ts-check
/** Answers the vectors of clients/conformance, a line of JSON each: `python -m clients.conformance javascript`. */

import { readFileSync } from "node:fs";
import { parseBundle, reportLine } from "./optldp-bundles.js";
import { parseMemoised, reportRemembered } from "./memoised.js";
import { BUNDLE, parseTable, perturb, readJson, TableError } from "./optldp-client.js";
import { parsePanel, reportInPeriod } from "./panel.js";
import { parseWholeLife, reportOfLife } from "./whole-lives.js";

/** A generator that has given all its words. */
class Exhausted extends Error {}

/** What stops a device in the middle. */
class Crash extends Error {}

/** A text of a device, whoever asks for it; it may be told to stop when that is written. */
class Store {
  fails = false;
  constructor(text = null, begins = false) {
    this.text = text;
    this.begins = begins; // whether there may be a first text in spite of that, as of a mark of nothing
  }
  getItem() {
    return this.text;
  }
  setItem(_, text) {
    if (this.fails && !(this.begins && this.text === null)) throw new Crash();
    this.text = text;
  }
}

/** Puts the words in place of WebCrypto's; with none at all the generator fails. @type {(words: string[]) => void} */
function script(words) {
  let next = 0;
  const fill = (/** @type {Uint32Array} */ pool) => {
    if (words.length === 0) throw new Exhausted();
    for (let i = 0; i < pool.length; i += 2, next++) {
      const word = BigInt("0x" + (words[next] ?? "0")); // a pool may be filled beyond what is drawn from it
      pool[i] = Number(word & 0xffffffffn);
      pool[i + 1] = Number(word >> 32n);
    }
    return pool;
  };
  Object.defineProperty(globalThis, "crypto", { configurable: true, value: { subtle, getRandomValues: fill } });
}

/** @type {(document: string) => boolean} */
function isBundle(document) {
  const file = /** @type {any} */ (readJson(document));
  return file?.format === BUNDLE && file.kind !== "floor";
}

/** The way over time in a document, with what reports in one of its periods; null of all other documents.
 * @type {(document: string) => Promise<{ way: any, report: (way: any, asked: any) => Promise<any> } | null>} */
async function wayOf(document) {
  if (!isBundle(document)) return null;
  const { kind } = /** @type {any} */ (readJson(document));
  if (kind === "panel") return { way: await parsePanel(document), report: reportInPeriod };
  if (["rows", "tree"].includes(kind)) return { way: await parseWholeLife(document), report: reportOfLife };
  if (kind === "memoised") return { way: await parseMemoised(document), report: reportRemembered };
  return null;
}

/** @type {(document: string) => Promise<object>} */
async function verdict(document) {
  try {
    (await wayOf(document)) ?? await (isBundle(document) ? parseBundle(document) : parseTable(document));
    return { accepted: true };
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    return { accepted: false, reason: error.message };
  }
}

/** What draws a report of a value. @type {(document: string) => Promise<(value: any) => number | string>} */
async function drawer(document) {
  if (isBundle(document)) {
    const bundle = await parseBundle(document);
    return (value) => reportLine(bundle, value);
  }
  const table = await parseTable(document);
  return (value) => perturb(table, value);
}

/** @type {(document: string, draws: { value: any, words: string[] }[]) => Promise<object>} */
async function drawn(document, draws) {
  const draw = await drawer(document);
  try {
    return { reports: draws.map(({ value, words }) => (script(words), draw(value))) };
  } catch (error) {
    if (!(error instanceof Exhausted)) throw error;
    return { stopped: true };
  }
}

/** Reports in periods, with a state that is kept, put back, lost, or not written.
 * @type {(document: string, user: string, steps: any[]) => Promise<object>} */
async function lived(document, user, steps) {
  const [own, mark] = [/** @type {any} */ (await wayOf(document)), new Store(null, true)];
  let [state, kept] = [new Store(), new Store()];
  const answers = [];
  for (const { period, value, words, first, crash, ...other } of steps) {
    if (first === "keep") kept = new Store(state.text);
    if (first === "restore") state = new Store(kept.text);
    if (first === "lose") state = new Store();
    [state.fails, mark.fails] = [crash === "state", crash === "mark"];
    const { way, report } = other.document === undefined ? own : await wayOf(other.document);
    script(words);
    try {
      const sent = await report(way, { user: other.user ?? user, period, value, state, mark });
      answers.push(crash === "report" ? { crashed: true } : { sent: sent?.report ?? null });
    } catch (error) {
      if (error instanceof Crash) answers.push({ crashed: true });
      else if (error instanceof Exhausted) answers.push({ stopped: true });
      else if (error instanceof TypeError) answers.push({ refused: true });
      else throw error;
    }
  }
  return { answers };
}

const { subtle } = globalThis.crypto ?? (await import("node:crypto")).webcrypto;
script([]);
for (const line of readFileSync(0, "utf8").split("\n").slice(0, -1)) {
  const { do: task, document, draws, user, steps } = JSON.parse(line);
  const tasks = { read: () => verdict(document), draw: () => drawn(document, draws), live: () => lived(document, user, steps) };
  const answer = Object.hasOwn(tasks, task) ? await tasks[task]() : { skipped: `a task unknown to this client: ${task}` };
  process.stdout.write(JSON.stringify(answer) + "\n");
}
