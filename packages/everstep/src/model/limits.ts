const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const mebibyte = 1024 * 1024;

/** Every limit an author or caller can run into. Bytes are UTF-8 bytes of the stored text. */
export interface Limits {
  readonly maxWorkflowNameLength: number;
  readonly maxInstanceIdLength: number;
  readonly maxStepNameLength: number;
  readonly maxEventTypeLength: number;
  readonly maxTopicLength: number;
  readonly maxLogCategoryLength: number;
  readonly maxLogMessageLength: number;
  readonly maxParamsBytes: number;
  readonly maxResultBytes: number;
  readonly maxOutputBytes: number;
  readonly maxEventBytes: number;
  readonly maxLogBytes: number;
  /** Steps per run: `do` and `waitForEvent` count, sleeps do not. */
  readonly maxSteps: number;
  /** Steps of one run that are open at the same time. */
  readonly maxParallelSteps: number;
  /** What is recorded of a run, results of its steps above all: above this no more steps begin. */
  readonly maxHistoryBytes: number;
  readonly maxBufferedEvents: number;
  /** An event of n bytes is accepted while fewer than this / n events are buffered. */
  readonly maxBufferedBytes: number;
  readonly maxBatchSize: number;
  readonly maxPageSize: number;
  /** A page with values ends early once they take this many bytes. */
  readonly maxPageBytes: number;
  readonly pageSize: number;
  readonly maxSleepMs: number;
  readonly minWaitTimeoutMs: number;
  readonly maxWaitTimeoutMs: number;
  readonly defaultWaitTimeoutMs: number;
  /** Cap on attempt timeouts; Infinity for none. */
  readonly maxStepTimeoutMs: number;
  /** Claims in a row that ended without progress before the run is given up. */
  readonly maxCrashes: number;
  /** A workflow function with nothing open and nothing waiting fails after this time. */
  readonly stallTimeoutMs: number;
}

export const defaultLimits: Limits = {
  maxWorkflowNameLength: 64,
  maxInstanceIdLength: 100,
  maxStepNameLength: 256,
  maxEventTypeLength: 100,
  maxTopicLength: 128,
  maxLogCategoryLength: 64,
  maxLogMessageLength: 2048,
  maxParamsBytes: mebibyte,
  maxResultBytes: mebibyte,
  maxOutputBytes: mebibyte,
  maxEventBytes: mebibyte,
  maxLogBytes: mebibyte,
  maxSteps: 1024,
  maxParallelSteps: 256,
  maxHistoryBytes: 64 * mebibyte,
  maxBufferedEvents: 10_000,
  maxBufferedBytes: 16 * mebibyte,
  maxBatchSize: 100,
  maxPageSize: 100,
  maxPageBytes: 4 * mebibyte,
  pageSize: 25,
  maxSleepMs: 365 * day,
  minWaitTimeoutMs: second,
  maxWaitTimeoutMs: 365 * day,
  defaultWaitTimeoutMs: day,
  maxStepTimeoutMs: Number.POSITIVE_INFINITY,
  maxCrashes: 10,
  stallTimeoutMs: 10 * minute,
};

/** What a stored error may hold at most. */
/** The last instant a Date can say. */
export const timeMax = 8_640_000_000_000_000;

export const errorLimits = {
  nameMax: 256,
  messageMax: 8 * 1024,
  stackMax: 16 * 1024,
  causeDepth: 4,
  /** Failed attempts kept per step; the oldest give way. */
  attemptsKept: 100,
} as const;

/** How a step is tried when its author says nothing. */
export const stepDefaults = {
  retryLimit: 5,
  retryDelayMs: 10 * second,
  backoff: "exponential",
  timeoutMs: 10 * minute,
  /** How long an author's own delay function may take. */
  delayFunctionMs: 5 * second,
} as const;

/** How a run whose runner keeps dying is tried again: at once, then ever later, with whole seconds of jitter on top. */
export const crashBackoff = {
  baseMs: 2 * second,
  factor: 2,
  maxMs: 300 * second,
  jitterMsMin: second,
  jitterMsMax: 3 * second,
} as const;

/** How a runner behaves when its host says nothing. */
export const runnerDefaults = {
  concurrency: 256,
  leaseMs: 30 * second,
  pollMs: second,
  minPollMs: 500,
  maxPollMs: 30 * second,
  /** The same where nobody tells what other processes do. */
  maxPollMsUntold: 2 * second,
  /** How often a store that can tell at no cost is asked whether another process has written. */
  lookMs: 100,
  pollShrink: 0.8,
  pollGrow: 1.2,
  stopGraceMs: 25 * second,
  /** How long a stop waits for each thing it asks of a store that does not answer, and for all of them. */
  stopStoreMs: 5 * second,
  stopStoreMsMax: 15 * second,
  maxResidents: 1000,
  /** What turns in progress may hold of stored values before no more runs are taken up; half of it is for residents. */
  maxMemoryBytes: 64 * mebibyte,
  /** Histories read at once. */
  readBytesMax: 16 * mebibyte,
  /** Runs claimed at once: the rest of a burst is left to whoever asks next, which may be another runner. */
  claimMax: 100,
  groupMax: 256,
  groupBytesMax: 8 * mebibyte,
  /** Authors' own transactions that one process has open at once. */
  mutationsMax: 4,
  /** How long a store that is out of reach is left alone at most. */
  outageMsMax: 16 * second,
} as const;

/** How a runner tells that it lives. */
export const beatDefaults = {
  everyMs: 15 * second,
  /** Not heard of for this long it is called silent. */
  silentMs: 45 * second,
  /** How long a runner that stops waits until its last beat has arrived. */
  patienceMs: second,
  /** Runners and tallies are forgotten after this long. */
  memoryMs: 8 * day,
  /** Names of workflows that a beat carries. */
  workflowsMax: 1000,
  /** Runners that are shown, those seen last. */
  runnersMax: 500,
} as const;

/** How a store call that failed for a passing reason is tried again. */
export const storeRetry = {
  retries: 5,
  delayMs: second,
  factor: 2,
  maxMs: minute,
  jitterMin: 0.5,
  jitterMax: 1,
} as const;
