/** What can go wrong in a simulation of somebody's own workflows, in their words, and what it is to the machinery. */
import type { Choices } from "../choices.ts";
import { drawWeather, type Fate, type Mishap, type Weather } from "../weather.ts";

/** Each may be switched on and off by its name. */
export interface Faults {
  /** Processes are killed: at any time, on their way to the store, before a body has begun and after it has ended. */
  readonly crashes: boolean;
  /** Processes stand still for longer than their leases last, and then go on as if nothing had been. */
  readonly freezes: boolean;
  /** Processes are stopped in order and started again, as by a deployment. */
  readonly shutdowns: boolean;
  /** What was written is there, but whoever wrote it hears only that nobody knows. */
  readonly lostReplies: boolean;
  /** The store refuses calls for a moment. */
  readonly storeErrors: boolean;
  /** What was written arrives long after whoever wrote it has given up on it. */
  readonly lateWrites: boolean;
  /** A process does not reach the store for a while. */
  readonly partitions: boolean;
  /** Callers who heard no answer ask again: creations and events come twice. */
  readonly duplicates: boolean;
  /** Clocks of processes are wrong, and are set. */
  readonly clocks: boolean;
  /** Somebody pauses instances, and resumes them later. */
  readonly pauses: boolean;
  /** Bodies fail, before or after they did their work, and take longer than their timeout. */
  readonly failures: boolean;
}

export type FaultName = keyof Faults;

/** The last three change what a sound workflow comes to, or hardly concern one; they are there for the asking. */
export const defaultFaults: Faults = {
  crashes: true,
  freezes: true,
  shutdowns: true,
  lostReplies: true,
  storeErrors: true,
  lateWrites: true,
  partitions: true,
  duplicates: true,
  clocks: false,
  pauses: false,
  failures: false,
};

export const faultNames = Object.keys(defaultFaults) as readonly FaultName[];

const kinds: Readonly<Partial<Record<FaultName, readonly (Fate | Mishap)[]>>> = {
  crashes: ["kill", "crash before", "crash after"],
  freezes: ["freeze"],
  shutdowns: ["leave"],
  lostReplies: ["reply lost"],
  storeErrors: ["refused", "contended"],
  lateWrites: ["late"],
  partitions: ["cut off"],
  clocks: ["set clock"],
};

/** What becomes of one start of a body; the first is the simplest. */
export const bodyFates = [
  "undisturbed",
  "killed after",
  "killed before",
  "frozen before",
  "frozen after",
  "fails before",
  "fails after",
  "too slow",
] as const;

export type BodyFate = (typeof bodyFates)[number];

const bodyFaults: Readonly<Record<Exclude<BodyFate, "undisturbed">, FaultName>> = {
  "killed after": "crashes",
  "killed before": "crashes",
  "frozen before": "freezes",
  "frozen after": "freezes",
  "fails before": "failures",
  "fails after": "failures",
  "too slow": "failures",
};

/** Whether it is among what may happen, which a tape that was cut down need not know. */
export function isWanted(fate: Fate | BodyFate, faults: Faults): boolean {
  if (fate === "undisturbed" || fate === "delivered") return true;
  if (fate in bodyFaults) return faults[bodyFaults[fate as keyof typeof bodyFaults]];
  return faultNames.some((name) => faults[name] && kinds[name]?.includes(fate as Fate));
}

export interface OwnWeather extends Weather {
  /** How often, relative to each other. */
  readonly bodies: Readonly<Record<BodyFate, number>>;
  /** How long a body takes at most. */
  readonly bodyMsMax: number;
  /** How many of their calls callers make twice; null where they never do. */
  readonly repeated: number | null;
  /** Between two pauses, about; 0 for none. */
  readonly pauseEveryMs: number;
  /** How long things go wrong, not counting times in which nothing happens. */
  readonly stormMs: number;
}

export function drawOwnWeather(choices: Choices, faults: Faults, runnersMax: number): OwnWeather {
  const wanted = faultNames.filter((name) => faults[name]).flatMap((name) => kinds[name] ?? []);
  const weather = drawWeather(choices, { faults: wanted, runnersMax });
  const isRough = choices.chance("own: rough", 0.95);
  const isOn = (name: FaultName, label: string, probability = 0.5): boolean =>
    isRough && faults[name] && choices.chance(`own: ${label}`, probability);
  const rate = choices.pick("own: body fault rate", [0.3, 0.1, 0.05, 0.6]);
  const often = (name: FaultName, fate: BodyFate, probability?: number): number =>
    isOn(name, fate, probability) ? rate : 0;
  return {
    ...weather,
    // What only the engine's own exploration is about.
    ticked: false,
    deploys: false,
    hooks: false,
    ifInterrupted: "retry",
    cap: null,
    bodies: {
      undisturbed: 1,
      "killed after": often("crashes", "killed after", 0.6),
      "killed before": often("crashes", "killed before"),
      "frozen before": often("freezes", "frozen before", 0.3),
      "frozen after": often("freezes", "frozen after", 0.3),
      "fails before": often("failures", "fails before"),
      "fails after": often("failures", "fails after"),
      "too slow": often("failures", "too slow", 0.3),
    },
    bodyMsMax: choices.pick("own: bodies take", [0, 5, 100, 2000, 20_000]),
    repeated: !faults.duplicates ? null : isOn("duplicates", "repeated") ? 0.4 : 0,
    pauseEveryMs: isOn("pauses", "pauses", 0.7)
      ? Math.round(choices.spread("own: pause every", 200, 10_000))
      : 0,
    stormMs: choices.spread("own: storm", 60_000, 2000),
  };
}
