// node sampler.js MECHANISM < values > reports: a JSON value a line in, a report a line out, for `optldp audit --sampler`.
import { readFileSync } from "node:fs";
import { parseBundle, reportLine } from "./optldp-bundles.js";
import { parseTable, perturbMany, readJson, reportText } from "./optldp-client.js";

const text = readFileSync(process.argv[2], "utf8");
const lines = readFileSync(0, "utf8").split("\n").slice(0, -1);
const { format, kind } = readJson(text);
const write = (reports) => process.stdout.write(reports.map((report) => report + "\n").join(""));
if (format === "optldp-bundle/1" && kind !== "floor") {
  const mechanism = await parseBundle(text);
  write(lines.map((line) => reportLine(mechanism, JSON.parse(line))));
} else {
  const table = await parseTable(text);
  const [first, last] = [table.knots[0], table.knots[table.knots.length - 1]];
  const values = lines.map((line) => Math.min(Math.max(Number(line), first), last)); // as whoever deploys it must
  write(Array.from(perturbMany(table, values), reportText));
}
