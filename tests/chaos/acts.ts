/** What a journey does, as plain data: its params say it, so everybody can work out what must come of it. */
import type { Random } from "./random.ts";

export type Act =
  | { readonly kind: "step"; readonly ms: number }
  /** Throws in its first starts. */
  | { readonly kind: "flaky"; readonly ms: number; readonly throws: number }
  /** Throws always; the workflow lives with it. */
  | { readonly kind: "hopeless"; readonly ms: number }
  /** Must not be repeated: one that is cut off fails, and the workflow lives with it. */
  | { readonly kind: "once"; readonly ms: number }
  | { readonly kind: "sleep"; readonly ms: number }
  | { readonly kind: "letter" }
  | { readonly kind: "news"; readonly topic: string }
  /** Two steps within a step. */
  | { readonly kind: "nested"; readonly ms: number }
  /** Two steps, of which the first to be done counts. */
  | { readonly kind: "race"; readonly ms: readonly [number, number] }
  /** Starts a child and waits for its word. */
  | { readonly kind: "errand"; readonly ms: number }
  | { readonly kind: "branches"; readonly branches: readonly (readonly Act[])[] };

export const topics: readonly string[] = ["weather", "prices", "results", "gossip"];

/** Retries of a hopeless step. */
export const hopelessRetries = 1;
/** Starts of a flaky step that throw, at most; it is given as many retries. */
export const flakyThrowsMax = 2;

const kinds: readonly Act["kind"][] = [
  ...["step", "step", "step", "step", "flaky", "flaky", "hopeless", "once", "sleep", "sleep"],
  ...["letter", "letter", "news", "nested", "race", "errand", "branches"],
] as Act["kind"][];

export function drawActs(random: Random): Act[] {
  const acts = Array.from({ length: random.between(4, 8) }, () => drawAct(random, kinds));
  // It ends with a body, so that everything before it is seen by one.
  return [...acts, { kind: "step", ms: random.between(1, 20) }];
}

function drawAct(random: Random, among: readonly Act["kind"][]): Act {
  const kind = random.pick(among);
  const ms = drawMs(random);
  switch (kind) {
    case "flaky":
      return { kind, ms, throws: random.between(1, flakyThrowsMax) };
    case "sleep":
      return { kind, ms: random.between(1, 1200) };
    case "letter":
      return { kind };
    case "news":
      return { kind, topic: random.pick(topics) };
    case "race":
      return { kind, ms: [drawMs(random), drawMs(random)] };
    case "branches":
      return { kind, branches: drawBranches(random) };
    default:
      return { kind, ms };
  }
}

function drawBranches(random: Random): Act[][] {
  const within = kinds.filter((kind) => kind !== "branches");
  return Array.from({ length: random.between(2, 3) }, () =>
    Array.from({ length: random.between(1, 3) }, () => drawAct(random, within)),
  );
}

/** Short or not so short; now and then longer than a lease, which must be renewed meanwhile, or is lost meanwhile. */
function drawMs(random: Random): number {
  if (random.chance(0.05)) return random.between(2800, 5000);
  return random.chance(0.5) ? random.between(1, 30) : random.between(30, 400);
}

/** What the journey's output must say about these acts. */
export function expectedValues(acts: readonly Act[]): unknown[] {
  return acts.map((act) => {
    if (act.kind === "branches") return act.branches.map(expectedValues);
    if (act.kind === "step" || act.kind === "nested" || act.kind === "errand") return act.ms;
    if (act.kind === "flaky") return act.throws;
    return act.kind;
  });
}

export function countLetters(acts: readonly Act[]): number {
  return acts
    .map((act) => {
      if (act.kind === "branches") return act.branches.map(countLetters).reduce((sum, each) => sum + each, 0);
      return act.kind === "letter" ? 1 : 0;
    })
    .reduce((sum: number, each) => sum + each, 0);
}
