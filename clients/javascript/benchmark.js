// @ts-check
/** How fast the client is, in Node: `node clients/javascript/benchmark.js mech.json`. */

import { readFile } from "node:fs/promises";
import { parseTable, perturb, perturbMany } from "./optldp-client.js";

const text = await readFile(process.argv[2], "utf8");
const started = performance.now();
const table = await parseTable(text);
const read = performance.now() - started;
const value = 0.63 * table.knots[0] + 0.37 * table.knots[table.knots.length - 1];
const many = new Float64Array(1e6).fill(value);

/** Millions of reports in a second, the best of five. @type {(reports: number, task: () => void) => string} */
function rate(reports, task) {
  const times = Array.from({ length: 5 }, () => {
    const before = performance.now();
    task();
    return performance.now() - before;
  });
  return (reports / Math.min(...times) / 1000).toFixed(2);
}

const size = `${table.knots.length} knots, ${table.low.length} outputs, ${text.length} characters`;
const one = () => many.subarray(0, 1e5).forEach((x) => perturb(table, x));
console.log(`Node ${process.version}: ${size}`);
console.log(`read and proved in ${read.toFixed(0)} ms`);
console.log(`perturbMany: ${rate(many.length, () => perturbMany(table, many))} million reports a second`);
console.log(`perturb: ${rate(1e5, one)} million reports a second`);
