/**
 * The app as the scenario has it: the shipped handles, whose calls take virtual time. No fault reaches the caller itself;
 * what befalls callers is that they hear no answer and ask again, which the seed decides.
 */
import type { App } from "../../../client/create-workflows.ts";
import { InstanceHandle } from "../../../client/instance-handle.ts";
import { WorkflowHandle } from "../../../client/workflow-handle.ts";
import type { Explanation } from "../../../verify/violation.ts";
import type { Choices } from "../choices.ts";
import type { World } from "../world.ts";
import type { OwnWeather } from "./faults.ts";
import type { Schedule } from "./schedule.ts";
import { waiting } from "./works.ts";

export interface CallerParts {
  readonly app: App;
  readonly world: World;
  readonly choices: Choices;
  readonly weather: OwnWeather;
  readonly schedule: Schedule;
  /** What calls explain that records do not show. */
  readonly explanations: Set<Explanation>;
  readonly onChange: () => void;
}

type AnyMethod = (...args: unknown[]) => unknown;

const repeatable: readonly string[] = ["create", "createBatch", "sendEvent", "publish"];

const explains: Readonly<Record<string, readonly Explanation[]>> = {
  skipSleep: ["sleep-skipped"],
  retryFailedStep: ["event-given-back", "time-given-anew"],
};

export class Caller {
  readonly app: App;
  readonly #parts: CallerParts;
  /** Calls without an answer, not counting those that wait for an instance to end. */
  #open = 0;
  /** Calls that wait for an instance to end. */
  #awaiting = 0;
  /** When it last asked or was answered, by the world's time. */
  lastHeardAt = 0;
  isHealed = false;

  constructor(parts: CallerParts) {
    this.#parts = parts;
    this.app = this.#watched(parts.app, "app");
  }

  get isAsking(): boolean {
    return this.#open > 0;
  }

  get isAwaiting(): boolean {
    return this.#awaiting > 0;
  }

  /** Somebody is not done yet, in ways the caller does not know of. */
  during(work: Promise<unknown>): void {
    this.#count(work, false);
  }

  /** The same object, but its methods take part in virtual time, and so do the handles they give. */
  #watched<Target extends object>(target: Target, called: string): Target {
    return new Proxy(target, {
      get: (original, name) => {
        const value: unknown = Reflect.get(original, name);
        if (original === (this.#parts.app as object) && name === "workflows")
          return this.#handles(value as object);
        if (typeof value !== "function" || typeof name !== "string" || name === "constructor") return value;
        return (...args: unknown[]) => this.#call(original, value as AnyMethod, called, name, args);
      },
    });
  }

  #handles(workflows: object): object {
    const entries = Object.entries(workflows) as [string, WorkflowHandle][];
    return Object.fromEntries(entries.map(([key, handle]) => [key, this.#watched(handle, handle.name)]));
  }

  #call(target: object, method: AnyMethod, called: string, name: string, args: unknown[]): unknown {
    for (const explanation of explains[name] ?? []) this.#parts.explanations.add(explanation);
    const make = (): unknown => Reflect.apply(method, target, args);
    const answer = make();
    if (!(answer instanceof Promise)) return answer;
    this.#count(answer, name === "result");
    if (repeatable.includes(name) && !isWithin(args)) this.#perhapsAgain(called, name, make);
    return waiting(answer.then((value) => this.#given(value, called)));
  }

  #count(work: Promise<unknown>, isAwaiting: boolean): void {
    const add = (count: number): void => {
      if (isAwaiting) this.#awaiting += count;
      else this.#open += count;
      this.lastHeardAt = this.#parts.world.elapsed;
      this.#parts.onChange();
    };
    add(1);
    const end = (): void => add(-1);
    work.then(end, end);
  }

  #perhapsAgain(called: string, name: string, make: () => unknown): void {
    const { choices, weather, world, schedule } = this.#parts;
    if (this.isHealed || weather.repeated === null) return;
    if (!choices.chance(`${name} repeated`, weather.repeated)) return;
    const again = async (): Promise<void> => {
      await world.sleep(choices.spread("repeated after", 0.5, 5000));
      schedule.fault("repeated", () => `a caller who heard no answer asks again (${name} of ${called})`);
      await make();
    };
    // What it is told the second time (the id is taken, the instance has ended) is nobody's concern.
    this.#count(
      again().catch(() => {}),
      false,
    );
  }

  #given(value: unknown, called: string): unknown {
    if (value instanceof InstanceHandle) return this.#watched(value, `${called} "${value.id}"`);
    if (value instanceof WorkflowHandle) return this.#watched(value, called);
    if (Array.isArray(value)) return value.map((item) => this.#given(item, called));
    if (typeof value !== "object" || value === null || !("instance" in value)) return value;
    return { ...value, instance: this.#given(value.instance, called) };
  }
}

/** Inside a transaction of the caller's own, which is made once or not at all. */
function isWithin(args: readonly unknown[]): boolean {
  return args.some((arg) => typeof arg === "object" && arg !== null && "tx" in arg);
}
