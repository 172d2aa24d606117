/** Has an ordinary test run on a mutant that no simulated world can show. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Verdict } from "./hunt.ts";
import { library, repository } from "./workshop.ts";

const vitest = join(repository, "node_modules/vitest/vitest.mjs");
const underWay = new Set<ChildProcess>();

/** `home` stands for the repository. Killed when a test of the file fails that passes on the original. */
export async function notice(
  home: string,
  original: string,
  test: string,
  timeoutMs: number,
): Promise<Verdict> {
  const startMs = performance.now();
  const told = await run(home, test, timeoutMs);
  const ms = (): number => performance.now() - startMs;
  if (told.kind === "unknown") return { ...told, ms: ms() };
  if (told.failed.length === 0) return { kind: "survived", ms: ms() };
  const known = await run(original, test, timeoutMs);
  if (known.kind === "unknown") return { ...known, ms: ms() };
  const [first] = told.failed.filter((name) => !known.failed.includes(name));
  if (first === undefined) return { kind: "survived", ms: ms() };
  return { kind: "killed", invariant: test, seed: 0, message: first, signature: first, ms: ms() };
}

type Told =
  | { readonly kind: "told"; readonly failed: readonly string[] }
  | { readonly kind: "unknown"; readonly message: string };

function run(home: string, test: string, timeoutMs: number): Promise<Told> {
  const report = join(home, "report.json");
  const file = test.startsWith("tests/") ? test : join(library, test);
  const args = ["run", "--root", home, "--reporter=json", `--outputFile=${report}`, file];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [vitest, ...args], { cwd: home, stdio: "ignore" });
    underWay.add(child);
    const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      underWay.delete(child);
      resolve(
        existsSync(report) ? failedIn(report) : { kind: "unknown", message: `no report (${signal ?? code})` },
      );
    });
  });
}

interface Report {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

function failedIn(report: string): Told {
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report;
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  if (results.length === 0) {
    return {
      kind: "unknown",
      message: `no test ran: ${testResults.map(({ message }) => message).join("; ")}`,
    };
  }
  return {
    kind: "told",
    failed: results.filter(({ status }) => status === "failed").map(({ fullName }) => fullName),
  };
}

export function callOffTests(): void {
  for (const child of underWay) child.kill("SIGKILL");
}
