/** What happened in a run: its steps, its events, its log. */
import { logLevels } from "../model/log-line.ts";
import { pageEnd } from "./page.ts";
import {
  anything,
  flag,
  type Infer,
  instant,
  list,
  named,
  nullable,
  object,
  oneOf,
  optional,
  type Schema,
  text,
  type ViewOf,
  whole,
} from "./schema.ts";
import { step } from "./steps.ts";

const eventShape = object({
  id: text(),
  type: nullable(text()),
  topic: nullable(text()),
  payload: anything,
  createdAt: instant,
  deliveredAt: nullable(instant),
  consumedByStepKey: nullable(text()),
});
export interface WireEvent extends Infer<typeof eventShape> {}
export interface EventView extends ViewOf<typeof eventShape> {}
export const event: Schema<WireEvent, EventView> = named("Event", eventShape);

const logLineShape = object({
  id: text(),
  runNumber: whole(1),
  stepKey: nullable(text()),
  attempt: nullable(whole()),
  level: oneOf(logLevels),
  category: text(),
  message: text(),
  data: anything,
  isReplay: flag,
  createdAt: instant,
});
export interface WireLogLine extends Infer<typeof logLineShape> {}
export interface LogLineView extends ViewOf<typeof logLineShape> {}
export const logLine: Schema<WireLogLine, LogLineView> = named("LogLine", logLineShape);

const historyFields = {
  runNumber: whole(1),
  steps: list(step),
  stepsCursor: optional(text()),
  stepsHasNextPage: flag,
  events: list(event),
  eventsCursor: optional(text()),
  eventsHasNextPage: flag,
} as const;

const historyWithoutLogs = object(historyFields);
export interface HistoryView extends ViewOf<typeof historyWithoutLogs> {}

export const history = object({
  ...historyFields,
  /** With `includeLogs=true`. */
  logs: optional(list(logLine)),
  logsCursor: optional(text()),
  logsHasNextPage: optional(flag),
});
export interface WireHistory extends Infer<typeof history> {}
export interface HistoryPage extends ViewOf<typeof history> {}

export const logs = object({ logs: list(logLine), ...pageEnd });
export interface WireLogs extends Infer<typeof logs> {}
