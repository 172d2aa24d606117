import type { Runtime, Timer } from "../model/runtime.ts";
import type { OwnerHold, Store } from "../store/store.ts";
import { interceptStore } from "./intercept-store.ts";

/**
 * A process of its own within the test's process: everything that reaches it (timers, scheduled callbacks, replies of
 * the store) and everything it sends goes through `deliver`, so that it can be frozen and killed like a real one.
 *
 *   running -> frozen -> running    nothing reaches it, nothing is lost; on thaw it all arrives, in order
 *   running | frozen -> dead        nothing reaches it and nothing it does reaches the store, ever again
 */
export class TestProcess {
  readonly runtime: Runtime;
  /** How far this process's wall clock is ahead of the others'. */
  skewMs = 0;
  readonly #base: Runtime;
  readonly #timers = new Set<Timer>();
  readonly #holds: OwnerHold[] = [];
  #state: "running" | "frozen" | "dead" = "running";
  #backlog: (() => void)[] = [];

  constructor(base: Runtime) {
    this.#base = base;
    this.runtime = {
      ...base,
      now: () => base.now() + this.skewMs,
      timer: (callback, delayMs) => this.#timer(callback, delayMs),
      drained: (callback) => base.drained(() => this.deliver(callback)),
    };
  }

  get state(): "running" | "frozen" | "dead" {
    return this.#state;
  }

  /** Calls back as soon as the process is running: now, after a thaw, or never. */
  deliver(callback: () => void): void {
    if (this.#state === "dead") return;
    if (this.#state === "frozen" || this.#backlog.length > 0) this.#backlog.push(callback);
    else callback();
  }

  freeze(): void {
    if (this.#state === "running") this.#state = "frozen";
  }

  thaw(): void {
    if (this.#state !== "frozen") return;
    this.#state = "running";
    this.#workOff();
  }

  kill(): void {
    this.#state = "dead";
    this.#backlog = [];
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  /** The process's way to its store. */
  connect(store: Store): Store {
    const connected = interceptStore(
      store,
      (_call, apply) =>
        new Promise((resolve, reject) => {
          this.deliver(() => {
            apply().then(
              (answer) => this.deliver(() => resolve(answer)),
              (error) => this.deliver(() => reject(error)),
            );
          });
        }),
    );
    const { ownership } = store;
    if (!ownership) return connected;
    const hold = async (owner: string): Promise<OwnerHold> => {
      const held = await ownership.hold(owner);
      this.#holds.push(held);
      return held;
    };
    return {
      ...connected,
      ownership: { hold, findDead: () => ownership.findDead(), bury: (owner) => ownership.bury(owner) },
    };
  }

  /** Gives back what the operating system would take from a dead process. */
  async dispose(): Promise<void> {
    this.kill();
    for (const hold of this.#holds.splice(0)) await hold.release().catch(() => {});
  }

  #timer(callback: () => void, delayMs: number): Timer {
    if (this.#state === "dead") return { cancel() {} };
    let isOver = false;
    const started = this.#base.timer(() => {
      this.#timers.delete(timer);
      this.deliver(() => {
        if (!isOver) callback();
      });
    }, delayMs);
    const timer: Timer = {
      cancel: () => {
        isOver = true;
        this.#timers.delete(timer);
        started.cancel();
      },
    };
    this.#timers.add(timer);
    return timer;
  }

  /** One by one, each with the microtasks that follow it; what arrives meanwhile queues behind. */
  #workOff(): void {
    if (this.#backlog.length === 0) return;
    this.#base.drained(() => {
      if (this.#state !== "running") return;
      this.#backlog[0]?.();
      this.#backlog.shift();
      this.#workOff();
    });
  }
}
