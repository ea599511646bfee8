/** What there is to know about a panel that passed every check; frozen. */
export interface Panel {
  readonly periods: number;
  /** Of a user, in all periods or in any `span` in a row. */
  readonly reports: number;
  readonly span: number | null;
  /** What these reports spend together. */
  readonly epsilon: number;
  readonly columns: readonly string[];
  readonly checksum: string;
}

/** Where a device keeps what it sent, such as `localStorage`. */
export interface Store {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** Reads a panel from JSON text and proves it private; rejects with `TableError`, which `optldp-client` exports. */
export function parsePanel(text: string): Promise<Panel>;

/** The turns of a user, which follow from the name; `TypeError` where devices draw them. */
export function turnsOf(panel: Panel, user: string): Promise<number[]>;

/** The report of a user in a period, by column, the same again when asked again; null where nothing is to be sent. */
export function reportInPeriod(
  panel: Panel,
  asked: { user: string; period: number; value: unknown; state: Store; mark?: Store },
): Promise<Record<string, string> | null>;
