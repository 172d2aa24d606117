/**
 * What a workflow needs in Redis at least: a hash per run, one with its steps, one with its events, and a sorted set of
 * due times. This is not the store's own layout, only as much data in as few commands.
 */
import {
  begunText,
  eventId,
  instanceId,
  leaseMs,
  owner,
  type Rows,
  type Runs,
  receivedEvent,
  type Value,
  waitMs,
} from "./rows.ts";

export class RedisRows implements Rows {
  readonly #prefix: string;
  /** h key field value, z score member, r member. */
  #commands: string[] = [];

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  take(): readonly string[] {
    const taken = this.#commands;
    this.#commands = [];
    return taken;
  }

  create(runs: Runs, workflow: string, now: number): void {
    for (const run of runs) {
      this.#run(
        run,
        "instance",
        JSON.stringify({ workflow, instanceId: instanceId(run), params: "{}", now }),
      );
      this.#run(run, "state", JSON.stringify({ status: "active", owner, token: 1, now }));
      this.#due(run, now + leaseMs);
    }
  }

  step: Rows["step"] = (runs, { index, name, result }, now) => {
    const text = JSON.stringify({ name, type: "do", status: "completed", attempts: 1, now, result });
    for (const run of runs) this.#set(run, "steps", String(index), text);
  };

  advance(runs: Runs, commit: number, begun: string, now: number): void {
    const text = JSON.stringify({ status: "active", owner, commit, begun: begunText(begun, now), now });
    for (const run of runs) this.#run(run, "state", text);
  }

  sleep: Rows["sleep"] = (runs, { index, name, wakeAt }, now) => {
    const text = JSON.stringify({ name, type: "sleep", status: "waiting", wakeAt, now });
    for (const run of runs) this.#set(run, "steps", String(index), text);
  };

  waitForEvent: Rows["waitForEvent"] = (runs, { index, name, type }, now) => {
    const text = JSON.stringify({
      name,
      type: "waitForEvent",
      status: "waiting",
      eventType: type,
      wakeAt: now + waitMs,
    });
    for (const run of runs) this.#set(run, "steps", String(index), text);
  };

  settleWait(runs: Runs, index: number, result: Value, now: number): void {
    const text = JSON.stringify({ status: "completed", now, ...result });
    for (const run of runs) this.#set(run, "steps", String(index), text);
  }

  suspend(runs: Runs, commit: number, dueAt: number, now: number): void {
    const text = JSON.stringify({ status: "waiting", commit, now });
    for (const run of runs) {
      this.#run(run, "state", text);
      this.#due(run, dueAt);
    }
  }

  claim(runs: Runs, now: number): void {
    const text = JSON.stringify({ status: "active", owner, token: 2, now });
    for (const run of runs) {
      this.#run(run, "state", text);
      this.#due(run, now + leaseMs);
    }
  }

  sendEvent: Rows["sendEvent"] = (runs, { seq, type, payload }, now) => {
    for (const run of runs) {
      this.#set(run, "events", String(seq), JSON.stringify({ id: eventId(run, seq), type, payload, now }));
      this.#due(run, now);
    }
  };

  consume: Rows["consume"] = (runs, seq, { index, name }, now) => {
    const text = JSON.stringify({ delivered: now, consumedBy: name });
    for (const run of runs) this.#set(run, "events", String(seq), text);
    this.settleWait(runs, index, receivedEvent(now), now);
  };

  complete(runs: Runs, commit: number, output: Value, now: number): void {
    const text = JSON.stringify({ status: "complete", commit, now, ...output });
    for (const run of runs) {
      this.#run(run, "state", text);
      this.#commands.push("r", String(run));
    }
  }

  #run(run: number, field: string, value: string): void {
    this.#set(run, "run", field, value);
  }

  #set(run: number, kind: string, field: string, value: string): void {
    this.#commands.push("h", `${this.#prefix}:${kind}:${run}`, field, value);
  }

  #due(run: number, at: number): void {
    this.#commands.push("z", String(at), String(run));
  }
}
