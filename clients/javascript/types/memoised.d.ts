import type { Store } from "./panel.js";

/** What there is to know about a way that remembers draws and passed every check; frozen. */
export interface Memoised {
  readonly periods: number;
  /** How many different values of a user are drawn for at most. */
  readonly values: number;
  /** What their draws spend together. */
  readonly epsilon: number;
  readonly columns: readonly string[];
  readonly checksum: string;
}

/** Reads such a way from JSON text and proves it private; rejects with `TableError`, which `optldp-client` exports. */
export function parseMemoised(text: string): Promise<Memoised>;

/** The report of a user in a period, by column, the same again when asked again; null where nothing is to be sent. */
export function reportRemembered(
  way: Memoised,
  asked: { user: string; period: number; value: unknown; state: Store; mark?: Store },
): Promise<Record<string, string> | null>;
