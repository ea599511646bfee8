// node sampler.js TABLE < values > reports: a value a line in, a report a line out, for `optldp audit --sampler`.
import { readFileSync } from "node:fs";
import { parseTable, perturbMany } from "./optldp-client.js";

const table = await parseTable(readFileSync(process.argv[2], "utf8"));
const values = readFileSync(0, "utf8").split("\n").slice(0, -1).map(Number);
const reports = Array.from(perturbMany(table, values), (report) => (Object.is(report, -0) ? "-0" : String(report)));
process.stdout.write(reports.map((report) => report + "\n").join(""));
