// @ts-check
/** Gives one report, once in the life of this browser's record; what is pending is sent again as it was. */

import { parseTable, perturbRow, TableError } from "/client/optldp-client.js";
import { AGREEMENT } from "./agreement.js";

/** @type {(id: string) => any} */
const byId = (id) => document.getElementById(id);
const RECORD = `given-${AGREEMENT.question}`;
const token = location.hash.slice(1);

/** @type {(text: string, mood?: string) => void} */
function say(text, mood = "") {
  byId("status").textContent = text;
  byId("status").className = `status ${mood}`;
}

/** The table in a text, proved and agreed to. @type {(text: string) => Promise<any>} */
async function agreed(text) {
  const table = await parseTable(text); // refuses every promise but a pure one
  const identifier = `t${table.checksum.slice("sha256:".length, "sha256:".length + 12)}`;
  if (table.epsilon > AGREEMENT.largestEpsilon) {
    throw new TableError(`epsilon must be at most ${AGREEMENT.largestEpsilon}, got ${table.epsilon}`);
  }
  if (!AGREEMENT.tables.includes(identifier)) {
    throw new TableError(`the table must be one that this page knows, got ${identifier}`);
  }
  return table;
}

/** Sends the row that is remembered; it is forgotten once the service has answered for good. */
async function send() {
  byId("form").hidden = true;
  const { row } = JSON.parse(localStorage.getItem(RECORD) ?? "");
  const headers = { "Authorization": `Bearer ${token}`, "Content-Type": "application/json" };
  const answer = await fetch("/v1/reports", { method: "POST", headers, body: JSON.stringify(row) }).catch(() => null);
  if (answer === null || answer.status === 429 || answer.status === 503) {
    say("Not sent yet: the service does not take it now. Reload this page later; the same report is sent.", "bad");
    return;
  }
  localStorage.setItem(RECORD, JSON.stringify({ state: "given", table: row.table, kept: answer.ok }));
  if (answer.ok) say("Your report is kept. Thank you.", "good");
  else say(`The service refuses the report: ${await answer.text()}`, "bad");
}

const before = JSON.parse(localStorage.getItem(RECORD) ?? "null");
if (before?.state === "given") say("This browser has given its report; it gives no other.", "good");
else if (token === "") say("Open this page by the link that you were given: it ends in your token.", "bad");
else if (before?.state === "pending") await send();
else {
  try {
    const answer = await fetch("/v1/table");
    if (!answer.ok) throw new TableError(`the service says ${answer.status}`);
    const table = await agreed(await answer.text());
    const [first, last] = [table.knots[0], table.knots[table.knots.length - 1]];
    byId("range").textContent = `, from ${first} to ${last}${table.units ? ` ${table.units}` : ""}`;
    [byId("value").min, byId("value").max] = [String(first), String(last)];
    byId("form").hidden = false;
    say(`The table is proved private: ε = ${table.epsilon}.`, "good");
    byId("form").addEventListener("submit", async (/** @type {Event} */ event) => {
      event.preventDefault();
      try {
        const row = perturbRow(table, byId("value").valueAsNumber);
        localStorage.setItem(RECORD, JSON.stringify({ state: "pending", row }));
      } catch { // whose words might hold the value
        say("Refused, nothing sent: a value in range, secure randomness and storage must be there.", "bad");
        return;
      } finally {
        byId("value").value = "";
      }
      await send();
    });
  } catch (error) {
    say(`Refused, nothing sent: ${error instanceof TableError ? error.message : "no table is there"}`, "bad");
  }
}
