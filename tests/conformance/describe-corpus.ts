import { afterAll, beforeAll, describe, type ExpectStatic, expect, test } from "vitest";
import { type AnswerTimes, watchLateness } from "../support/lateness.ts";
import { type Case, needsReload, patient, readCorpus } from "./corpus.ts";
import type { Differences } from "./differences.ts";
import { compareRecord, type Operation, type Program, type ProgramRecord } from "./harness.ts";
import type { CorpusHost } from "./in-process.ts";

/** Programs were recorded in real time. One whose machine, or store, was this late may have seen another order of things. */
const lateMs = 60;
/** So often is a program played again that came out otherwise on a machine that was late. */
const repeatsMax = 8;

export interface Setting {
  readonly differences: Differences;
  /** An app of its own for these programs, none of which reloads. */
  readonly hostTogether: (programs: readonly Program[]) => Promise<CorpusHost>;
  readonly driveReloading: (program: Program) => Promise<ProgramRecord>;
  /** Of the stores that these use, where a server answers for them. */
  readonly answerTimes?: AnswerTimes;
}

/** Runs every program in this setting. */
export async function describeCorpus(title: string, setting: Setting): Promise<void> {
  const { differences } = setting;
  const corpus = (await readCorpus()).map(({ program, expected }) =>
    program.name in differences ? { program, expected } : { program: patient(program, expected), expected },
  );

  describe.concurrent(title, () => {
    let together: CorpusHost;
    beforeAll(async () => {
      const programs = corpus.map(({ program }) => program);
      together = await setting.hostTogether(programs.filter((program) => !needsReload(program)));
    });
    afterAll(() => together?.stop());

    test("every listed difference is one of a program that is compared", () => {
      const compared = corpus.filter(({ expected }) => expected.level !== "info");
      const names = compared.map(({ program }) => program.name);
      expect(Object.keys(differences).filter((name) => !names.includes(name))).toEqual([]);
    });

    for (const { program, expected } of inOrder(corpus)) {
      const verdict =
        expected.level === "info" ? "ends" : program.name in differences ? "differs as listed" : "conforms";
      test.concurrent(`${program.name} ${verdict}`, async ({ expect }) => {
        for (let repeats = 0; ; repeats++) {
          const lateness = watchLateness();
          const answers = setting.answerTimes?.watch();
          const record = await playOnce(program, setting, repeats === 0 ? together : null);
          const worstMs = Math.max(lateness.worstMs(), answers?.worstMs() ?? 0);
          const wasLate = worstMs > lateMs && repeats < repeatsMax;
          if (wasLate && !isAsExpected({ program, expected }, record, differences)) continue;
          return judge({ program, expected }, record, differences, expect);
        }
      });
    }
  });
}

/** On the host that all share, or on one of its own. */
async function playOnce(
  program: Program,
  setting: Setting,
  together: CorpusHost | null,
): Promise<ProgramRecord> {
  if (needsReload(program)) return setting.driveReloading(program);
  const host = together ?? (await setting.hostTogether([program]));
  const record = await host.drive(program);
  if (together === null) await host.stop();
  return record;
}

function isAsExpected({ program, expected }: Case, record: ProgramRecord, differences: Differences): boolean {
  if (expected.level === "info") return hanging(expected.recorded, record).length === 0;
  return program.name in differences === compareRecord(expected, record).length > 0;
}

function judge(
  { program, expected }: Case,
  record: ProgramRecord,
  differences: Differences,
  expect: ExpectStatic,
): void {
  if (expected.level === "info") {
    expect(hanging(expected.recorded, record), "operations that gave up").toEqual([]);
    return;
  }
  const found = compareRecord(expected, record);
  const reason = differences[program.name];
  if (reason === undefined) expect(found).toEqual([]);
  else expect(found, `${program.name} conforms now: take it off the list`).not.toEqual([]);
}

/** What the recorded engine brought to an end and this one did not. */
function hanging(recorded: ProgramRecord, got: ProgramRecord): readonly unknown[] {
  return got.drive.filter((entry, n) => "gaveUp" in entry && !("gaveUp" in (recorded.drive[n] ?? {})));
}

/** Those that wait longest begin first, so that nothing waits for them in the end. */
function inOrder(corpus: readonly Case[]): readonly Case[] {
  return corpus.toSorted((a, b) => untilMs(b) - untilMs(a));
}

function untilMs({ program }: Case): number {
  const longest = ({ op, timeout = 8000, ms = 0 }: Operation) => (op.startsWith("until") ? timeout : ms);
  return program.drive.reduce((sum, operation) => sum + longest(operation), 0);
}
