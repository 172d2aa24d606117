/** Runs the real bin, in a process of its own and a folder of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach } from "vitest";

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** Milliseconds between the last thing it wrote and its end. */
  readonly lingered: number;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  /** Called with what standard output has so far, whenever there is more. */
  readonly onOutput?: (text: string, child: ChildProcess) => void;
}

const shared = mkdtempSync(join(tmpdir(), "everstep-cli-"));
const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
});
afterAll(() => rmSync(shared, { recursive: true, force: true, maxRetries: 5 }));

export const binArguments = [
  "--conditions=everstep-source",
  "--disable-warning=ExperimentalWarning",
  `--import=${resolve("tests/cli/support/fixed-clock.ts")}`,
  resolve("packages/everstep/src/cli/bin.ts"),
];

/** What a person's shell would have, without what this machine or the test runner has. */
export function plainEnv(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME: shared, TERM: "xterm-256color", TZ: "UTC", NODE_COMPILE_CACHE, ...more };
}

/** A folder that has nothing in it, and nothing above it that could be found. */
export function emptyFolder(): string {
  return mkdtempSync(join(shared, "folder-"));
}

export async function everstep(words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const child = start(words, options);
  let out = "";
  let err = "";
  let lastWrite = performance.now();
  child.stdout.on("data", (data) => {
    out += data;
    lastWrite = performance.now();
    options.onOutput?.(out, child);
  });
  child.stderr.on("data", (data) => {
    err += data;
    lastWrite = performance.now();
  });
  const code = await new Promise<number | null>((done) => child.once("close", (status) => done(status)));
  children.delete(child);
  return { code, out, err, lingered: performance.now() - lastWrite };
}

export function start(words: readonly string[], { env, cwd, input }: RunOptions = {}) {
  const child = spawn(process.execPath, [...binArguments, ...words], {
    env: plainEnv(env),
    cwd: cwd ?? shared,
    stdio: ["pipe", "pipe", "pipe"],
  });
  children.add(child);
  child.stdin.on("error", () => {});
  child.stdin.end(input ?? "");
  return child;
}
