// @ts-check
/** The page that a person can look at: a table's facts, the row of a value, a report drawn from it. Sends nothing. */

import { parseTable, perturb, rowAt, TableError } from "../../clients/javascript/optldp-client.js";
import { outputIndex } from "../../clients/javascript/output-index.js";
import { drawRow, outputAt } from "./row-chart.js";

/** @import { ExactTable } from "../../clients/javascript/optldp-client.js" */

/** @template {HTMLElement} [T=HTMLElement] @type {(id: string) => any} */
const byId = (id) => document.getElementById(id);
const numbers = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 6 });
const status = byId("table-status");
const field = byId("value");
const slider = byId("slider");
const chart = byId("chart");

/** What the page shows: a table, where a value is put, and the report drawn of it. */
const shown = {
  table: /** @type {ExactTable | null} */ (null),
  value: NaN,
  drawn: /** @type {number | null} */ (null),
  pointed: /** @type {number | null} */ (null),
};

/** What an output is called. @type {(table: ExactTable, j: number) => string} */
function outputName({ low, high }, j) {
  if (low[j] === -Infinity) return `≤ ${numbers.format(high[j])}`;
  if (high[j] === Infinity) return `≥ ${numbers.format(low[j])}`;
  return low[j] === high[j] ? numbers.format(low[j]) : `${numbers.format(low[j])} … ${numbers.format(high[j])}`;
}

/** The facts of a table, as terms and what is to be said of them. @type {(table: ExactTable) => [string, string][]} */
function factsOf(table) {
  const { knots, low, tightest: j, units } = table;
  const [ratio, limit] = [table.largest[j] / table.smallest[j], Number(table.limit) / 2 ** 128];
  return [
    ["Values", `${numbers.format(knots[0])} to ${numbers.format(knots[knots.length - 1])} ${units}`],
    ["Budget", `ε = ${numbers.format(table.epsilon)}`],
    ["Largest ratio, proved", `${ratio.toFixed(6)} ≤ e^ε = ${limit.toFixed(6)}`],
    ["Size", `${knots.length} knots, ${low.length} outputs`],
    ["Average of reports", table.unbiased ? "the value itself, proved" : "biased, or not claimed"],
    ["Made by", `${table.method}, optldp ${table.version}`],
    ["Prior in the file", table.priorSource ?? "none"],
    ["Checksum", `${table.checksum.slice(7, 19)}…, fits`],
  ];
}

/** Shows a table, or why it is refused. @type {(text: string, name: string) => Promise<void>} */
async function openTable(text, name) {
  shown.table = null;
  byId("value-section").hidden = byId("facts").hidden = true;
  try {
    shown.table = await parseTable(text);
  } catch (error) {
    say(`${name} refused: ${error instanceof Error ? error.message : error}`, "bad");
    if (!(error instanceof TableError)) throw error;
    return;
  }
  const table = shown.table;
  say(`${name}: proved private`, "good");
  byId("facts").replaceChildren(...factsOf(table).map(([term, fact]) => {
    const entry = document.createElement("div");
    for (const [tag, content] of [["dt", term], ["dd", fact]]) {
      entry.append(Object.assign(document.createElement(tag), { textContent: content }));
    }
    return entry;
  }));
  byId("units").textContent = table.units ? `, in ${table.units}` : "";
  const [first, last] = [table.knots[0], table.knots[table.knots.length - 1]];
  for (const input of [field, slider]) [input.min, input.max] = [String(first), String(last)];
  byId("value-section").hidden = byId("facts").hidden = false;
  showValue(Number((first + (last - first) / 3).toPrecision(3)));
}

/** @type {(text: string, mood: string) => void} */
function say(text, mood) {
  status.textContent = text;
  status.className = `status ${mood}`;
}

/** Puts a value everywhere it is shown. @type {(value: number) => void} */
function showValue(value) {
  field.value = String(value);
  slider.value = String(value);
  takeValue();
}

/** Shows the row of the value in the field, or what is wrong with it. */
function takeValue() {
  const { table } = shown;
  if (table === null) return;
  const [first, last] = [table.knots[0], table.knots[table.knots.length - 1]];
  shown.value = field.valueAsNumber;
  [shown.drawn, shown.pointed] = [null, null];
  byId("report").textContent = "";
  const fits = shown.value >= first && shown.value <= last;
  const cure = `Enter a number from ${numbers.format(first)} to ${numbers.format(last)}.`;
  byId("value-problem").textContent = fits ? "" : cure;
  field.setAttribute("aria-invalid", String(!fits));
  if (fits) slider.value = String(shown.value);
  showRow();
}

/** Draws the chart and the list of the value's row. */
function showRow() {
  const { table, value, drawn, pointed } = shown;
  if (table === null) return;
  const outside = !(value >= table.knots[0] && value <= table.knots[table.knots.length - 1]);
  const own = outside ? table.low.map(() => 0) : rowAt(table, value);
  const [least, most] = [table.smallest, table.largest].map((list) => list.map((units) => units / 2 ** 53));
  const names = table.low.map((_, j) => outputName(table, j));
  const cut = drawRow(chart, { names, own, least, most, drawn, pointed });
  byId("chart-cut").hidden = !cut;
  const j = pointed ?? own.indexOf(Math.max(...own));
  const lead = pointed === null ? "Most likely: report" : "Report";
  const here = `${lead} ${names[j]}, with probability ${numbers.format(own[j])}`;
  const ofAll = `any value gives it between ${numbers.format(least[j])} and ${numbers.format(most[j])}`;
  byId("chart-readout").textContent = outside ? "" : `${here}; ${ofAll}.`;
  if (byId("row-details").open) listRow(names, [own, least, most]);
}

/** @type {(names: string[], columns: number[][]) => void} */
function listRow(names, columns) {
  byId("row-list").replaceChildren(...names.map((name, j) => {
    const line = document.createElement("tr");
    for (const text of [name, ...columns.map((column) => numbers.format(column[j]))]) {
      line.append(Object.assign(document.createElement("td"), { textContent: text }));
    }
    return line;
  }));
}

/** Draws a report of the value and shows where in the row it lies. @type {(event: Event) => void} */
function drawReport(event) {
  event.preventDefault();
  if (shown.table === null || field.getAttribute("aria-invalid") === "true") return;
  const report = perturb(shown.table, shown.value);
  byId("report").textContent = String(report);
  shown.drawn = outputIndex(shown.table, report);
  shown.pointed = null;
  showRow();
}

/** Moves the pointed output by arrow keys. @type {(event: KeyboardEvent) => void} */
function movePointer(event) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step === undefined || shown.table === null) return;
  event.preventDefault();
  const last = shown.table.low.length - 1;
  shown.pointed = Math.max(0, Math.min(last, (shown.pointed ?? shown.drawn ?? 0) + step));
  showRow();
}

field.addEventListener("input", takeValue);
slider.addEventListener("input", () => {
  const rounded = Number(slider.valueAsNumber.toPrecision(4)); // may leave the domain at its ends
  showValue(Math.max(Number(slider.min), Math.min(Number(slider.max), rounded)));
});
byId("form").addEventListener("submit", drawReport);
byId("form").noValidate = true; // the page says itself what is wrong
byId("row-details").addEventListener("toggle", showRow);
chart.addEventListener("keydown", movePointer);
chart.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
  if (shown.table === null) return;
  const x = event.clientX - chart.getBoundingClientRect().left;
  shown.pointed = outputAt(chart, x, shown.table.low.length);
  showRow();
});
chart.addEventListener("pointerleave", () => {
  shown.pointed = null;
  showRow();
});
new ResizeObserver(showRow).observe(chart);
byId("file").addEventListener("change", async () => {
  const [file] = byId("file").files;
  if (file) await openTable(await file.text(), file.name);
});

const asked = new URLSearchParams(location.search).get("table");
if (asked !== null) {
  say(`Loading ${asked} …`, "");
  const answer = await fetch(asked).catch(() => null);
  const why = answer === null ? "it must come from where this page comes from" : `the server says ${answer.status}`;
  if (answer?.ok) await openTable(await answer.text(), asked.split("/").pop() ?? asked);
  else say(`${asked} could not be loaded: ${why}`, "bad");
}
