/** What was given in confidence is shown by nothing: not by stores and apps, not by their errors, not by what they tell. */
import { inspect } from "node:util";
import { createWorkflows, defineWorkflow } from "everstep";
import { mysql } from "everstep/mysql";
import { postgres } from "everstep/postgres";
import { redis } from "everstep/redis";
import type { Store } from "everstep/store";
import { createFakeRuntime } from "everstep/testing";
import { afterEach, describe, expect, test } from "vitest";
import { at, create, value } from "./given.ts";
import { onEachServer } from "./servers.ts";

const password = "hunter2-of-the-url";
const payload = "canary-in-the-params";
const environment = "canary-in-the-environment";
process.env.EVERSTEP_REGRESSION_SECRET = environment;

const open: Store[] = [];
afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
});

/** The same server, as somebody with a password that must not get out, in a database that is not there. */
function withPassword(url: string | undefined, fallback: string): string {
  const given = new URL(url ?? fallback);
  given.username ||= "nobody";
  given.password = password;
  return given.href;
}

const strangers: Record<string, (url?: string) => Store> = {
  postgres: (url) =>
    postgres({ url: `${withPassword(url, "postgres://127.0.0.1:1/a")}_gone`, connectTimeoutMs: 2000 }),
  mysql: (url) => mysql({ url: withPassword(url, "mysql://127.0.0.1:1/a"), statementTimeoutMs: 2000 }),
  redis: (url) => redis({ url: withPassword(url, "redis://127.0.0.1:1/0"), commandTimeoutMs: 2000 }),
};

/** Everything that a log or an error page could make of it. */
function shown(thing: unknown): string {
  const parts = [inspect(thing, { depth: 20, showHidden: true, getters: true }), String(thing)];
  if (thing instanceof Error) parts.push(thing.stack ?? "", shown(thing.cause ?? ""));
  try {
    parts.push(JSON.stringify(thing) ?? "");
  } catch {}
  return parts.join("\n");
}

function expectNoSecret(thing: unknown, what: string): void {
  const text = shown(thing);
  for (const secret of [password, payload, environment]) expect(text, what).not.toContain(secret);
}

describe("R-096 (SEC-15) a password and a payload are in nothing that can be printed", () => {
  const servers = {
    postgres: "EVERSTEP_POSTGRES_URL",
    mysql: "EVERSTEP_MYSQL_URL",
    redis: "EVERSTEP_REDIS_URL",
  };

  test.each(Object.keys(servers) as (keyof typeof servers)[])(
    "%s: the store, the app, and their errors when nobody answers or the server refuses",
    async (name) => {
      for (const url of [undefined, process.env[servers[name]]]) {
        const store = strangers[name]?.(url) as Store;
        open.push(store);
        expectNoSecret(store, "store");
        const request = create("i", { params: value(payload) });
        const acts = {
          migrate: () => store.migrate(),
          write: () => store.write([request], at(0)),
          getInstance: () => store.getInstance({ workflowName: "w", instanceId: "i" }),
          warnings: async () => store.warnings?.(),
          subscribe: async () => store.subscribe?.({ onNudge() {}, onLost() {} }),
        };
        for (const [what, act] of Object.entries(acts)) {
          const outcome = await act().catch((error: unknown) => error);
          expectNoSecret(outcome, what);
        }
      }
    },
  );

  test.each(Object.keys(servers))("%s: what an app tells of its problems", async (name) => {
    const told: unknown[] = [];
    const workflow = defineWorkflow({ name: "w" }, async () => "done");
    const runtime = createFakeRuntime();
    const store = strangers[name]?.() as Store;
    const app = createWorkflows({
      workflows: { W: workflow },
      store,
      runtime,
      onNotice: (notice) => void told.push(notice),
      onProblem: (problem) => void told.push(problem),
    });
    expectNoSecret(app, "app");
    expectNoSecret(app.workflows.W, "workflow handle");
    expectNoSecret(await app.manifest(), "manifest");
    const starting = app.start().catch((error: unknown) => told.push(error));
    const creating = app.workflows.W.create({ id: "i", params: { payload } }).catch((error: unknown) =>
      told.push(error),
    );
    for (let n = 0; n < 200 && told.length < 8; n++) {
      await runtime.advance("1 second");
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await Promise.all([starting, creating]);
    expect(told.length).toBeGreaterThan(2);
    for (const each of told) expectNoSecret(each, "told");
    await store.close();
  });

  test.each([
    ["postgres", () => postgres({ url: `postgres//nobody:${password}@host` })],
    ["mysql", () => mysql({ url: `mysql//nobody:${password}@host` })],
    ["redis", () => redis({ url: `redis//nobody:${password}@host` })],
    ["postgres, with a bad option", () => postgres({ url: `postgres://a:${password}@h/d`, max: -1 })],
    ["mysql, with a bad option", () => mysql({ url: `mysql://a:${password}@h/d?bad=${password}` })],
  ])("%s: the refusal of a URL that is none", (_name, act) => {
    let thrown: unknown;
    try {
      act();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: "INVALID_ARGUMENT" });
    expectNoSecret(thrown, "refusal");
  });
});

onEachServer("secrets", (take) => {
  test("R-096 a write that the server refuses is told without what it would have written", async () => {
    const store = take().open(null);
    await store.migrate();
    const tooLong = Array.from({ length: 40_000 }, (_, n) => n).join();
    const refused = await store
      .write([create(tooLong, { params: value(payload), workflowName: tooLong })], at(0))
      .catch((error: unknown) => error);
    expectNoSecret(refused, "refused write");
  });
});
