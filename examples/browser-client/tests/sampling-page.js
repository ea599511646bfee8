// @ts-check
/** Fetches ?table=, perturbs ?value= as often as ?reports= says, and writes the outputs' counts into the page. */

import { parseTable, perturbMany } from "../optldp-client.js";
import { outputIndex } from "../output-index.js";

const asked = new URLSearchParams(location.search);
const table = await parseTable(await (await fetch(asked.get("table") ?? "")).text());
const values = new Float64Array(Number(asked.get("reports"))).fill(Number(asked.get("value")));
const counts = table.low.map(() => 0);
for (const report of perturbMany(table, values)) counts[outputIndex(table, report)]++;
const place = /** @type {HTMLElement} */ (document.getElementById("counts"));
place.textContent = JSON.stringify(counts);
