/** What there is to know about a bundle that passed every check; frozen. */
export interface Mechanism {
  readonly kind: string;
  /** The budgets of the levels that users choose from; one where there are none. */
  readonly epsilons: readonly number[];
  /** The columns of a report. */
  readonly columns: readonly string[];
  readonly checksum: string;
}

/** Reads a bundle from JSON text and proves it private; rejects with `TableError`, which `optldp-client` exports. */
export function parseBundle(text: string): Promise<Mechanism>;

/** Draws one private report, texts by column; `RangeError` or `TypeError` for what is no value of the mechanism. */
export function perturbBundle(mechanism: Mechanism, value: unknown): Record<string, string>;

/** The same as a line for `optldp audit --sampler`, which numbers levels from 0. */
export function reportLine(mechanism: Mechanism, value: unknown): string;
