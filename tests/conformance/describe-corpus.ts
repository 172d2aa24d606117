import { afterAll, beforeAll, describe, type ExpectStatic, expect, test } from "vitest";
import { type Case, needsReload, readCorpus } from "./corpus.ts";
import type { Differences } from "./differences.ts";
import { compareRecord, type Operation, type Program, type ProgramRecord } from "./harness.ts";
import type { CorpusHost } from "./in-process.ts";

export interface Setting {
  readonly differences: Differences;
  /** An app of its own for these programs, none of which reloads. */
  readonly hostTogether: (programs: readonly Program[]) => Promise<CorpusHost>;
  readonly driveReloading: (program: Program) => Promise<ProgramRecord>;
}

/** Runs every program in this setting. */
export async function describeCorpus(title: string, setting: Setting): Promise<void> {
  const corpus = await readCorpus();
  const { differences } = setting;

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
      // A machine that was busy elsewhere for half a second is no difference.
      const retry = measuresTime(program) ? 2 : 0;
      let host: CorpusHost | null = null;
      test.concurrent(`${program.name} ${verdict}`, { retry }, async ({ expect }) => {
        const isFirst = host === null;
        host = isFirst ? together : await setting.hostTogether([program]);
        const record = await (needsReload(program) ? setting.driveReloading(program) : host.drive(program));
        if (!isFirst) await host.stop();
        judge({ program, expected }, record, differences, expect);
      });
    }
  });
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

function measuresTime(program: Program): boolean {
  return String(program.run).includes("api.stamps(");
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
