/** The command line as a user has it: real processes in a project folder of their own. */
import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { createClient } from "everstep/client";
import { onTestFinished, vi } from "vitest";

const main = resolve("packages/everstep/src/cli/bin.ts");
const library = resolve("packages/everstep");
const nodeOptions = ["--disable-warning=ExperimentalWarning", "--conditions=everstep-source"];
/** Generous: a busy machine is slow, a mistake is for ever. */
const deadlineMs = 90_000;

// Whoever uses this starts several processes in a test.
vi.setConfig({ testTimeout: 300_000 });

/** A folder with the library installed and these files in it. */
export class Project {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "everstep-dev-test-")));

  /** What its commands find in their environment. */
  readonly env: Record<string, string> = {};

  constructor(files: Readonly<Record<string, string>> = {}) {
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 }));
    for (const [name, content] of Object.entries(files)) this.write(name, content);
  }

  install(): this {
    mkdirSync(this.path("node_modules"), { recursive: true });
    symlinkSync(library, this.path("node_modules/everstep"), "dir");
    return this;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, content: string): void {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    // As editors do: nobody sees half of it.
    writeFileSync(`${path}.new`, content);
    renameSync(`${path}.new`, path);
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  has(name: string): boolean {
    return existsSync(this.path(name));
  }

  /** Lines that bodies wrote into a file. */
  lines(name: string): string[] {
    return this.has(name) ? this.read(name).trim().split("\n") : [];
  }

  start(...words: readonly string[]): Running {
    return new Running(this.folder, words, this.env);
  }

  /** Runs a command to its end. */
  async run(
    ...words: readonly string[]
  ): Promise<{ readonly exitCode: number | null; readonly text: string }> {
    const running = this.start(...words);
    const exitCode = await running.ended;
    return { exitCode, text: running.text };
  }

  async dev(...words: readonly string[]): Promise<Dev> {
    const running = this.start("dev", "--port", "0", ...words);
    await running.says(/start one/);
    return new Dev(this, running);
  }
}

export class Running {
  readonly ended: Promise<number | null>;
  readonly #process: ChildProcess;
  readonly #waiting = new Set<() => void>();
  #text = "";
  #standardOutput = "";
  #isOver = false;

  constructor(cwd: string, words: readonly string[], env: Readonly<Record<string, string>>) {
    this.#process = spawn(process.execPath, [...nodeOptions, main, ...words], {
      cwd,
      env: {
        ...process.env,
        NO_COLOR: "1",
        NODE_OPTIONS: "",
        EVERSTEP_URL: undefined,
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own, so that a test can end all of it at once.
      detached: true,
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#text += stripVTControlCharacters(text);
        if (stream === this.#process.stdout) this.#standardOutput += text;
        for (const look of this.#waiting) look();
      });
    }
    this.ended = new Promise((done) => {
      this.#process.once("close", (exitCode) => {
        this.#isOver = true;
        for (const look of this.#waiting) look();
        done(exitCode);
      });
    });
    onTestFinished(async () => {
      if (!this.#isOver) process.kill(-this.pid, "SIGKILL");
      await this.ended;
    });
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get text(): string {
    return this.#text;
  }

  /** Without what it wrote to standard error. */
  get standardOutput(): string {
    return this.#standardOutput;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Resolves with what matches in the output from `after` on, now or as soon as it is there. */
  says(pattern: RegExp, after = 0): Promise<RegExpExecArray> {
    return new Promise((found, missed) => {
      const fail = (why: string): void =>
        missed(new Error(`${why}: ${pattern}\n--- its output:\n${this.#text}`));
      const done = (act: () => void): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        act();
      };
      const look = (): void => {
        const match = pattern.exec(this.#text.slice(after));
        if (match) done(() => found(match));
        else if (this.#isOver) done(() => fail("it ended without saying"));
      };
      const timer = setTimeout(() => done(() => fail("it did not say in time")), deadlineMs);
      this.#waiting.add(look);
      look();
    });
  }
}

export class Dev {
  readonly project: Project;
  readonly running: Running;

  constructor(project: Project, running: Running) {
    this.project = project;
    this.running = running;
  }

  get note(): { readonly url: string; readonly pid: number; readonly token?: string } {
    return JSON.parse(this.project.read(".everstep/dev.json"));
  }

  get client() {
    const { url, token } = this.note;
    return createClient({
      url,
      ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
    });
  }

  /** The process that runs the workflows now. */
  get hostPid(): number {
    const pids = [...this.running.text.matchAll(/process {4}(\d+);|\(process (\d+)\)/g)];
    const [, first, later] = pids.at(-1) ?? [];
    return Number(first ?? later);
  }

  /** Writes the file, and resolves when what that leads to was said. */
  async change(name: string, content: string, says: RegExp): Promise<RegExpExecArray> {
    const before = this.running.text.length;
    this.project.write(name, content);
    return this.running.says(says, before);
  }
}
