/** What was measured, as data: what `--json` writes and everything else is made from. */
import { judge, type Verdict } from "./aims.ts";
import type { ComparedLibrary } from "./compare/compared-library.ts";
import type { Ground } from "./grounds/ground.ts";
import type { Machine } from "./machine.ts";
import { type Summary, summarize } from "./stats.ts";
import type { Target } from "./targets.ts";
import type { Aim, Figures, LineSpec, Workload } from "./workload.ts";

export interface Report {
  readonly store: Pick<Ground, "name" | "title" | "about">;
  readonly machine: Machine & { readonly loadAfter: number };
  /** When it was measured: a day, as in 2026-01-31. */
  readonly day: string;
  /** Settings under which the store cannot keep its promises. */
  readonly warnings: readonly string[];
  readonly quick: boolean;
  readonly repeat: number;
  readonly seconds: number;
  /** What the engine's rows and the ones written by hand differ in; none if all is well. */
  readonly rowDifferences: readonly string[];
  /** Workloads that came to no figures, and why. */
  readonly failures: readonly Failure[];
  readonly workloads: readonly WorkloadReport[];
  /** What everstep was compared with, its own entry included. */
  readonly libraries: readonly ComparedLibrary[];
  readonly targets: readonly Target[];
}

export interface Failure {
  readonly workload: string;
  readonly reason: string;
}

export interface WorkloadReport {
  readonly name: string;
  readonly about: string;
  /** What stands beside everstep, where it is not the raw store. */
  readonly beside: string | null;
  /** How long all rounds took. */
  readonly seconds: number;
  /** One entry per round. */
  readonly rounds: readonly Figures[];
  readonly lines: readonly Line[];
}

export interface Line {
  readonly what: string;
  readonly unit: LineSpec["unit"];
  readonly engine: Summary | null;
  readonly raw: Summary | null;
  /** Engine by raw, round by round. */
  readonly ratio: Summary | null;
  readonly aim: Aim | null;
  readonly verdict: Verdict | null;
}

export function reportOf(
  { name, about, beside }: Workload,
  lines: readonly LineSpec[],
  rounds: readonly Figures[],
  seconds: number,
): WorkloadReport {
  return {
    name,
    about,
    beside: beside ?? null,
    seconds,
    rounds,
    lines: lines.map((line) => lineOf(line, rounds)),
  };
}

function lineOf(spec: LineSpec, rounds: readonly Figures[]): Line {
  const { what, unit, aim = null } = spec;
  const pick = (figure: string | undefined): readonly number[] | null =>
    figure === undefined ? null : rounds.map((round) => round[figure] ?? Number.NaN);
  const engine = pick(spec.engine);
  const raw = pick(spec.raw);
  const isCompared = engine !== null && raw !== null && spec.ratio !== false;
  const ratio = isCompared ? engine.map((value, n) => value / (raw[n] ?? Number.NaN)) : null;
  const line = { what, unit, engine: summary(engine), raw: summary(raw), ratio: summary(ratio), aim };
  return { ...line, verdict: aim === null ? null : judge(aim, line[aim.of]) };
}

/** Rounds without the figure do not count; none at all is nothing. */
function summary(samples: readonly number[] | null): Summary | null {
  const found = samples?.filter((sample) => !Number.isNaN(sample)) ?? [];
  return found.length === 0 ? null : summarize(found);
}
