/** Every program and module of examples/http serves the API for real, under its path. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { QueueMessage, WakeHint } from "everstep";
import { afterAll, describe, expect, test } from "vitest";
import { eventsOf } from "./support/curl.ts";
import { Namespaces, serverStores } from "./support/server-stores.ts";

const token = "a-token-for-the-examples";
const folders: string[] = [];
const emptyFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "everstep-http-"));
  folders.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

type Ask = (path: string, init?: RequestInit) => Promise<Response>;

/** An order from its creation to its end. `turn` is for hosts that take turns only when told. */
async function walk(ask: Ask, turn: () => Promise<void> = async () => {}): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const get = (path: string): Promise<Response> => ask(path, { headers });
  const post = async (path: string, body: unknown): Promise<Response> => {
    const json = { ...headers, "content-type": "application/json" };
    const response = await ask(path, { method: "POST", headers: json, body: JSON.stringify(body) });
    await turn();
    return response;
  };
  const orders = "/workflows/order/instances";

  expect((await ask("/workflows")).status).toBe(401);
  expect(await (await get("/workflows")).json()).toEqual({
    workflows: [{ name: "order" }, { name: "delivery" }],
  });
  const created = await post(orders, { id: "o-1", params: { userId: 7, note: "Grüße, 世界" } });
  expect([created.status, await created.json()]).toEqual([201, { id: "o-1", details: { status: "active" } }]);

  const stream = await ask(`${orders}/o-1`, { headers: { ...headers, accept: "text/event-stream" } });
  expect(stream.headers.get("content-type")).toContain("text/event-stream");
  const watch = watching(stream);
  await watch.until(({ meta }) => meta.currentStep?.name === "approval");
  expect(await (await get(`${orders}/o-1`)).json()).toMatchObject({
    details: { status: "waiting" },
    meta: { params: { userId: 7, note: "Grüße, 世界" } },
  });

  expect((await post(`${orders}/o-1/events`, { type: "approved", payload: { by: "kim" } })).status).toBe(200);
  await watch.until(({ meta }) => meta.currentStep?.name === "cool-off");
  expect((await post(`${orders}/o-1/skip-sleep`, {})).status).toBe(200);
  const { details } = await watch.until(({ details: { status } }) => status === "complete");
  expect(details).toEqual({ status: "complete", output: { chargeId: "ch-o-1", approvedBy: "kim" } });
  await watch.end();

  const problem = await get(`${orders}/nobody`);
  expect([problem.status, await problem.json()]).toMatchObject([
    404,
    { error: { code: "INSTANCE_NOT_FOUND" } },
  ]);
}

interface Seen {
  readonly details: { readonly status: string; readonly output?: unknown };
  readonly meta: { readonly currentStep?: { readonly name: string } };
}

function watching(response: Response): {
  until(fits: (seen: Seen) => boolean): Promise<Seen>;
  end(): Promise<void>;
} {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = "";
  return {
    async until(fits) {
      for (;;) {
        const [, data = "null"] = /^data: (.+)$/m.exec(eventsOf(text).at(-1) ?? "") ?? [];
        const seen = JSON.parse(data) as Seen | null;
        if (seen && fits(seen)) return seen;
        const { value, done } = await reader.read();
        if (done) expect.fail(`The stream ended after: ${text}`);
        text += decoder.decode(value, { stream: true });
      }
    },
    end: () => reader.cancel(),
  };
}

describe.each([
  { file: "node.ts", site: null },
  { file: "express.ts", site: "The shop is open." },
  { file: "fastify.ts", site: "The shop is open." },
  { file: "hono.ts", site: "The shop is open." },
])("$file", ({ file, site }) => {
  test.concurrent("serves the API, beside its own pages where it has any", async ({ expect }) => {
    const program = await started(file);
    try {
      const mount = program.url.replace(/\/$/, "");
      await walk((path, init) => fetch(`${mount}${path}`, init));
      const own = site === null ? null : await fetch(new URL("/", program.url));
      expect(own && (await own.text())).toBe(site);
    } finally {
      await program.stop();
    }
  });
});

test("express: a body that its own parser read, or left alone, arrives as it was sent", async () => {
  const program = await started("express.ts");
  const post = (path: string, init: RequestInit): Promise<Response> =>
    fetch(`${program.url}/workflows/order/instances${path}`, { method: "POST", ...init });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  try {
    expect((await post("", { headers, body: '{"id":"o-1","params":{"userId":1}}' })).status).toBe(201);
    expect((await post("/o-1/pause", { headers: { authorization: headers.authorization } })).status).toBe(
      200,
    );
    const text = await post("", { headers: { ...headers, "content-type": "text/plain" }, body: "hello" });
    expect([text.status, await text.json()]).toMatchObject([
      415,
      { error: { code: "UNSUPPORTED_MEDIA_TYPE" } },
    ]);
  } finally {
    await program.stop();
  }
});

test("the Next.js route handlers answer, with the runner that instrumentation starts", async () => {
  process.env.DATABASE_FILE = join(emptyFolder(), "shop.db");
  process.env.EVERSTEP_TOKEN = token;
  process.env.NEXT_RUNTIME = "nodejs";
  const { register } = await import("../examples/http/next/instrumentation.ts");
  const { app } = await import("../examples/http/next/workflows.ts");
  const route = await import("../examples/http/next/app/api/workflows/[...path]/route.ts");
  await register();
  try {
    await walk((path, init) => {
      const method = (init?.method ?? "GET") as "GET" | "POST";
      return route[method](new Request(`https://shop.test/api/workflows${path}`, init));
    });
    const head = await route.HEAD(new Request("https://shop.test/api/workflows/livez", { method: "HEAD" }));
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const allowed = await route.OPTIONS(
      new Request("https://shop.test/api/workflows/instances", { method: "OPTIONS" }),
    );
    expect([allowed.status, allowed.headers.get("allow")]).toEqual([204, "GET, HEAD"]);
  } finally {
    await app.stop();
  }
});

describe("the worker", () => {
  const server = serverStores.find(({ name }) => name === "postgres");
  const isThere = server?.url !== undefined;

  test.skipIf(!isThere)("answers, and takes turns when its queue or its schedule says so", async () => {
    if (server?.url === undefined) return;
    const { default: worker } = await import("../examples/http/workers.ts");
    const namespaces = new Namespaces(server);
    const namespace = namespaces.take();
    const hints: WakeHint[] = [];
    const env = {
      HYPERDRIVE: { connectionString: server.url },
      HINTS: { send: async (hint: unknown) => void hints.push(hint as WakeHint) },
      EVERSTEP_TOKEN: token,
      NAMESPACE: namespace,
    };
    const inBackground: Promise<unknown>[] = [];
    const context = { waitUntil: (work: Promise<unknown>) => void inBackground.push(work) };
    const messages = (): QueueMessage[] =>
      hints.splice(0).map((body, at) => ({ id: String(at), body, ack() {}, retry() {} }));
    let turns = 0;
    const turn = async (): Promise<void> => {
      turns += 1;
      // The last one is for the schedule: as if its hint were lost.
      if (turns > 2) return worker.scheduled({}, env);
      expect(hints.length).toBeGreaterThan(0);
      await worker.queue({ messages: messages() }, env);
    };
    const ask: Ask = async (path, init) => {
      const response = await worker.fetch(
        new Request(`https://shop.test/api/workflows${path}`, init),
        env,
        context,
      );
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
      if (isStream) return response;
      const body = await response.text();
      // The app of this request is closed, its hints are sent.
      await inBackground.at(-1);
      return new Response(body, response);
    };
    try {
      await walk(ask, turn);
      await Promise.all(inBackground);
    } finally {
      await namespaces.giveBack(namespace);
    }
  });
});

test("every example is among these", () => {
  const files = globSync("examples/http/*.ts").map((file) => file.split("/").at(-1));
  expect(files.sort()).toEqual(["express.ts", "fastify.ts", "hono.ts", "node.ts", "shop.ts", "workers.ts"]);
});

/** A program of examples/http in a process of its own, once it has said where it listens. */
async function started(file: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const flags = ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"];
  const child = spawn(process.execPath, [...flags, resolve("examples/http", file)], {
    cwd: emptyFolder(),
    env: { ...env, PORT: "0", EVERSTEP_TOKEN: token },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const said = await Promise.race([
    once(child.stdout, "data"),
    ended.then(() => expect.fail(`${file} ended`)),
  ]);
  return {
    url: String(said[0]).trim(),
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
