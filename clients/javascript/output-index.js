// @ts-check
/** @import { ExactTable } from "./optldp-client.js" */

/**
 * Which output of the table a report is; -1 for a number that no output holds.
 *
 * A report equal to a point is that point, even inside a cell; one on the edge of two cells belongs to the upper one.
 * @type {(table: ExactTable, report: number) => number}
 */
export function outputIndex({ low, high }, report) {
  let cell = -1;
  for (let j = 0; j < low.length && low[j] <= report; j++) {
    if (low[j] === report && high[j] === report) return j;
    if (low[j] < high[j] && report <= high[j]) cell = j;
  }
  return cell;
}
