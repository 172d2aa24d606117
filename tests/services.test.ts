import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { Redis } from "ioredis";
import { createConnection } from "mysql2/promise";
import pg from "pg";
import { afterEach, describe, expect, test, vi } from "vitest";
import { isAlive, type Server, type ServerKind, startServer, whyNot } from "../scripts/services/server.mjs";

const root = join(import.meta.dirname, "..");
const script = join(root, "scripts/services.mjs");
const minuteMs = 60_000;

const servers: Server[] = [];
const processes: ChildProcess[] = [];
afterEach(async () => {
  for (const each of processes.splice(0)) each.kill("SIGKILL");
  for (const server of servers.splice(0)) await server.stop();
});

async function start(kind: ServerKind): Promise<Server> {
  const server = await startServer(kind);
  servers.push(server);
  return server;
}

function canStart(kind: ServerKind): boolean {
  const reason = whyNot(kind);
  if (reason) console.warn(`SKIPPED: starting ${kind}, because ${reason}`);
  return reason === undefined;
}

/** Writes a word, or reads it when none is given. */
const clients: Record<ServerKind, (url: string, word?: string) => Promise<unknown>> = {
  async postgres(url, word) {
    const client = new pg.Client(url);
    await client.connect();
    try {
      if (word) return await client.query(`CREATE TABLE words AS SELECT '${word}'::text AS word`);
      return (await client.query("SELECT word FROM words")).rows[0].word;
    } finally {
      await client.end();
    }
  },
  async mysql(url, word) {
    const client = await createConnection(url);
    try {
      if (word) return await client.query(`CREATE TABLE words AS SELECT '${word}' AS word`);
      const [rows] = await client.query("SELECT word FROM words");
      return (rows as { word: string }[])[0]!.word;
    } finally {
      await client.end();
    }
  },
  async redis(url, word) {
    const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
    client.on("error", () => {});
    try {
      await client.connect();
      return await (word ? client.set("word", word) : client.get("word"));
    } finally {
      client.disconnect();
    }
  },
};

describe.each(["postgres", "mysql", "redis"] as const)("a server of kind %s", (kind) => {
  test.runIf(canStart(kind))(
    "keeps its port and what it has acknowledged when it is killed, and leaves nothing when it is stopped",
    async () => {
      const server = await start(kind);
      const { url, pid } = server;
      await clients[kind](url, "kept");

      await server.kill("SIGKILL");
      expect(isAlive(pid!)).toBe(false);
      await expect(clients[kind](url)).rejects.toThrow();

      await server.restart();
      expect(server.url).toBe(url);
      expect(server.pid).not.toBe(pid);
      expect(await clients[kind](url)).toBe("kept");

      await server.restart();
      expect(await clients[kind](url)).toBe("kept");

      await server.stop();
      expectNothingOf({ pid: server.pid!, folder: server.folder });
      await expect(server.restart()).rejects.toThrow("its data is gone");
    },
    2 * minuteMs,
  );

  test.runIf(canStart(kind))(
    "is gone when the process that started it is killed",
    async () => {
      const code = `
        import { startServer } from "./scripts/services/server.mjs";
        const { pid, folder } = await startServer("${kind}");
        console.log(JSON.stringify({ pid, folder }));
        setInterval(() => {}, 1000);`;
      const owner = launch(["--input-type=module", "-e", code]);
      const { pid, folder } = JSON.parse(await firstLine(owner));
      expect(isAlive(pid)).toBe(true);

      owner.kill("SIGKILL");
      await vi.waitFor(() => expectNothingOf({ pid, folder }), minuteMs);
    },
    2 * minuteMs,
  );
});

describe("node scripts/services.mjs", () => {
  const describeServer = "console.log(JSON.stringify(require(process.env.EVERSTEP_SERVICES).servers[0]))";

  test.runIf(canStart("redis"))("gives a command the address, and ends as the command ends", async () => {
    const command = `${describeServer}; console.log(process.env.EVERSTEP_REDIS_URL); process.exitCode = 7`;
    const { exitCode, output } = await ending(
      services(["--only=redis", "--", process.execPath, "-e", command]),
    );
    const [description, url] = output.trim().split("\n");
    expect(exitCode).toBe(7);
    expect(url).toBe(JSON.parse(description!).url);
    expectNothingOf(JSON.parse(description!));
  });

  test.runIf(canStart("redis")).each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("hands %s to the command, and clears up when that has ended", async (signal, exitCode) => {
    const command = `${describeServer}; setInterval(() => {}, 1000)`;
    const running = services(["--only=redis", "--", process.execPath, "-e", command]);
    const server = JSON.parse(await firstLine(running));
    expect(isAlive(server.pid)).toBe(true);
    running.kill(signal);
    expect((await ending(running)).exitCode).toBe(exitCode);
    expectNothingOf(server);
  });

  test("gives a command a temporary folder of its own, which is gone afterwards with what is in it", async () => {
    const command = `const folder = require("node:os").tmpdir();
      require("node:fs").mkdirSync(folder + "/left/behind", { recursive: true }); console.log(folder)`;
    const running = services(["--only=pgbouncer", "--", process.execPath, "-e", command], {
      EVERSTEP_PGBOUNCER: process.execPath,
    });
    const { exitCode, output } = await ending(running);
    expect(exitCode).toBe(0);
    expect(output.trim()).toMatch(/everstep-tmp-\w+$/);
    expect(existsSync(output.trim())).toBe(false);
  });

  test.runIf(canStart("redis"))("prints the address and waits if there is no command", async () => {
    const running = services(["--only=redis"]);
    const url = (await firstLine(running)).replace("export EVERSTEP_REDIS_URL=", "");
    await clients.redis(url, "here");
    running.kill("SIGTERM");
    expect((await ending(running)).exitCode).toBe(0);
    await expect(clients.redis(url)).rejects.toThrow();
  });

  test("uses the server that the environment names", async () => {
    const listener = createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    const url = `redis://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const command = [process.execPath, "-p", "process.env.EVERSTEP_REDIS_URL"];
    const running = services(["--only=redis", "--", ...command], { EVERSTEP_REDIS_URL: url });
    const { exitCode, output } = await ending(running);
    listener.close();
    expect([exitCode, output.trim()]).toEqual([0, url]);
  });

  test("gives a command the pooler that is installed, or the one that the environment names", async () => {
    const pooler = ["--only=pgbouncer", "--", process.execPath, "-p", "process.env.EVERSTEP_PGBOUNCER"];
    const { exitCode, output } = await ending(services(pooler, { EVERSTEP_PGBOUNCER: process.execPath }));
    expect([exitCode, output.trim()]).toEqual([0, process.execPath]);
  });

  describe("with a browser", () => {
    const askForIt = [process.execPath, "-p", "process.env.EVERSTEP_CHROMIUM"];
    const chromium = ["--only=chromium", "--", ...askForIt];

    test("gives a command the one that the environment names", async () => {
      const { exitCode, output } = await ending(services(chromium, { EVERSTEP_CHROMIUM: process.execPath }));
      expect([exitCode, output.trim()]).toEqual([0, process.execPath]);
    });

    test("refuses one that the environment names and that is not there", async () => {
      const { exitCode, messages } = await ending(services(chromium, { EVERSTEP_CHROMIUM: "/no/browser" }));
      expect(exitCode).toBe(1);
      expect(messages).toContain("EVERSTEP_CHROMIUM is set, but /no/browser is no program that can be run.");
    });

    test.each(["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"])(
      "finds one on the path under the name %s",
      async (name) => {
        const folder = mkdtempSync(join(tmpdir(), "everstep-path-"));
        symlinkSync(process.execPath, join(folder, name));
        const { exitCode, output } = await ending(services(chromium, { PATH: folder }));
        rmSync(folder, { recursive: true });
        expect([exitCode, output.trim()]).toEqual([0, join(folder, name)]);
      },
    );

    test("says loudly that there is none, and goes on without it", async () => {
      const { exitCode, output, messages } = await ending(services(chromium, noWay));
      expect([exitCode, output.trim()]).toEqual([0, "undefined"]);
      expect(messages).toContain("Chromium IS MISSING");
      expect(messages).toContain("EVERSTEP_NO_APT=1 forbids apt-get");
      expect(messages).toContain("or set EVERSTEP_CHROMIUM to the path of the program.");
      expect(messages).not.toContain("Docker");
    });

    test("fails without one where CI is set", async () => {
      const { exitCode, output } = await ending(services(chromium, { ...noWay, CI: "true" }));
      expect([exitCode, output]).toEqual([1, ""]);
    });
  });

  // These are looked for on the path alone, so without one there is no way to them.
  const noWay = { PATH: "", EVERSTEP_NO_APT: "1", CI: "" };
  const anyCommand = ["--only=redis", "--", process.execPath, "-p", "'ran'"];

  test("says loudly what is missing, and goes on without it", async () => {
    const { exitCode, output, messages } = await ending(services(anyCommand, noWay));
    expect([exitCode, output.trim()]).toEqual([0, "ran"]);
    expect(messages).toContain("Redis IS MISSING");
    expect(messages).toContain("set EVERSTEP_REDIS_URL");
  });

  test.each(["CI", "EVERSTEP_REQUIRE_SERVICES"])(
    "fails if something is missing and %s is set",
    async (name) => {
      const { exitCode, output } = await ending(services(anyCommand, { ...noWay, [name]: "true" }));
      expect([exitCode, output]).toEqual([1, ""]);
    },
  );

  test("knows what it provides by name", async () => {
    const { exitCode, messages } = await ending(services(["--only=oracle"]));
    expect(exitCode).toBe(2);
    expect(messages).toContain('There is no service "oracle".');
  });
});

function services(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const {
    EVERSTEP_REDIS_URL: _,
    EVERSTEP_CHROMIUM: __,
    EVERSTEP_REQUIRE_SERVICES: ___,
    ...inherited
  } = process.env;
  return launch([script, ...args], { ...inherited, ...env });
}

function launch(args: readonly string[], env: NodeJS.ProcessEnv = process.env): ChildProcess {
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  processes.push(child);
  return child;
}

async function firstLine(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) return line;
  throw new Error(`It ended without a word: ${await text(child.stderr!)}`);
}

async function ending(child: ChildProcess) {
  const [output, messages, exitCode] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, "exit").then(([code]) => code as number | null),
  ]);
  return { output, messages, exitCode };
}

function expectNothingOf({ pid, folder }: { pid: number; folder: string }): void {
  expect({ isAlive: isAlive(pid), hasFolder: existsSync(folder) }).toEqual({
    isAlive: false,
    hasFolder: false,
  });
}
