/**
 * Sweeps programs: one world for every call and every way in which it can go wrong. A case that fails prints its world
 * and how to have it alone: EVERSTEP_SWEEP="part of the case's name".
 */
import { describe, expect, test } from "vitest";
import type { SmallData } from "../small-world/small-data.ts";
import { calmly, struck } from "./sweep.ts";
import { casesOf, layouts, nameOf, type SweepCase, type SweepProgram, type Swept } from "./sweep-case.ts";

export interface SweepOptions {
  /** Where this sweep is: the file that runs it. */
  readonly file: string;
  readonly data: () => SmallData | Promise<SmallData>;
  /** Every how manieth case; all unless given. */
  readonly every?: number;
}

const wanted = process.env.EVERSTEP_SWEEP;
/** Failures that are told in full. */
const toldMax = 3;

export function describeSweep(programs: readonly SweepProgram[], options: SweepOptions): void {
  describe.each(programs)("$name", (program) => {
    test.each(layouts)(
      "INV-2, INV-8, INV-10, INV-11, INV-22, INV-37, INV-42, LIV-1, LIV-2 comes to the same whichever call goes wrong (%s)",
      async (layout) => {
        const within = withData(options);
        const calm = await within((data) => calmly(program, layout, data));
        expect(calm.finding, `nothing went wrong, and yet\n${calm.trace().join("\n")}`).toBeNull();
        const cases = casesOf(layout, calm).filter((each, at) => isWanted(each, at, options.every ?? 1));
        const failures: string[] = [];
        for (const each of cases) {
          const found = await within((data) => struck(program, each, calm, data));
          if (found.finding) failures.push(report(program, each, found, options));
          else if (wanted) console.log(`${nameOf(each)}\n${found.trace().join("\n")}`);
        }
        if (failures.length > 0) throw new Error(tell(failures, cases.length));
        // Silence is not success.
        if (!wanted) expect(cases.length).toBeGreaterThan(80 / (options.every ?? 1));
      },
      120_000,
    );
  });
}

/** Every world has data of its own. */
function withData({ data: open }: SweepOptions) {
  return async (world: (data: SmallData) => Promise<Swept>): Promise<Swept> => {
    const data = await open();
    try {
      return await world(data);
    } finally {
      await data.close?.();
    }
  };
}

function isWanted(each: SweepCase, at: number, every: number): boolean {
  return wanted ? nameOf(each).includes(wanted) : at % every === 0;
}

function report(program: SweepProgram, each: SweepCase, found: Swept, { file }: SweepOptions): string {
  const name = nameOf(each);
  return [
    `${found.finding?.invariant}: ${found.finding?.message}`,
    `program: ${program.name}`,
    `case:    ${name}`,
    `alone:   EVERSTEP_SWEEP="${name}" npx vitest run ${file} -t "${program.name}"`,
    ...found.trace(),
  ].join("\n");
}

function tell(failures: readonly string[], count: number): string {
  const told = failures.slice(0, toldMax).join("\n\n");
  return `${failures.length} of ${count} worlds broke a promise; the first of them:\n\n${told}`;
}
