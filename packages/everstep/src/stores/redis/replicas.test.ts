/** Waiting for replicas: it is the connection that wrote that waits, and an answer that does not come leaves what was done. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { defineWorkflow } from "../../authoring/define-workflow.ts";
import { createWorkflows } from "../../client/create-workflows.ts";
import { instance, started, write } from "../../testing/store-contract/acts.ts";
import { at, boundary, claimRequest, commit, completed, create } from "../../testing/store-contract/given.ts";
import { loadDriver, type RedisClient, type RedisDriver } from "./driver.ts";
import type { RedisStore } from "./redis-store.ts";
import { serverProgram, TestServer } from "./test-server.ts";
import { openFresh, reopen } from "./test-support.ts";

const waitReplicas = { count: 1, timeoutMs: 10_000 };
const ambiguous = { failure: "ambiguous", code: "STORE_UNAVAILABLE" };

describe.skipIf(serverProgram === undefined)("a WAIT whose answer is lost", () => {
  let server: TestServer;
  const open: RedisStore[] = [];
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server?.stop());
  afterEach(async () => {
    for (const store of open.splice(0)) await store.close();
  });

  test("leaves what was written, so the write is one that may have happened", async () => {
    const wire = new Wire();
    const store = openOn(wire);
    wire.onWait = (client) => client.disconnect();
    await expect(store.write([create("a")], at(0))).rejects.toMatchObject(ambiguous);
    const other = watch(reopen(store, { url: server.url }));
    expect((await instance(other, "a")).status).toBe("active");
    await expect(store.claim(claimRequest({ now: at(0) }))).rejects.toMatchObject(ambiguous);
    expect((await instance(other, "a")).executing).toBe(true);
  });

  test("that a server refuses because it became a replica meanwhile leaves it too", async () => {
    const wire = new Wire();
    const store = openOn(wire);
    wire.onWait = () => {
      throw Object.assign(new Error("ERR WAIT cannot be used with replica instances."), {
        name: "ReplyError",
      });
    };
    await expect(store.write([create("a")], at(0))).rejects.toMatchObject(ambiguous);
  });

  test("is never asked of another connection than the one that wrote", async () => {
    const wire = new Wire();
    const store = openOn(wire);
    await store.migrate();
    wire.onWritten = (client) => {
      wire.onWritten = undefined;
      client.disconnect();
    };
    await expect(store.write([create("a")], at(0))).rejects.toMatchObject(ambiguous);
    wire.onWait = () => 1;
    expect(await write(store, create("b"))).toMatchObject({ kind: "created" });
    expect(wire.waits).toEqual(["the one that wrote", "the one that wrote"]);
  });

  test("does not let a repeat pass that has nothing to wait for: it writes again before it waits", async () => {
    const wire = new Wire();
    const store = openOn(wire);
    wire.onWait = () => 1;
    const { lease } = await started(store, "a");
    const request = commit(lease, boundary(1, { steps: [completed(1)] }));
    wire.onWait = (client) => client.disconnect();
    await expect(store.write([request], at(1))).rejects.toMatchObject(ambiguous);
    const before = await changes();
    wire.onWait = () => 1;
    expect(await store.write([request], at(2))).toMatchObject([{ kind: "committed" }]);
    expect(await changes()).toBeGreaterThan(before);
  });

  test("does not make create() say that the id is taken", async () => {
    const wire = new Wire();
    const store = openOn(wire);
    const workflow = defineWorkflow({ name: "w" }, async () => "done");
    const app = createWorkflows({ workflows: { W: workflow }, store, onProblem: () => {} });
    let lost = 0;
    wire.onWait = (client) => {
      lost += 1;
      if (lost > 1) return 1;
      client.disconnect();
    };
    const created = await app.workflows.W.create({ id: "a" });
    expect(created.id).toBe("a");
    expect(lost).toBeGreaterThan(1);
    await app.stop();
  });

  function openOn(wire: Wire): RedisStore {
    return watch(openFresh({ url: server.url, waitReplicas, commandTimeoutMs: 15_000, driver: wire.driver }));
  }

  function watch(store: RedisStore): RedisStore {
    open.push(store);
    return store;
  }

  /** How many changes the server has made so far. */
  async function changes(): Promise<number> {
    const client = await server.client();
    const info = String(await client.call("INFO", ["persistence"]));
    client.disconnect();
    return Number(/rdb_changes_since_last_save:(\d+)/.exec(info)?.[1]);
  }
});

/** A driver whose connections a test can break between a write and its WAIT. */
class Wire {
  /** What WAIT answers instead of the server; nothing lets the server answer. */
  onWait: ((client: RedisClient) => unknown) | undefined;
  onWritten: ((client: RedisClient) => void) | undefined;
  /** Which connection each WAIT was sent on. */
  readonly waits: string[] = [];
  #wrote: RedisClient | undefined;

  readonly driver = async (): Promise<RedisDriver> => {
    const { create } = await loadDriver();
    return { create: (url, options) => this.#watched(create(url, options)) };
  };

  #watched(client: RedisClient): RedisClient {
    const call = client.call.bind(client);
    client.call = async (command, args) => {
      if (command === "WAIT") return this.#wait(client, () => call(command, args));
      const reply = await call(command, args);
      if (command === "EVALSHA" || command === "EVAL") {
        this.#wrote = client;
        this.onWritten?.(client);
      }
      return reply;
    };
    return client;
  }

  async #wait(client: RedisClient, ask: () => Promise<unknown>): Promise<unknown> {
    this.waits.push(client === this.#wrote ? "the one that wrote" : "another");
    const answer = this.onWait?.(client);
    return answer ?? ask();
  }
}
