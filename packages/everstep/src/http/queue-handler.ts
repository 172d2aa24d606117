/**
 * Runs what a dispatcher put into a queue: for hosts without a loop. The messages have the shape of Cloudflare Queues;
 * others are mapped to it in a few lines. A message is only a hint: it may come twice, late or never, and what it tells of
 * is in the store all the same, where any tick finds it.
 */
import { type Duration, parseDuration } from "../authoring/duration.ts";
import type { App } from "../client/app.ts";
import { partsOf } from "../client/app-parts.ts";
import { EverstepError } from "../model/error.ts";
import { crashBackoff } from "../model/limits.ts";
import type { Runtime } from "../model/runtime.ts";
import { type QueuedHint, queuedHint } from "./queued-hint.ts";

export interface QueueMessage {
  readonly id: string;
  /** What the dispatcher was given, as an object or as JSON text; `enqueuedAt` may be added. */
  readonly body: unknown;
  /** How often it was delivered, this time included. */
  readonly attempts?: number;
  /** When it was sent. */
  readonly timestamp?: Date;
  /** Done: not to be delivered again. */
  ack(): unknown;
  /** To be delivered again, not before the delay. */
  retry(options: { readonly delaySeconds: number }): unknown;
}

export interface QueueBatch {
  readonly messages: readonly QueueMessage[];
}

export interface QueueHandlerOptions {
  /** Hints that have been due for longer are dropped, for some tick has found the work by then. Default: 24 hours. */
  readonly maxAge?: Duration;
  /** Instances that one message may set going. Default: 10. */
  readonly maxInstances?: number;
  /** Bodies that one message may start; what is left is due again at once. Default: no limit. */
  readonly maxSteps?: number;
  /** Messages handled at once. Default: 10. */
  readonly concurrency?: number;
  /** Told of malformed messages and of failures. Default: the app's own. */
  readonly onProblem?: (problem: unknown) => void;
}

/** What became of the messages of a batch: one of these each. */
export interface QueueReport {
  readonly done: number;
  /** Not due yet; they come again. */
  readonly deferred: number;
  /** The store failed; they come again. */
  readonly failed: number;
  /** Too old, dropped. */
  readonly stale: number;
  /** Not understood, dropped. */
  readonly malformed: number;
  /** Instances that had a turn. */
  readonly processed: number;
}

export type QueueHandler = (batch: QueueBatch) => Promise<QueueReport>;

/** No queue delays a message for longer, 12 hours; what is due later is deferred again. */
const delaySecondsMax = 12 * 60 * 60;

type Fate = { readonly kind: Exclude<keyof QueueReport, "processed">; readonly processed: number };

/** A handler for batches of messages: `export default { queue: createQueueHandler(app) }`. */
export function createQueueHandler(app: App, options: QueueHandlerOptions = {}): QueueHandler {
  const { runtime, onProblem: told } = partsOf(app);
  const { maxInstances = 10, maxSteps, concurrency = 10, onProblem = told } = options;
  const maxAgeMs = parseDuration(options.maxAge ?? "24 hours", "maxAge");
  const tickOptions = { maxInstances, ...(maxSteps === undefined ? {} : { maxSteps }) };

  async function handle(message: QueueMessage): Promise<Fate> {
    const hint = queuedHint(message.body, message.timestamp);
    const now = runtime.now();
    if (hint === null) {
      onProblem(malformed(message));
      return drop(message, "malformed");
    }
    if (now - dueSince(hint) > maxAgeMs) return drop(message, "stale");
    if (hint.dueAt > now) {
      await message.retry({ delaySeconds: Math.min(Math.ceil((hint.dueAt - now) / 1000), delaySecondsMax) });
      return { kind: "deferred", processed: 0 };
    }
    const { processed } = await app.tick(tickOptions);
    await message.ack();
    return { kind: "done", processed };
  }

  /** Whatever happens to one message, the others are handled. */
  async function handleAlone(message: QueueMessage): Promise<Fate> {
    try {
      return await handle(message);
    } catch (problem) {
      onProblem(problem);
      try {
        await message.retry({ delaySeconds: retryDelaySeconds(message.attempts ?? 1, runtime) });
      } catch (another) {
        onProblem(another);
      }
      return { kind: "failed", processed: 0 };
    }
  }

  return async (batch) => {
    const waiting = [...messagesOf(batch)];
    const fates: Fate[] = [];
    const handleNext = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        fates.push(await handleAlone(next));
      }
    };
    await Promise.all(Array.from({ length: Math.max(1, concurrency) }, handleNext));
    return reportOf(fates);
  };
}

async function drop(message: QueueMessage, kind: Fate["kind"]): Promise<Fate> {
  await message.ack();
  return { kind, processed: 0 };
}

/** A hint for the day after tomorrow is not old when it has waited until then. */
function dueSince({ dueAt, enqueuedAt }: QueuedHint): number {
  return Math.max(dueAt, enqueuedAt ?? Number.POSITIVE_INFINITY);
}

/** 2, 4, 8 ... seconds and up to three more, at most five minutes. */
function retryDelaySeconds(attempts: number, runtime: Runtime): number {
  const { baseMs, factor, maxMs, jitterMsMin, jitterMsMax } = crashBackoff;
  const grown = baseMs * factor ** (Math.max(attempts, 1) - 1);
  const jitter = jitterMsMin + runtime.float() * (jitterMsMax - jitterMsMin);
  return Math.round(Math.min(grown + jitter, maxMs) / 1000);
}

function messagesOf(batch: QueueBatch): readonly QueueMessage[] {
  if (Array.isArray(batch?.messages)) return batch.messages;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    "A queue handler takes { messages: [{ body, ack(), retry() }] }.",
  );
}

function malformed({ id }: QueueMessage): EverstepError {
  return new EverstepError(
    "INVALID_ARGUMENT",
    `Message "${String(id)}" of the queue is no hint of a dispatcher and was dropped. Its body must be the hint that ` +
      "wake was given: { workflowName, instanceId, reason, dueAt? }, and enqueuedAt if you like.",
  );
}

function reportOf(fates: readonly Fate[]): QueueReport {
  const count = (kind: Fate["kind"]): number => fates.filter((fate) => fate.kind === kind).length;
  return {
    done: count("done"),
    deferred: count("deferred"),
    failed: count("failed"),
    stale: count("stale"),
    malformed: count("malformed"),
    processed: fates.reduce((sum, { processed }) => sum + processed, 0),
  };
}
