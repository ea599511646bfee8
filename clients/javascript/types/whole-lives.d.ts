import type { Store } from "./panel.js";

/** What there is to know about a way whose one budget holds for a whole history and passed every check; frozen. */
export interface WholeLife {
  readonly kind: "rows" | "tree";
  readonly periods: number;
  /** What all reports of a user spend together. */
  readonly epsilon: number;
  readonly columns: readonly string[];
  readonly checksum: string;
}

/** Reads such a way from JSON text and proves it private; rejects with `TableError`, which `optldp-client` exports. */
export function parseWholeLife(text: string): Promise<WholeLife>;

/** The report of a user in a period, by column, the same again when asked again; null where nothing is to be sent. */
export function reportOfLife(
  way: WholeLife,
  asked: { user: string; period: number; value: unknown; state: Store; mark?: Store },
): Promise<Record<string, string> | null>;
