// @ts-check
/** Answers the vectors of clients/conformance, a line of JSON each: `python -m clients.conformance javascript`. */

import { readFileSync } from "node:fs";
import { parseBundle, reportLine } from "../../examples/browser-client/optldp-bundles.js";
import { BUNDLE, parseTable, perturb, readJson, TableError } from "../../examples/browser-client/optldp-client.js";

/** A generator that has given all its words. */
class Exhausted extends Error {}

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

/** @type {(document: string) => Promise<object>} */
async function verdict(document) {
  try {
    await (isBundle(document) ? parseBundle(document) : parseTable(document));
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

const { subtle } = globalThis.crypto ?? (await import("node:crypto")).webcrypto;
script([]);
for (const line of readFileSync(0, "utf8").split("\n").slice(0, -1)) {
  const { do: task, document, draws } = JSON.parse(line);
  const tasks = { read: () => verdict(document), draw: () => drawn(document, draws) };
  const answer = Object.hasOwn(tasks, task) ? await tasks[task]() : { skipped: `a task unknown to this client: ${task}` };
  process.stdout.write(JSON.stringify(answer) + "\n");
}
