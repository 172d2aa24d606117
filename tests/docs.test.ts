/** The pages say what the code does: their programs run, their blocks are those programs, their links lead somewhere. */
import { execFile, spawn } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { sqlite } from "everstep/sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { codeBlocks } from "./support/docs-blocks.ts";

const run = promisify(execFile);
const root = process.cwd();
const pages = globSync("docs/*.md").sort();
const examples = globSync("examples/docs/*.ts").sort();
/** A block of this many lines is read at a glance; a longer one is a program, and is run. */
const linesOfASnippet = 3;

const folders: string[] = [];
const emptyFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "everstep-docs-"));
  folders.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const nodeFlags = ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"];
/** What a person's shell would have, for the test runner's variables change how programs behave; and a shared cache. */
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(NODE_|VITEST|npm_)/.test(name))),
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};

/** The variables in which examples look for a server, and the servers of this test run. */
const servers = [
  { needs: "DATABASE_URL", url: process.env.EVERSTEP_POSTGRES_URL },
  { needs: "MYSQL_URL", url: process.env.EVERSTEP_MYSQL_URL },
  { needs: "REDIS_URL", url: process.env.EVERSTEP_REDIS_URL },
];

describe("code blocks", () => {
  const blocks = pages.flatMap((page) => codeBlocks(page));

  test.each(blocks.filter(({ lines }) => lines.length > linesOfASnippet))(
    "$page:$line is an example",
    ({ source, lines, expected }) => {
      expect(source, "put <!-- examples/docs/file.ts#region --> in front of the block").not.toBeNull();
      expect(lines).toEqual(expected);
    },
  );

  test("a block that names an example is that example, however short", () => {
    const named = blocks.filter(({ source }) => source !== null);
    expect(named.map(({ lines }) => lines)).toEqual(named.map(({ expected }) => expected));
  });

  test("every example and every region of one is on a page", () => {
    const shown = new Set(blocks.map(({ source }) => source));
    expect(examples.flatMap(namesOf).filter((name) => !shown.has(name))).toEqual([]);
  });
});

describe("examples", () => {
  // The program of the first page is killed and started again further down.
  const programs = examples.filter((file) => basename(file) !== "main.ts");

  test.concurrent("what the first page says about kill -9 is true", async () => {
    const cwd = emptyFolder();
    const program = [...nodeFlags, resolve("examples/docs/main.ts")];
    const first = spawn(process.execPath, program, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
    const said = await new Promise<string>((heard) =>
      first.stdout.once("data", (data) => heard(String(data))),
    );
    const ended = new Promise((end) => first.once("exit", end));
    await recorded(join(cwd, "shop.db"), { workflowName: "order", instanceId: "order-1" }, "cool-off");
    first.kill("SIGKILL");
    await ended;
    const { stdout: rest } = await run(process.execPath, program, { cwd, env });
    expect(`${said}${rest}`).toBe(fencedText("docs/start.md"));
    const { stdout: third } = await run(process.execPath, program, { cwd, env });
    expect(third).toBe(rest.replace("shipping\n", ""));
  });

  test.concurrent.for(programs)("%s runs", async (file, { skip, expect }) => {
    const server = servers.find(({ needs }) => readFileSync(file, "utf8").includes(needs));
    if (server && !server.url) skip(`${server.needs} is not set: there is no server`);
    const withServer = server ? { ...env, [server.needs]: server.url } : env;
    await expect(
      run(process.execPath, [...nodeFlags, resolve(file)], {
        cwd: emptyFolder(),
        env: withServer,
        timeout: 100_000,
      }),
    ).resolves.toBeDefined();
  });

  test.concurrent("the worker of running.md stops on SIGTERM, by itself", async () => {
    const worker = spawn(process.execPath, [...nodeFlags, resolve("examples/docs/worker.ts")], {
      cwd: emptyFolder(),
      env: { ...env, STAY: "1" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    await new Promise<void>((started) => {
      worker.stdout.on("data", (data) => {
        said += data;
        if (said.includes("started")) started();
      });
    });
    worker.kill("SIGTERM");
    const code = await new Promise((end) => worker.once("exit", end));
    expect([code, said]).toEqual([0, "started\nstopped: 0 finished, 0 given back\n"]);
  });
});

describe("README", () => {
  const program = () => codeBlocks("README.md")[0]?.lines.join("\n") ?? "";

  test("its program compiles and runs, given a charge", async () => {
    const folder = emptyFolder();
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(resolve("packages/everstep"), join(folder, "node_modules/everstep"), "dir");
    const charge = "async function charge(user: { id: number }, key: string) {\n  return { user, key };\n}\n";
    const ending = `
while ((await instance.status()).status !== "waiting") await new Promise((wake) => setTimeout(wake, 5));
console.log((await instance.history()).steps.map((step) => step.name + " " + step.status).join(", "));
await app.stop();
// @ts-expect-error: params have their type
export const wrong = () => app.workflows.ORDER.create({ params: { userId: "7" } });\n`;
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, "main.ts"), charge + program() + ending);
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        extends: resolve("tsconfig.base.json"),
        compilerOptions: { types: ["node"], typeRoots: [resolve("node_modules/@types")] },
        files: ["main.ts"],
      }),
    );
    await run(process.execPath, [resolve("node_modules/typescript/bin/tsc"), "-p", folder]).catch(
      ({ stdout }: { stdout: string }) => expect.fail(stdout),
    );
    const { stdout } = await run(process.execPath, [...nodeFlags, "main.ts"], { cwd: folder, env });
    expect(stdout).toBe("load user completed, charge completed, cool-off waiting\n");
  });

  test("the one of the package shows the same program", () => {
    expect(codeBlocks("packages/everstep/README.md")[0]?.lines.join("\n")).toBe(program());
  });

  test("it names every page of the documentation, in the package too", () => {
    const short = readFileSync("packages/everstep/README.md", "utf8");
    expect(pages.filter((page) => !short.includes(`[${basename(page)}](${page})`))).toEqual([]);
  });
});

describe("links", () => {
  const links = ["README.md", ...pages].flatMap((page) =>
    [...prose(page).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)]
      .map(([, to = ""]) => ({ page, to }))
      .filter(({ to }) => !/^[a-z]+:/.test(to)),
  );

  test.each(links)("$page -> $to", ({ page, to }) => {
    const [path = "", anchor] = to.split("#");
    const target = path === "" ? page : join(dirname(page), path);
    expect(existsSync(join(root, target)), `${target} does not exist`).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(target)).toContain(anchor);
  });

  test("lead to every page", () => {
    const linked = new Set(links.map(({ page, to }) => join(dirname(page), to.split("#")[0] ?? "")));
    expect(pages.filter((page) => !linked.has(page))).toEqual([]);
  });
});

/** Resolves when the step is on disk. */
async function recorded(path: string, ref: { workflowName: string; instanceId: string }, step: string) {
  const store = sqlite(path);
  await store.migrate();
  const names = async (): Promise<string[]> => {
    const record = await store.getInstance(ref);
    if (record === undefined) return [];
    return (await store.listSteps(record.runId, { limit: 10 })).items.map(({ name }) => name);
  };
  await expect.poll(names, { interval: 20 }).toContain(step);
  await store.close();
}

/** A file with regions is shown by them, one without as a whole. */
function namesOf(file: string): string[] {
  const regions = [...readFileSync(file, "utf8").matchAll(/\/\/ #region (\S+)/g)];
  return regions.length === 0 ? [file] : regions.map(([, name]) => `${file}#${name}`);
}

/** The page without its code blocks. */
function prose(page: string): string {
  return readFileSync(page, "utf8").replace(/^```[\s\S]*?^```$/gm, "");
}

/** The first block of plain text on a page: what a program prints. */
function fencedText(page: string): string {
  return /^```text\n([\s\S]*?)^```$/m.exec(readFileSync(page, "utf8"))?.[1] ?? "";
}

/** How the usual renderers name headings: lower case, punctuation gone, spaces as hyphens. */
function anchorsOf(page: string): string[] {
  const headings = [...prose(page).matchAll(/^#+ (.+)$/gm)];
  return headings.map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}
