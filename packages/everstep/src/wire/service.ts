/** The service itself: what went wrong, is it well, is its store sound. */
import type { ErrorCode } from "../model/error.ts";
import {
  anything,
  exactly,
  flag,
  type Infer,
  list,
  named,
  nullable,
  object,
  optional,
  record,
  type Schema,
  text,
  whole,
} from "./schema.ts";

const problemShape = object({
  error: object({
    code: text() as Schema<ErrorCode>,
    /** What happened, why, and what to do. */
    message: text(),
    details: optional(record(anything)),
    /** Where the code is explained. */
    docs: text(),
  }),
});
export interface WireProblem extends Infer<typeof problemShape> {}
export const problem: Schema<WireProblem> = named("Problem", problemShape);

export const ok = object({ ok: exactly(true) });
export interface WireOk extends Infer<typeof ok> {}

export const isWell = object({ ok: flag });

export const processed = object({ processed: whole() });

const storeWarningShape = object({ code: text(), message: text() });
/** A setting under which a store cannot keep what it promises. */
export interface WireStoreWarning extends Infer<typeof storeWarningShape> {}
const storeWarning: Schema<WireStoreWarning> = storeWarningShape;
export const storeWarnings = list(storeWarning);

export const health = object({
  ok: flag,
  store: object({
    reachable: flag,
    /** Statements that a migration would still run; null when the store could not be asked. */
    migrationsPending: nullable(whole()),
    warnings: storeWarnings,
  }),
  runner: object({ running: flag }),
  workflows: list(text()),
});
export interface Health extends Infer<typeof health> {}

/** What is found is told in words and facts that differ with what it is. */
const finding: Schema<object> = record(anything);
const findings = list(finding);

export const verifyReport = object({
  ok: flag,
  checked: whole(),
  violations: findings,
  warnings: findings,
  warningsLeftOut: whole(),
  moving: whole(),
  unreadable: findings,
  after: optional(text()),
  complete: flag,
  summary: text(),
});
