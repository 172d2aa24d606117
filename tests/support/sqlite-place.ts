/** For the tests of this store: places to write to, and scripts that run in real processes of their own. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import type { SqliteDriver } from "../../packages/everstep/src/stores/sqlite/driver.ts";
import { nodeDriver } from "../../packages/everstep/src/stores/sqlite/driver.ts";
import { migrations, tableNames } from "../../packages/everstep/src/stores/sqlite/schema.ts";

export function temporaryFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "everstep-sqlite-")));
}

/** The file as the first version of the schema left it, without instances. */
export function makeFirstSchema(path: string): void {
  const db = new DatabaseSync(path);
  db.exec(`
    CREATE TABLE everstep_meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO everstep_meta VALUES ('last_run', 0), ('schema_version', 1), ('oldest_compatible', 1);
    ${migrations[0]?.statements(tableNames("everstep")).join(";")};
  `);
  db.close();
}

/** A driver that lets the test at the database the store opens. */
export function watchedDriver(): { readonly driver: SqliteDriver; database(): DatabaseSync } {
  let opened: object | undefined;
  return {
    driver: {
      ...nodeDriver,
      async open(path, options) {
        const database = await nodeDriver.open(path, options);
        opened ??= database.handle;
        return database;
      },
    },
    database: () => opened as DatabaseSync,
  };
}

export interface Script {
  /** The next line it prints; rejects when it ends without one. */
  line(): Promise<string>;
  send(line: string): void;
  /** As the operating system does it: without a chance to tidy up. */
  kill(): Promise<void>;
  /** Resolves when it has ended well, else rejects with what it complained about. */
  readonly ended: Promise<void>;
}

/**
 * Runs a module in a process of its own. It has `sqlite`, the builders of the contract suite as `given`, `print`,
 * `nextLine` (from the test) and `args`.
 */
export function startScript(body: string, args: Readonly<Record<string, unknown>> = {}): Script {
  const here = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
  const module = `
    import { createInterface } from "node:readline";
    import { sqlite } from ${here("../../packages/everstep/src/stores/sqlite/index.ts")};
    import * as given from ${here("../../packages/everstep/src/testing/store-contract/given.ts")};
    const args = ${JSON.stringify(args)};
    const print = (line) => process.stdout.write(line + "\\n");
    const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    const nextLine = async () => (await lines.next()).value;
    ${body}
    process.stdin.destroy();
  `;
  const flags = ["--disable-warning=ExperimentalWarning", "--input-type=module"];
  return follow(spawn(process.execPath, [...flags, "--eval", module], { stdio: "pipe" }));
}

function follow(child: ChildProcessWithoutNullStreams): Script {
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let complaints = "";
  child.stderr.on("data", (text) => {
    complaints += text;
  });
  const exited = new Promise<string>((resolve) => {
    child.on("close", (code, signal) =>
      resolve(code === 0 ? "" : `ended with ${signal ?? code}: ${complaints}`),
    );
  });
  const ended = exited.then((trouble) => {
    if (trouble !== "") throw new Error(trouble);
  });
  // Whoever kills a script does not wait for its end to be good.
  ended.catch(() => {});
  return {
    async line() {
      const { value, done } = await lines.next();
      if (done) throw new Error(`The script ended without a line; it ${await exited}`);
      return value;
    },
    send: (line) => void child.stdin.write(`${line}\n`),
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    ended,
  };
}
