/**
 * The app as the scenario has it: the shipped handles, whose calls take virtual time. No fault reaches the caller itself;
 * what befalls callers is that they hear no answer and ask again, which the seed decides.
 */
import { parseDuration } from "../../../authoring/duration.ts";
import type { App } from "../../../client/app.ts";
import { LocalInstanceHandle } from "../../../client/instance-handle.ts";
import { LocalWorkflowHandle } from "../../../client/workflow-handle.ts";
import type { InstanceRef } from "../../../model/instance.ts";
import type { Explanation } from "../../../verify/violation.ts";
import type { ResultOptions } from "../../../wire/options.ts";
import type { Choices } from "../choices.ts";
import type { World } from "../world.ts";
import type { OwnWeather } from "./faults.ts";
import type { Schedule } from "./schedule.ts";
import type { TimeAndChance } from "./time-and-chance.ts";
import { nameOf } from "./words.ts";
import { waiting } from "./works.ts";

export interface CallerParts {
  readonly app: App;
  readonly world: World;
  readonly choices: Choices;
  readonly weather: OwnWeather;
  readonly schedule: Schedule;
  readonly time: TimeAndChance;
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
  /** Instances whose end is waited for, by name, as often as they are. */
  readonly #awaited: string[] = [];
  isHealed = false;

  constructor(parts: CallerParts) {
    this.#parts = parts;
    this.app = this.#watched(parts.app, "app");
  }

  get isAsking(): boolean {
    return this.#open > 0;
  }

  get isAwaiting(): boolean {
    return this.#awaited.length > 0;
  }

  awaits(instance: InstanceRef): boolean {
    return this.#awaited.includes(nameOf(instance));
  }

  /** Somebody is not done yet, in ways the caller does not know of. */
  during(work: Promise<unknown>): void {
    this.#open++;
    this.#untilOver(work, () => {
      this.#open--;
    });
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
    const entries = Object.entries(workflows) as [string, LocalWorkflowHandle][];
    return Object.fromEntries(entries.map(([key, handle]) => [key, this.#watched(handle, handle.name)]));
  }

  #call(target: object, method: AnyMethod, called: string, name: string, args: unknown[]): unknown {
    for (const explanation of explains[name] ?? []) this.#parts.explanations.add(explanation);
    const make = (): unknown => Reflect.apply(method, target, args);
    const answer = make();
    if (!(answer instanceof Promise)) return answer;
    if (name === "result") this.#awaiting(answer, called, args[0] as ResultOptions | undefined);
    else this.during(answer);
    if (repeatable.includes(name) && !isWithin(args)) this.#perhapsAgain(called, name, make);
    return waiting(answer.then((value) => this.#given(value, called)));
  }

  #awaiting(answer: Promise<unknown>, instance: string, options: ResultOptions = {}): void {
    const { time } = this.#parts;
    this.#awaited.push(instance);
    if (options.timeout !== undefined) time.wakesIn(parseDuration(options.timeout, "timeout"), answer);
    this.#untilOver(answer, () => {
      this.#awaited.splice(this.#awaited.indexOf(instance), 1);
    });
  }

  #untilOver(work: Promise<unknown>, over: () => void): void {
    const { onChange } = this.#parts;
    const end = (): void => {
      over();
      onChange();
    };
    onChange();
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
    this.during(again().catch(() => {}));
  }

  #given(value: unknown, called: string): unknown {
    if (value instanceof LocalInstanceHandle) return this.#watched(value, `${called} "${value.id}"`);
    if (value instanceof LocalWorkflowHandle) return this.#watched(value, called);
    if (Array.isArray(value)) return value.map((item) => this.#given(item, called));
    if (typeof value !== "object" || value === null || !("instance" in value)) return value;
    return { ...value, instance: this.#given(value.instance, called) };
  }
}

/** Inside a transaction of the caller's own, which is made once or not at all. */
function isWithin(args: readonly unknown[]): boolean {
  return args.some((arg) => typeof arg === "object" && arg !== null && "tx" in arg);
}
