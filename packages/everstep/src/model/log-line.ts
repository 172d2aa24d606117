import type { EncodedValue } from "./value.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

export const logLevels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** Reserved for lines the engine writes itself. */
export const systemCategory = "system";

/** Reserved for lines that say who steered an instance. */
export const operatorCategory = "operator";

export interface LogLine {
  readonly stepKey: string | null;
  readonly attempt: number | null;
  readonly level: LogLevel;
  readonly category: string;
  readonly message: string;
  readonly data: EncodedValue | null;
  /** Written again by a replay of code that had already run. */
  readonly isReplay: boolean;
  readonly createdAt: number;
}

export interface StoredLogLine extends LogLine {
  readonly seq: number;
}
