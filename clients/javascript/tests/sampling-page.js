// @ts-check
/**
 * Fetches ?table=, perturbs ?value= as often as ?reports= says, and writes the outputs' counts into the page; of a
 * ?bundle= those of every report.
 */

import { parseBundle, reportLine } from "../optldp-bundles.js";
import { parseTable, perturbMany } from "../optldp-client.js";
import { outputIndex } from "../output-index.js";

const asked = new URLSearchParams(location.search);
const [table, bundle, value] = ["table", "bundle", "value"].map((name) => asked.get(name) ?? "");
const reports = Number(asked.get("reports"));
/** @type {(path: string) => Promise<string>} */
const textAt = async (path) => (await fetch(path)).text();

/** @type {() => Promise<number[]>} */
async function countsOfTable() {
  const made = await parseTable(await textAt(table));
  const counts = made.low.map(() => 0);
  const values = new Float64Array(reports).fill(Number(value));
  for (const report of perturbMany(made, values)) counts[outputIndex(made, report)]++;
  return counts;
}

/** @type {() => Promise<Record<string, number>>} */
async function countsOfBundle() {
  const made = await parseBundle(await textAt(bundle));
  const counts = /** @type {Record<string, number>} */ ({});
  for (let i = 0; i < reports; i++) {
    const line = reportLine(made, JSON.parse(value));
    counts[line] = (counts[line] ?? 0) + 1;
  }
  return counts;
}

const counts = bundle === "" ? await countsOfTable() : await countsOfBundle();
const place = /** @type {HTMLElement} */ (document.getElementById("counts"));
place.textContent = JSON.stringify(counts);
