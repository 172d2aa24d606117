import type { InstanceRef } from "../model/instance.ts";
import type { AsyncScope } from "../model/runtime.ts";
import { systemRuntime } from "../system-runtime.ts";
import type { TestProcess } from "./test-process.ts";

/** A step's callback that has begun and not ended. */
export interface WatchedBody extends InstanceRef {
  readonly stepName: string;
  readonly process: TestProcess;
  /** Since when it has been at real work, by the real clock. */
  workingSince: number;
  /** Resolves when everything that goes on around the body has settled. */
  readonly settle: () => Promise<void>;
  /** How many things the test controls it waits for: gates, the fake clock, nested steps. */
  waits: number;
}

/** One for all harnesses, so that a gate need not be told which of them it serves. */
const scope: AsyncScope<WatchedBody> = /* @__PURE__ */ systemRuntime.createScope<WatchedBody>();

/** The body whose code is asking. */
export function currentBody(): WatchedBody | undefined {
  return scope.current();
}

/**
 * Knows which bodies are in flight and which of them do real work, so that the harness waits for those and only for
 * those. A body that takes longer than the patience counts as waiting for the test, and is not waited for again.
 */
export class BodyWatch {
  readonly #patienceMs: number;
  readonly #bodies = new Set<WatchedBody>();

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** Some body is doing real work, and has not been doing it for too long. */
  isBusy(): boolean {
    const now = systemRuntime.monotonic();
    return [...this.#bodies].some(
      (body) =>
        body.waits === 0 && body.process.state === "running" && now - body.workingSince < this.#patienceMs,
    );
  }

  async run<Result>(
    started: Omit<WatchedBody, "workingSince" | "waits">,
    signal: AbortSignal,
    callback: () => Promise<Result> | Result,
  ): Promise<Result> {
    const body: WatchedBody = { ...started, workingSince: systemRuntime.monotonic(), waits: 0 };
    this.#bodies.add(body);
    const end = (): boolean => this.#bodies.delete(body);
    // Void: what it still does counts no more, so nobody waits for it.
    signal.addEventListener("abort", end, { once: true });
    try {
      return await scope.run(body, async () => callback());
    } finally {
      end();
    }
  }
}

/**
 * Waits for something in the test's hands. Within a body, the body counts as waiting meanwhile, is not reached while
 * its process is frozen, and never when it is dead.
 */
export function waiting<Result>(awaited: Promise<Result>): Promise<Result> {
  const body = currentBody();
  if (!body) return awaited;
  body.waits++;
  const reached = new Promise<Result>((resolve, reject) => {
    const goOn = (settle: () => void): void =>
      body.process.deliver(() => {
        body.waits--;
        body.workingSince = systemRuntime.monotonic();
        settle();
      });
    awaited.then(
      (value) => goOn(() => resolve(value)),
      (error) => goOn(() => reject(error)),
    );
  });
  // A nested step nobody awaits may fail without taking the process down, as in the engine itself.
  reached.catch(() => {});
  return reached;
}
