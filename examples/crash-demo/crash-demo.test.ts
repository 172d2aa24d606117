import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import type { InstanceView, StepView } from "everstep";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type LedgerLine, prove, readLedger } from "./ledger.ts";
import { paint } from "./screen.ts";

const servers = [
  { name: "postgres", variable: "EVERSTEP_POSTGRES_URL" },
  { name: "mysql", variable: "EVERSTEP_MYSQL_URL" },
  { name: "redis", variable: "EVERSTEP_REDIS_URL" },
];

let folder: string;
let demos: ChildProcess[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "everstep-demo-test-"));
  demos = [];
});

afterEach(() => {
  for (const demo of demos) demo.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

test("an order survives two kills, and the ledger proves that no completed step ran twice", async () => {
  const demo = startDemo("--speed", "5", "--keep");
  const exitCode = await demo.exitCode;
  const output = demo.output();
  expect(exitCode, output).toBe(0);
  expect(output.match(/✖ worker \d+ killed with SIGKILL/g), output).toHaveLength(2);
  expect(output).toMatch(/killed with SIGKILL in the middle of "/);
  expect(output).toMatch(/▸ .*: started again/);
  expect(output).toMatch(/↻ charge card: bank timed out/);
  expect(output).toContain("10 steps completed (8 bodies, 1 sleep, 1 event)");
  expect(output).toContain("8 effects recorded once, no completed step ran twice");
  expect(output).toMatch(/(1 body was|2 bodies were) cut off by a kill and ran again/);
  expect(output, "piped output is plain").not.toContain("\x1b");

  const [kept = ""] = readdirSync(join(folder, ".everstep"));
  const effects = readLedger(join(folder, ".everstep", kept, "effects.jsonl"));
  expect(new Set(effects.map((line) => line.pid)).size, "workers that ran bodies").toBeGreaterThan(1);
});

for (const { name, variable } of servers) {
  test.skipIf(!process.env[variable])(
    `on ${name} an order survives two kills too, and no lease has to end first`,
    async () => {
      const demo = startDemo("--store", name, "--speed", "5");
      const exitCode = await demo.exitCode;
      const output = demo.output();
      expect(exitCode, output).toBe(0);
      expect(output.match(/✖ worker \d+ killed with SIGKILL/g), output).toHaveLength(2);
      expect(output).toMatch(/worker \d+ continued within [\d.]+ s, \d+ steps? kept/);
      expect(output).toContain("8 effects recorded once, no completed step ran twice");
      expect(output).not.toContain("lease");
      // Where runners say in which process they are: the folder stays for all, and nothing in it.
      const left = readdirSync(folder, { recursive: true }).map(String);
      expect(left.filter((name) => !/^everstep-owners-\d+$/.test(name))).toEqual([]);
    },
  );
}

test("a store that does not exist is refused with the names of those that do", async () => {
  const demo = startDemo("--store", "oracle");
  expect(await demo.exitCode).toBe(2);
  expect(demo.output()).toContain(
    'There is no store "oracle". The stores are: sqlite, postgres, mysql, redis.',
  );
});

test("a store without its server is refused with what to do", async () => {
  const demo = startDemo("--store", "mysql", { EVERSTEP_MYSQL_URL: "" });
  expect(await demo.exitCode).toBe(2);
  expect(demo.output()).toContain("EVERSTEP_MYSQL_URL is not set, so there is no MySQL for the demo.");
});

test("an interrupted demo leaves neither a worker nor files behind", async () => {
  const demo = startDemo();
  const pid = await demo.sees(/worker (\d+) started/);
  await demo.sees(/✔ reserve stock/);
  demo.process.kill("SIGINT");
  expect(await demo.exitCode).toBe(130);
  await expect.poll(() => isAlive(Number(pid))).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});

test("a step that does not exist is refused with the names of those that do", async () => {
  const demo = startDemo("--kill-at", "polish shoes");
  expect(await demo.exitCode).toBe(2);
  expect(demo.output()).toContain(
    'There is no step "polish shoes". The steps are: reserve stock, charge card',
  );
});

test("the proof fails when a completed step ran again", () => {
  const first = ledgerOf("pack", 1000);
  expect(prove(first, history("pack", 2000)).faults).toEqual([]);
  expect(prove([...first, ...ledgerOf("pack", 3000)], history("pack", 2000)).faults).toEqual([
    '"pack" ran again after it had completed',
  ]);
});

test("the proof fails when a completed step had no effect, or an unknown one ran", () => {
  expect(prove([], history("pack", 2000)).faults).toEqual(['"pack" has no effect in the ledger']);
  expect(prove([...ledgerOf("pack", 1000), ...ledgerOf("ship", 1000)], history("pack", 2000)).faults).toEqual(
    ['"ship" ran but is not recorded as completed'],
  );
});

test.each([40, 60, 200])("the picture fits a terminal of %i columns", (columns) => {
  const row = { state: "completed", ms: 1200, isStruck: true } as const;
  const lines = paint(
    {
      title: "everstep: an order that survives kill -9",
      subtitle: 'workflow "fulfil-order", order-1042, SQLite',
      elapsedMs: 12_345,
      rows: [
        { ...row, name: "a step with a long name", note: "started again, and then a long note".repeat(5) },
      ],
      workers: [
        { kind: "killed", text: 'worker 1234567 killed with SIGKILL in the middle of "print label B"' },
      ],
    },
    columns,
  );
  const widest = Math.max(...lines.map((line) => stripVTControlCharacters(line).length));
  expect(widest).toBeLessThanOrEqual(columns);
});

// --- the demo as a process

function startDemo(...given: (string | NodeJS.ProcessEnv)[]) {
  const args = given.filter((each) => typeof each === "string");
  const program = fileURLToPath(new URL("main.ts", import.meta.url));
  const options = ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"];
  const { FORCE_COLOR: _, EVERSTEP_DEMO_SPEED: __, ...env } = process.env;
  // Its temporary files go where the test can see them.
  const demo = spawn(process.execPath, [...options, program, ...args], {
    cwd: folder,
    env: Object.assign({ ...env, TMPDIR: folder }, ...given.filter((each) => typeof each !== "string")),
  });
  demos.push(demo);
  let output = "";
  for (const stream of [demo.stdout, demo.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return {
    process: demo,
    output: () => output,
    exitCode: new Promise<number | null>((resolve) => demo.once("close", resolve)),
    sees: async (pattern: RegExp): Promise<string> => {
      await expect.poll(() => output, { timeout: 60_000 }).toMatch(pattern);
      return pattern.exec(output)?.[1] ?? "";
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

// --- records for the proof

function ledgerOf(step: string, at: number): LedgerLine[] {
  const line = { step, at, pid: 1, text: "" };
  return [
    { ...line, kind: "started" },
    { ...line, kind: "effect" },
  ];
}

function history(name: string, settledAt: number) {
  const step = { name, type: "do", status: "completed", errors: [], settledAt: new Date(settledAt) };
  return { instance: { status: "complete" } as InstanceView, steps: [step as unknown as StepView] };
}
