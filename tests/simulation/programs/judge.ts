/**
 * What a program must have come to, given how each of its steps ended: a second, direct reading of the program that
 * knows nothing of turns and replay. It also says where a step ended as its script does not permit.
 */
import { decodeValue } from "../../../packages/everstep/src/authoring/codec.ts";
import { fromStoredError } from "../../../packages/everstep/src/authoring/stored-error.ts";
import type { CompletedStep, ErroredStep, StepRecord } from "../../../packages/everstep/src/model/step.ts";
import type { StoredError } from "../../../packages/everstep/src/model/value.ts";
import {
  brokenText,
  countOf,
  doneText,
  inWords,
  pathOf,
  type Result,
  stepNameOf,
  usePath,
} from "./perform.ts";
import type { Act, AgainAct, DoAct } from "./program.ts";

export type Outcome =
  /** `at`: with which hand-over it came to this; 0 for at once. */
  | { readonly kind: "value" | "error"; readonly text: string; readonly at: number }
  | { readonly kind: "open" };

export interface Judgement {
  readonly outcome: Outcome;
  /** What no script permits, in words. */
  readonly faults: readonly string[];
  /** Completed steps that wrote a row of their own, and those that sent an event, by their keys. */
  readonly wrote: readonly string[];
  readonly sent: readonly string[];
}

/** `retried`: somebody had a failed step tried again, which gives it another attempt. */
export function judge(act: Act, steps: readonly StepRecord[], retried = false): Judgement {
  const reading = new Reading(steps, retried, hasLarge(act));
  const outcome = reading.read(act, "0");
  const { faults, wrote, sent } = reading;
  return { outcome, faults, wrote, sent };
}

/** As the workflow function was told of it. */
export function storedInWords(error: StoredError): string {
  return inWords(fromStoredError(error));
}

const open: Outcome = { kind: "open" };

class Reading {
  readonly faults: string[] = [];
  readonly wrote: string[] = [];
  readonly sent: string[] = [];
  readonly #retried: boolean;
  /** Some step of the program returns more than some stores take. */
  readonly #hasLarge: boolean;
  readonly #steps: ReadonlyMap<string, StepRecord>;

  constructor(steps: readonly StepRecord[], retried: boolean, hasLarge: boolean) {
    this.#retried = retried;
    this.#hasLarge = hasLarge;
    this.#steps = new Map(steps.map((step) => [`${step.name} ${step.count}`, step]));
  }

  read(act: Act, path: string): Outcome {
    switch (act.kind) {
      case "log":
        return { kind: "value", text: "logged", at: 0 };
      case "stray":
        return { kind: "value", text: "stray", at: 0 };
      case "try": {
        const inner = this.read(act.act, pathOf(path, 0));
        return inner.kind === "error" ? { ...inner, kind: "value", text: `caught ${inner.text}` } : inner;
      }
      case "sequence":
        return this.#inOrder(act.acts, path);
      case "loop":
        return this.#inOrder(Array<Act>(act.times).fill(act.act), path);
      case "again":
        return this.#again(act, path);
      case "all":
      case "race":
      case "any":
      case "allSettled":
        return together(
          act.kind,
          act.acts.map((each, at) => this.read(each, pathOf(path, at))),
        );
      default:
        return this.#step(act, path);
    }
  }

  #again(again: AgainAct, path: string): Outcome {
    const { how, act } = again;
    if (how === "in a row") return this.#inOrder(Array<Act>(again.times).fill(act), path, usePath);
    if (how === "numbered") {
      const uses = Array.from({ length: again.times }, (_, at) => this.read(act, usePath(path, at)));
      return together("allSettled", uses);
    }
    const refused: Outcome = { kind: "error", text: "DUPLICATE_STEP_KEY", at: 0 };
    const first = together("allSettled", [this.read(act, usePath(path, 0)), refused]);
    if (first.kind === "open") return open;
    const third = this.read(act, usePath(path, 2));
    return third.kind === "value" ? { ...third, text: `( ${first.text} ${third.text} )` } : third;
  }

  #inOrder(acts: readonly Act[], path: string, place = pathOf): Outcome {
    let text = "";
    let last = 0;
    for (const [at, act] of acts.entries()) {
      const outcome = this.read(act, place(path, at));
      if (outcome.kind === "open") return open;
      last = Math.max(last, outcome.at);
      if (outcome.kind === "error") return { ...outcome, at: last };
      text += ` ${outcome.text}`;
    }
    return { kind: "value", text: `(${text} )`, at: last };
  }

  #step(act: Exclude<Act, { acts: unknown } | { act: unknown } | { kind: "log" }>, path: string): Outcome {
    const record = this.#steps.get(`${stepNameOf(act, path)} ${countOf(path)}`);
    if (record === undefined || record.status === "waiting") return open;
    const at = record.settledIndex + 1;
    if (record.status === "errored") {
      this.#errored(act, path, record);
      return { kind: "error", text: storedInWords(record.error), at };
    }
    return { kind: "value", text: this.#completed(act, path, record), at };
  }

  #completed(act: Act, path: string, record: CompletedStep): string {
    const result = decodeValue(record.result);
    switch (act.kind) {
      case "do": {
        const inner = act.inner === null ? null : this.read(act.inner, pathOf(path, 0));
        const expected = doneText(path, inner?.kind === "value" ? inner.text : "");
        const { text } = result as Result;
        if (act.row === "own") this.wrote.push(record.key);
        if (act.sends !== null) this.sent.push(record.key);
        if (text !== expected) this.#fault(record, `gave "${text}", which is not "${expected}"`);
        if (record.starts <= Math.max(act.failures, act.tooSlow))
          this.#fault(record, `completed at start ${record.starts}, which must fail`);
        return text;
      }
      case "wait":
      case "topic":
        return `heard ${(result as { readonly payload: string }).payload}`;
      default:
        return "slept";
    }
  }

  #errored(act: Act, path: string, record: ErroredStep): void {
    const words = storedInWords(record.error);
    if (act.kind === "wait" || act.kind === "topic") {
      if (words !== "WAIT_FOR_EVENT_TIMEOUT") this.#fault(record, `a wait failed with ${words}`);
    } else if (act.kind === "do") this.#doErrored(act, path, record, words);
    else this.#fault(record, `a sleep failed with ${words}`);
  }

  #doErrored(act: DoAct, path: string, record: ErroredStep, words: string): void {
    const isFinal =
      record.attempts === act.retries + 1 ||
      this.#retried ||
      (act.hopeless && words === brokenText(path)) ||
      (act.inner !== null && words !== brokenText(path)) ||
      words === "STEP_INTERRUPTED" ||
      words === "PAYLOAD_TOO_LARGE" ||
      (act.row === "shared" && words === "MUTATION_CONFLICT");
    if (!isFinal)
      this.#fault(record, `given up after ${record.attempts} of ${act.retries + 1} attempts: ${words}`);
    if (words === "STEP_INTERRUPTED" && act.ifInterrupted !== "fail" && act.inner === null)
      this.#fault(record, "failed because it was cut off, though it may be repeated");
    if (words === brokenText(path) && act.failures === 0)
      this.#fault(record, "failed, though it never throws");
    // Where a step beside it sends something, all of their commit gives way together.
    if (words === "PAYLOAD_TOO_LARGE" && !this.#hasLarge)
      this.#fault(record, "was refused, though nothing is large");
    if (words === "STEP_TIMEOUT" && act.tooSlow === 0 && act.inner === null)
      this.#fault(record, "timed out, though it is never slow");
  }

  #fault({ name }: StepRecord, what: string): void {
    this.faults.push(`step "${name}" ${what}`);
  }
}

function together(kind: "all" | "race" | "any" | "allSettled", outcomes: readonly Outcome[]): Outcome {
  const settled = outcomes.filter((outcome) => outcome.kind !== "open");
  const first = (wanted: readonly ("value" | "error")[]) =>
    settled.filter((outcome) => wanted.includes(outcome.kind)).sort((a, b) => a.at - b.at)[0];
  const isWhole = settled.length === outcomes.length;
  const last = Math.max(0, ...settled.map(({ at }) => at));
  switch (kind) {
    case "all": {
      const failed = first(["error"]);
      if (failed) return failed;
      return isWhole
        ? { kind: "value", text: `[${settled.map(({ text }) => text).join(", ")}]`, at: last }
        : open;
    }
    case "race": {
      const winner = first(["value", "error"]);
      if (winner?.kind !== "value") return winner ?? open;
      return { ...winner, text: `<${winner.text}>` };
    }
    case "any": {
      const winner = first(["value"]);
      if (winner) return { ...winner, text: `{${winner.text}}` };
      if (!isWhole) return open;
      return { kind: "error", text: `any of ${settled.map(({ text }) => text).join(" and ")}`, at: last };
    }
    case "allSettled": {
      if (!isWhole) return open;
      const words = settled.map((each) => (each.kind === "value" ? each.text : `failed ${each.text}`));
      return { kind: "value", text: `[${words.join(", ")}]`, at: last };
    }
  }
}

function hasLarge(act: Act): boolean {
  switch (act.kind) {
    case "do":
      return act.large || (act.inner !== null && hasLarge(act.inner));
    case "try":
    case "loop":
    case "again":
    case "stray":
      return hasLarge(act.act);
    case "sequence":
    case "all":
    case "race":
    case "any":
    case "allSettled":
      return act.acts.some(hasLarge);
    default:
      return false;
  }
}
