/**
 * What a seed has in store: which faults there are at all, how often, and how the processes are set. Every seed switches
 * a few faults on and leaves the others out, because a mixture of all of them hides more than it finds.
 */
import type { RunnerSettings } from "../../client/app-options.ts";
import { runnerDefaults } from "../../model/limits.ts";
import type { Choices } from "./choices.ts";

/** What becomes of a call to the store; the first is the simplest. */
export type Fate =
  | "delivered"
  /** Not applied, and the caller hears so. */
  | "refused"
  /** Not applied because others were at it. */
  | "contended"
  /** Applied, but the caller hears only that nobody knows. */
  | "reply lost"
  /** The caller has given up on it long before it is applied. */
  | "late"
  /** It never arrives, and the caller hears nothing for long: a mishap, never drawn for one call. */
  | "swallowed"
  /** The caller dies while its call is under way, which never arrives. */
  | "crash before"
  /** The caller dies while the reply is under way. */
  | "crash after";

export const fates: readonly Fate[] = [
  "delivered",
  "refused",
  "contended",
  "reply lost",
  "late",
  "crash before",
  "crash after",
  "swallowed",
];

export type Mishap =
  | "kill"
  | "freeze"
  | "leave"
  | "cut off"
  | "set clock"
  /** One of its connections swallows what is sent on it; the others work. */
  | "silence"
  /** What it asks the store of one kind takes effect, and for a while it hears of none of it. */
  | "lose answers"
  /** The store's last writes are gone. */
  | "lose writes";

export const mishaps: readonly Mishap[] = [
  "kill",
  "freeze",
  "leave",
  "cut off",
  "set clock",
  "silence",
  "lose answers",
  "lose writes",
];

export interface Weather {
  readonly runners: number;
  readonly settings: Required<Pick<RunnerSettings, "concurrency" | "lease" | "maxResidents">> & {
    readonly lease: number;
    readonly minPoll: number;
    readonly poll: number;
    readonly maxPoll: number;
    readonly maxMemoryBytes: number;
  };
  readonly latencyMsMax: number;
  /** How often, relative to each other. */
  readonly fates: Readonly<Record<Fate, number>>;
  readonly mishaps: Readonly<Record<Mishap, number>>;
  /** Between two mishaps, about; 0 for none. */
  readonly mishapEveryMs: number;
  /** How far clocks are off at most. */
  readonly skewMs: number;
  /** Whether processes tell each other of what they wrote, and how many of these words are lost. */
  readonly nudges: boolean;
  readonly nudgesLost: number;
  /** The store can tell at once that a process is dead. */
  readonly ownership: boolean;
  /** A process that comes back has the name it had. */
  readonly sameOwner: boolean;
  /** Claims in a row without progress before a run is given up. */
  readonly maxCrashes: number;
  /** Processes have no loop of their own: somebody ticks them. */
  readonly ticked: boolean;
  /** Now and then a process comes up that does not have the workflow's code. */
  readonly deploys: boolean;
  /** Somebody is told of every run that ended. */
  readonly hooks: boolean;
  readonly ifInterrupted: "retry" | "fail";
  /** The most that the store takes at once; null where it takes everything. */
  readonly writeBytesMax: number | null;
  /** Runs of the workflow that may be leased at once. */
  readonly cap: number | null;
}

const calm: Weather["fates"] = {
  delivered: 1,
  refused: 0,
  contended: 0,
  "reply lost": 0,
  late: 0,
  "crash before": 0,
  "crash after": 0,
  swallowed: 0,
};

export interface WeatherOptions {
  /** Kinds of faults that may be drawn; all unless given. */
  readonly faults?: readonly (Fate | Mishap)[];
  readonly runnersMax?: number;
}

export function drawWeather(choices: Choices, options: WeatherOptions = {}): Weather {
  const { faults = [...fates, ...mishaps], runnersMax = 4 } = options;
  const isOn = (kind: Fate | Mishap, often: number): number =>
    faults.includes(kind) && choices.chance(`weather: ${kind}`, 0.5) ? often : 0;
  const isRough = choices.chance("weather: rough", 0.9);
  const rate = choices.pick("weather: fault rate", [0.01, 0.03, 0.1, 0.25]);
  const wanted = {
    refused: isOn("refused", rate),
    contended: isOn("contended", rate),
    "reply lost": isOn("reply lost", rate),
    late: isOn("late", rate),
    "crash before": isOn("crash before", rate / 3),
    "crash after": isOn("crash after", rate / 3),
  };
  const leaseMs = Math.round(choices.spread("weather: lease", 30_000, 1000));
  const minPoll = Math.round(choices.spread("weather: least poll", 1000, 20));
  const poll = Math.round(choices.spread("weather: poll", 4000, minPoll));
  const mishapsDrawn = {
    kill: isOn("kill", 1),
    freeze: isOn("freeze", 1),
    leave: isOn("leave", 1),
    "cut off": isOn("cut off", 1),
    "set clock": isOn("set clock", 0.5),
    silence: isOn("silence", 1),
    "lose answers": isOn("lose answers", 1),
    "lose writes": isOn("lose writes", 1),
  };
  const hasMishaps = isRough && Object.values(mishapsDrawn).some((weight) => weight > 0);
  const hasSkew = isRough && mishapsDrawn["set clock"] > 0;
  const ownership = choices.chance("weather: ownership", 0.25);
  return {
    runners: choices.between("weather: runners", 1, runnersMax),
    settings: {
      concurrency: choices.pick("weather: concurrency", [100, 8, 2, 1]),
      maxResidents: choices.pick("weather: residents", [0, 1000, 1, 3]),
      lease: leaseMs,
      minPoll,
      poll,
      maxPoll: Math.round(choices.spread("weather: most poll", Math.max(poll, 15_000), poll)),
      // A record counts for a few hundred bytes, whatever is in it.
      maxMemoryBytes: choices.pick("weather: memory", [runnerDefaults.maxMemoryBytes, 2 ** 20, 5000, 1500]),
    },
    latencyMsMax: choices.pick("weather: latency", [1, 5, 0.2, 50, 400]),
    fates: isRough ? { ...calm, ...wanted } : calm,
    mishaps: mishapsDrawn,
    mishapEveryMs: hasMishaps ? Math.round(choices.spread("weather: mishap every", 20_000, 300)) : 0,
    skewMs: hasSkew ? choices.pick("weather: skew", [10, 400, 20_000, 600_000]) : 0,
    nudges: choices.chance("weather: nudges", 0.6),
    nudgesLost: choices.pick("weather: nudges lost", [0, 0.2, 1]),
    // Where a dead process is known by its name, none comes back under it.
    ownership,
    sameOwner: !ownership && choices.chance("weather: same owner", 0.15),
    maxCrashes: choices.pick("weather: crashes", [10, 10, 10, 1, 3]),
    ticked: choices.chance("weather: ticked", 0.1),
    deploys: isRough && choices.chance("weather: deploys", 0.15),
    hooks: choices.chance("weather: hooks", 0.15),
    ifInterrupted: choices.chance("weather: errors when interrupted", 0.1) ? "fail" : "retry",
    writeBytesMax: choices.pick("weather: write at once", [null, null, null, 15_000]),
    cap: choices.pick("weather: cap", [null, null, null, null, null, 1, 2]),
  };
}

/** No fault but those that somebody plans. */
export const stillWeather: Omit<Weather, "settings"> = {
  runners: 0,
  latencyMsMax: 1,
  fates: calm,
  mishaps: {
    kill: 0,
    freeze: 0,
    leave: 0,
    "cut off": 0,
    "set clock": 0,
    silence: 0,
    "lose answers": 0,
    "lose writes": 0,
  },
  mishapEveryMs: 0,
  skewMs: 0,
  nudges: false,
  nudgesLost: 0,
  ownership: false,
  sameOwner: false,
  maxCrashes: 10,
  ticked: false,
  deploys: false,
  hooks: false,
  ifInterrupted: "retry",
  writeBytesMax: null,
  cap: null,
};

/** No fault at all: what the world is healed to. */
export function isCalm(weather: Weather): boolean {
  return (
    weather.mishapEveryMs === 0 &&
    weather.skewMs === 0 &&
    Object.entries(weather.fates).every(([fate, often]) => fate === "delivered" || often === 0)
  );
}
