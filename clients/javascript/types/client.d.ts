/** What there is to know about a table that passed every check; frozen. */
export interface ExactTable {
  /** Name of the units of the knots. */
  readonly units: string;
  /** The budget; proved. */
  readonly epsilon: number;
  /** The inputs with a row of their own; the first and the last end the domain. */
  readonly knots: readonly number[];
  /** Lower end of every output, in the units of the reports. */
  readonly low: readonly number[];
  /** Upper end; equal to the lower one where the output is a point. */
  readonly high: readonly number[];
  /** Smallest and largest numerator of every output over all rows; in 2^53. */
  readonly smallest: readonly number[];
  readonly largest: readonly number[];
  /** The output with the largest ratio of the two. */
  readonly tightest: number;
  /** limit / 2^128 is proved to be at most e^epsilon; no output's ratio is above it. */
  readonly limit: bigint;
  /** Whether the table claims that reports average to the value; if so, proved. */
  readonly unbiased: boolean;
  /** How the table was made, and the optldp that wrote it, in their own words. */
  readonly method: string;
  readonly version: string;
  /** Where the prior in the file came from, or null if it holds none. */
  readonly priorSource: string | null;
  readonly checksum: string;
}

export type NumberArray =
  | Float64Array | Float32Array | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array
  | Uint32Array;

/** A file that cannot be used; the message is one line that names the first fault. */
export class TableError extends Error {
  name: string;
}

/** Reads an exact table or its floor form from JSON text and proves it private; rejects with `TableError`. */
export function parseTable(text: string): Promise<ExactTable>;

/** Draws one private report; `RangeError` for a value outside the domain, which the message does not repeat. */
export function perturb(table: ExactTable, value: number): number;

/** Draws one private report for each value. */
export function perturbMany(table: ExactTable, values: readonly number[] | NumberArray): Float64Array;

/** Draws the number of an output, from 0: a report as engines count it. */
export function perturbIndex(table: ExactTable, value: number): number;

/** A report as a row to send: the table's identifier, a drawn output, the day in UTC and an id. */
export function perturbRow(
  table: ExactTable,
  value: number,
): { table: string; output: number; day: string; report_id: string };

/** The one spelling of a report, as the library writes it: `4.0`, `0.25`, `1e-07`. */
export function reportText(report: number): string;

/** The probability of every output for a value: to look at, not to draw from. */
export function rowAt(table: ExactTable, value: number): number[];
