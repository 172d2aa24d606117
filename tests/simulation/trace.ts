/** What happened in a world, line by line; and a hash of it all, which is the same when the same happens again. */
import type { StoreOutcome, StoreRequest } from "../../packages/everstep/src/store/store.ts";
import type { StoreCall } from "../../packages/everstep/src/testing/intercept-store.ts";
import type { Member } from "../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Entry } from "../../packages/everstep/src/testing/simulate/ledger.ts";
import type { Fate } from "../../packages/everstep/src/testing/simulate/weather.ts";

export class Trace {
  readonly #elapsed: () => number;
  readonly #events: { readonly at: number; readonly words: () => string }[] = [];
  #hash = 0x811c9dc5;

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  /** In words, made when somebody wants to read them: nearly all worlds end well. */
  get lines(): readonly string[] {
    return this.#events.map(({ at, words }) => `${at.toFixed(2).padStart(12)}  ${words()}`);
  }

  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, "0");
  }

  line(words: string): void {
    this.#add(words, () => words);
  }

  news(member: Member, news: string): void {
    this.#add(news, () => `${nameOf(member)} ${news}`);
  }

  problem(member: Member, problem: unknown): void {
    this.#add("problem", () => `${nameOf(member)} reports ${String(problem)}`);
  }

  call(member: Member, fate: Fate, call: StoreCall): void {
    if (fate !== "delivered") this.#add(fate, () => `${nameOf(member)} ${describe(call)}: ${fate}`);
  }

  applied(member: Member, call: StoreCall, answer: unknown): void {
    this.#add(call.method, () => `${nameOf(member)} ${describe(call, answer)}`);
  }

  body(entry: Entry): void {
    this.#add(entry.key, () => `${nameOf(entry.member)} begins ${entry.key}, attempt ${entry.attempt}`);
  }

  #add(kind: string, words: () => string): void {
    const at = this.#elapsed();
    this.#events.push({ at, words });
    const text = `${kind}@${at}`;
    for (let place = 0; place < text.length; place++)
      this.#hash = Math.imul(this.#hash ^ text.charCodeAt(place), 0x01000193);
  }
}

function nameOf({ place, number }: Member): string {
  return `${place.name} (${number})`;
}

function describe({ method, args, requests }: StoreCall, answer?: unknown): string {
  if (method === "write") {
    const outcomes = (answer ?? []) as readonly StoreOutcome[];
    return requests
      .map((request, at) => `${wordsOf(request)}${outcomes[at] ? ` -> ${brief(outcomes[at])}` : ""}`)
      .join("; ");
  }
  return `${method} ${brief(args)}${answer === undefined ? "" : ` -> ${brief(answer)}`}`;
}

function wordsOf(request: StoreRequest): string {
  if (request.kind !== "commit") return brief(request);
  const { lease, boundary } = request;
  const steps = boundary.steps.map(({ name, status }) => `${name} ${status}`);
  const timeouts = boundary.timeouts.map(({ wait }) => `${wait.name} timed out`);
  const begun = boundary.begun.map(({ name, start }) => `${name} begun ${start}`);
  const { runId, token } = lease;
  return `commit ${runId}/${token}/${boundary.number} [${[...steps, ...timeouts, ...begun].join(", ")}] ${brief(boundary.next)}`;
}

function brief(value: unknown): string {
  return (JSON.stringify(value) ?? "").slice(0, 300);
}
