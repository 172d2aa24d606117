/** The two commands of the first page do what it says. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";

const run = promisify(execFile);
const page = readFileSync("docs/start.md", "utf8");
const folder = mkdtempSync(join(tmpdir(), "everstep-start-"));
const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) if (child.exitCode === null && child.signalCode === null) await ended(child);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** As `npx everstep` would call it, from its sources. */
const { NODE_OPTIONS: _, ...env } = process.env;
const everstep = [
  "--conditions=everstep-source",
  "--disable-warning=ExperimentalWarning",
  resolve("packages/everstep/src/cli/bin.ts"),
];

test("from an empty folder to an instance that has run", async () => {
  // What `npm install everstep` leaves.
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(resolve("packages/everstep"), join(folder, "node_modules/everstep"), "dir");
  writeFileSync(join(folder, "package.json"), '{ "dependencies": { "everstep": "^0.1.0" } }');
  const [init, dev] = commandsUnder("## Two commands");

  await run(process.execPath, [...everstep, ...wordsOf(init)], { cwd: folder, env });
  expect(readFileSync(join(folder, "workflows.ts"), "utf8")).toBe(
    readFileSync("examples/docs/hello.ts", "utf8"),
  );

  const child = spawn(process.execPath, [...everstep, ...wordsOf(dev), "--port", "0"], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const says = listenTo(child);
  await says("start one");
  const [, , create] = commandsUnder("## Two commands");
  const { stdout } = await run(process.execPath, [...everstep, ...wordsOf(create)], { cwd: folder, env });
  expect(stdout).toContain("Hello, Ann! Goodbye!");
  const said = await says("complete:");

  const [, shown = ""] = /^```console\n([\s\S]*?)^```$/m.exec(page) ?? [];
  expect(withoutTimes(said)).toBe(withoutTimes(shown));
});

/** The lines of the `sh` blocks of a section. */
function commandsUnder(heading: string): string[] {
  const section = page.slice(page.indexOf(heading)).split(/\n## /)[0] ?? "";
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, lines = ""]) =>
    lines.trim().split("\n"),
  );
}

/** Those after `npx everstep`. */
function wordsOf(command = ""): string[] {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  expect(words.slice(0, 2)).toEqual(["npx", "everstep"]);
  return words.slice(2);
}

/** Resolves with all that was said once this is among it, to the end of its line. */
function listenTo(child: ChildProcess): (what: string) => Promise<string> {
  let text = "";
  let heard = (): void => {};
  child.stdout?.on("data", (data) => {
    text += data;
    heard();
  });
  const gone = once(child, "exit").then(() => expect.fail(`It ended, having said: ${text}`));
  gone.catch(() => {});
  return async (what) => {
    const isThere = (): boolean => text.includes(what) && text.includes("\n", text.indexOf(what));
    while (!isThere()) {
      const more = new Promise<void>((resolve) => {
        heard = resolve;
      });
      await Promise.race([more, gone]);
    }
    return text;
  };
}

function withoutTimes(text: string): string {
  return text
    .replace(/^\d\d:\d\d:\d\d/gm, "09:00:00")
    .replace(/\(\d[\d.]* m?s\)/g, "(1 ms)")
    .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:4610")
    .replace(/#token=[0-9a-f-]{36}$/m, "#token=of-this-start")
    .replace(/^( {2}process +)\d+/m, (_, before) => `${before}4242`)
    .trim();
}

async function ended(child: ChildProcess): Promise<void> {
  const end = once(child, "exit");
  child.kill("SIGTERM");
  await end;
}
