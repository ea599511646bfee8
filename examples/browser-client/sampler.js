// node sampler.js MECHANISM < values > reports: a JSON value a line in, a report a line out, for `optldp audit --sampler`.
import { readFileSync } from "node:fs";
import { parseBundle, reportLine } from "./optldp-bundles.js";
import { parseTable, perturbMany, readJson } from "./optldp-client.js";

const text = readFileSync(process.argv[2], "utf8");
const lines = readFileSync(0, "utf8").split("\n").slice(0, -1);
const { format, kind } = readJson(text);
const write = (reports) => process.stdout.write(reports.map((report) => report + "\n").join(""));
if (format === "optldp-bundle/1" && kind !== "floor") {
  const mechanism = await parseBundle(text);
  write(lines.map((line) => reportLine(mechanism, JSON.parse(line))));
} else {
  const reports = perturbMany(await parseTable(text), lines.map(Number));
  write(Array.from(reports, (report) => (Object.is(report, -0) ? "-0" : String(report))));
}
