/** A workflow as a small tree, so that a seed can make one, ordinary code can perform it and records can be judged by it. */
import type { Choices } from "../../../packages/everstep/src/testing/simulate/choices.ts";

export type Act =
  | DoAct
  | { readonly kind: "sleep"; readonly ms: number }
  /** Until so long after the instance was created, which may be over already. */
  | { readonly kind: "sleepUntil"; readonly ms: number }
  | { readonly kind: "wait"; readonly type: string; readonly timeoutMs: number }
  | { readonly kind: "topic"; readonly topic: string; readonly timeoutMs: number }
  | { readonly kind: "log" }
  | { readonly kind: "sequence" | "all" | "race" | "any" | "allSettled"; readonly acts: readonly Act[] }
  /** What it throws is caught. */
  | { readonly kind: "try"; readonly act: Act }
  | { readonly kind: "loop"; readonly times: number; readonly act: Act }
  | AgainAct
  /** Begun and not awaited. */
  | { readonly kind: "stray"; readonly act: DoAct };

/** One name used several times. */
export type AgainAct =
  /** One use after the other. */
  | { readonly kind: "again"; readonly how: "in a row"; readonly times: number; readonly act: Act }
  /** All at the same time, numbered by the order of the calls. */
  | { readonly kind: "again"; readonly how: "numbered"; readonly times: number; readonly act: DoAct }
  /** A second use while the first is in flight, which is refused, and a third one afterwards. */
  | { readonly kind: "again"; readonly how: "refused"; readonly act: DoAct };

export interface DoAct {
  readonly kind: "do";
  /** How long its body takes. */
  readonly ms: number;
  /** Starts that throw before one succeeds. */
  readonly failures: number;
  readonly retries: number;
  readonly retryDelayMs: number;
  /** What it throws says that another try is pointless. */
  readonly hopeless: boolean;
  /** Starts that take longer than the attempt may. */
  readonly tooSlow: number;
  readonly timeoutMs: number;
  /** Stops when it is told so, or goes on as if nothing had happened. */
  readonly heedsAbort: boolean;
  readonly ifInterrupted: "retry" | "fail";
  /** Writes a row of the author's own with its record: one of its step, or one that only one step of its run can write. */
  readonly row: "none" | "own" | "shared";
  /** Sends an event to its own instance with its record. */
  readonly sends: string | null;
  /** Creates another instance with its record. */
  readonly starts: boolean;
  /** What it returns is larger than some stores take. */
  readonly large: boolean;
  /** Steps inside its body. */
  readonly inner: Act | null;
}

export const eventTypes: readonly string[] = ["red", "green"];
export const topics: readonly string[] = ["north"];

export interface ProgramOptions {
  /** Rows of the author's own; only some stores of a simulation have them. */
  readonly rows: boolean;
}

/** A program of about `size` steps. */
export function drawProgram(choices: Choices, label: string, size: number, options: ProgramOptions): Act {
  return new Drawing(choices, label, size, options).sequence();
}

function takesStep(act: Act): boolean {
  switch (act.kind) {
    case "log":
    case "stray":
      return false;
    case "try":
    case "loop":
      return takesStep(act.act);
    case "sequence":
      return act.acts.some(takesStep);
    default:
      return true;
  }
}

class Drawing {
  readonly #choices: Choices;
  readonly #label: string;
  readonly #options: ProgramOptions;
  /** Steps it may still have. */
  #left: number;

  constructor(choices: Choices, label: string, size: number, options: ProgramOptions) {
    this.#choices = choices;
    this.#label = label;
    this.#left = size;
    this.#options = options;
  }

  sequence(depth = 0): Act {
    const acts: Act[] = [];
    const length = this.#choices.between(`${this.#label}: length`, 1, 5);
    while (acts.length < length && this.#left > 0) acts.push(this.#act(depth));
    return { kind: "sequence", acts };
  }

  #act(depth: number): Act {
    const kind = this.#choices.weighted(`${this.#label}: act`, {
      do: 10,
      sleep: 3,
      sleepUntil: 1,
      wait: 3,
      topic: 0.5,
      log: 1,
      stray: 0.5,
      all: depth < 2 ? 2 : 0,
      race: depth < 2 ? 2 : 0,
      any: depth < 2 ? 1 : 0,
      allSettled: depth < 2 ? 1 : 0,
      try: depth < 3 ? 2 : 0,
      loop: depth < 2 ? 1 : 0,
      again: 1,
    });
    this.#left--;
    switch (kind) {
      case "do":
        return this.#do(depth);
      case "sleep":
        return { kind, ms: this.#length("sleep", 1, 20_000) };
      case "sleepUntil":
        return { kind, ms: this.#length("sleep", 1, 20_000) };
      case "wait":
        return {
          kind,
          type: this.#pick("event", eventTypes),
          timeoutMs: this.#length("patience", 1000, 60_000),
        };
      case "topic":
        return {
          kind,
          topic: this.#pick("topic", topics),
          timeoutMs: this.#length("patience", 1000, 30_000),
        };
      case "log":
        return { kind };
      case "stray":
        return { kind, act: this.#do(3) };
      case "try":
        return { kind, act: this.#act(depth + 1) };
      case "loop":
        return {
          kind,
          times: this.#choices.between(`${this.#label}: times`, 1, 3),
          act: this.#act(depth + 1),
        };
      case "again":
        return this.#again();
      default:
        return { kind, acts: this.#branches(depth) };
    }
  }

  #again(): AgainAct {
    const how = this.#pick("again", ["in a row", "in a row", "numbered", "refused"]);
    if (how === "refused") return { kind: "again", how, act: this.#do(3) };
    const times = this.#choices.between(`${this.#label}: uses`, 2, 3);
    if (how === "numbered") return { kind: "again", how, times, act: this.#do(3) };
    return { kind: "again", how: "in a row", times, act: this.#used() };
  }

  /** What one use is. Each has come to its end before the next begins. */
  #used(): Act {
    const what = this.#pick("use", ["do", "do", "caught", "sleep", "wait"]);
    if (what === "sleep") return { kind: "sleep", ms: this.#length("sleep", 1, 20_000) };
    if (what === "wait") {
      const type = this.#pick("event", eventTypes);
      return { kind: "wait", type, timeoutMs: this.#length("patience", 1000, 60_000) };
    }
    return what === "do" ? this.#do(3) : { kind: "try", act: this.#do(3) };
  }

  /** Each begins with something that takes a step, so that no two of them come to their end in the same moment. */
  #branches(depth: number): readonly Act[] {
    const count = this.#choices.between(`${this.#label}: branches`, 2, 4);
    return Array.from({ length: count }, () => {
      this.#left--;
      const acts: Act[] = [this.#do(depth + 1)];
      if (this.#choices.chance(`${this.#label}: longer branch`, 0.5)) acts.push(this.#act(depth + 1));
      if (this.#choices.chance(`${this.#label}: branch waits`, 0.4)) acts.shift();
      return { kind: "sequence", acts: acts.some(takesStep) ? acts : [...acts, { kind: "sleep", ms: 50 }] };
    });
  }

  #do(depth: number): DoAct {
    const is = (what: string, probability: number): boolean =>
      this.#choices.chance(`${this.#label}: ${what}`, probability);
    const fails = is("fails", 0.3);
    const hasInner = depth < 2 && this.#left > 1 && is("has steps inside", 0.1);
    const tooSlow = is("too slow", 0.1) ? this.#choices.between(`${this.#label}: slow starts`, 1, 2) : 0;
    return {
      kind: "do",
      ms: is("takes time", 0.5) ? this.#takes() : 0,
      failures: fails ? this.#choices.between(`${this.#label}: failures`, 1, 3) : 0,
      retries: this.#choices.below(`${this.#label}: retries`, 4),
      retryDelayMs: is("retries at once", 0.3) ? 0 : this.#length("retry delay", 1, 5000),
      hopeless: fails && is("hopeless", 0.2),
      tooSlow,
      timeoutMs: tooSlow > 0 ? this.#length("timeout", 10, 3000) : 600_000,
      heedsAbort: is("heeds abort", 0.5),
      ifInterrupted: is("must not be repeated", 0.1) ? "fail" : "retry",
      row: this.#options.rows && is("writes a row", 0.15) ? this.#rowOf() : "none",
      sends: is("sends", 0.1) ? this.#pick("event", eventTypes) : null,
      starts: is("starts another", 0.05),
      large: !hasInner && is("large", 0.06),
      inner: hasInner ? this.#act(depth + 1) : null,
    };
  }

  /** Some outlast whatever people decide meanwhile. */
  #takes(): number {
    const isLong = this.#choices.chance(`${this.#label}: takes long`, 0.15);
    return isLong ? this.#length("takes so long", 8000, 16_000) : this.#length("takes", 1, 8000);
  }

  #rowOf(): "own" | "shared" {
    return this.#choices.pick(`${this.#label}: row`, ["own", "own", "shared"]);
  }

  #length(what: string, least: number, most: number): number {
    return Math.round(this.#choices.spread(`${this.#label}: ${what}`, least, most));
  }

  #pick(what: string, items: readonly string[]): string {
    return this.#choices.pick(`${this.#label}: ${what}`, items);
  }
}
