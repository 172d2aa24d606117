/** Names that every object has are names like any other, and leave what every object has alone. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWorkflows, defineWorkflow, type WorkflowDefinition } from "everstep";
import { memory } from "everstep/testing";
import { afterAll, describe, expect, test } from "vitest";
import type { Place } from "../regressions/actor.ts";
import { quiet } from "../regressions/quiet.ts";
import { onEachStore } from "../scenarios/each-store.ts";
import { Namespaces, serverStores } from "../support/server-stores.ts";

const names = [
  "constructor",
  "__proto__",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "then",
  "toJSON",
];

/** A definition with own keys such as "__proto__", as a host might read them from somewhere. */
function keyed(definitions: readonly WorkflowDefinition[]): Record<string, WorkflowDefinition> {
  const workflows = Object.create(null);
  for (const [n, definition] of definitions.entries()) workflows[names[n] as string] = definition;
  return workflows;
}

onEachStore("hostile names", (tell) => {
  test.each(names)(
    "SEC-18 a workflow called %s, with instances, steps, events, topics and categories called so, works",
    async (name) => {
      const before = Reflect.ownKeys(Object.prototype);
      const workflow = defineWorkflow({ name }, async ({ payload }, step) => {
        const result = await step.do(name, async () => ({ [name]: name }));
        await step.log.info(name, { [name]: name }, { category: name });
        const event = await step.waitForEvent<unknown>(`${name} event`, { type: name });
        const news = await step.waitForEvent<unknown>(`${name} news`, { topic: name });
        await step.sleep(`${name} nap`, "1 minute");
        return [payload, result, event.payload, event.type, news.payload];
      });
      const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
      const instance = await story.workflows.W.create({ id: name, params: { [name]: 1 } });
      await story.runUntilIdle();
      await instance.sendEvent({ type: name, payload: { [name]: 2 }, idempotencyKey: name });
      await story.runUntilIdle();
      expect(await story.app.publish(name, { [name]: 3 }, { idempotencyKey: name })).toEqual({ waiters: 1 });
      await story.advance("1 minute");
      expect(await instance.status()).toEqual({
        status: "complete",
        output: [{ [name]: 1 }, { [name]: name }, { [name]: 2 }, name, { [name]: 3 }],
      });
      expect((await instance.history()).steps[0]).toMatchObject({ name, stepKey: name });
      expect((await instance.logs({ category: name })).items.length).toBeGreaterThan(0);
      expect((await story.workflows.W.list()).items.map(({ id }) => id)).toEqual([name]);
      await instance.restart({ from: `${name} nap` });
      await story.advance("1 minute");
      expect((await instance.status()).status).toBe("complete");
      expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
    },
  );

  test("SEC-18 names that nobody has given are not found, whatever every object has", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("one", async () => 1);
      await step.waitForEvent("wait", { type: "note" });
    });
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    for (const name of names) {
      expect((story.app.workflows as Record<string, unknown>)[name], name).toBeUndefined();
      await expect(story.workflows.W.get(name), name).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
      await expect(instance.restart({ from: name }), name).rejects.toMatchObject({ code: "STEP_NOT_FOUND" });
      await expect(story.workflows.W.list({ status: name }), name).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
      expect(await story.app.publish(name), name).toEqual({ waiters: 0 });
      expect((await story.app.waiters(name)).items, name).toEqual([]);
      expect(await story.app.counts(name), name).toMatchObject({ active: 0, waiting: 0 });
      await instance.sendEvent({ type: name });
    }
    await story.runUntilIdle();
    expect(await instance.status()).toEqual({ status: "waiting" });
  });
});

describe("SEC-18 workflows under keys such as __proto__", () => {
  test("are each their own", async () => {
    const definitions = names.map((name) => defineWorkflow({ name }, async () => name));
    const app = createWorkflows({ workflows: keyed(definitions), store: memory(), ...quiet() });
    for (const name of names) await app.workflows[name]?.create({ id: "i" });
    await app.tick();
    for (const name of names) {
      expect(await (await app.workflows[name]?.get("i"))?.status()).toEqual({
        status: "complete",
        output: name,
      });
    }
    expect((await app.manifest()).map(({ key }) => key)).toEqual(names);
    await app.stop();
  });
});

describe("SEC-18 a host that has frozen Object.prototype", () => {
  const folder = mkdtempSync(join(tmpdir(), "everstep-frozen-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const runOn = (place: Place | null): string => {
    const options = ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"];
    const program = join(import.meta.dirname, "frozen-program.ts");
    return execFileSync(process.execPath, [...options, program, JSON.stringify(place)], {
      encoding: "utf8",
    }).trim();
  };

  test("runs workflows in memory", () => {
    expect(runOn(null)).toBe("complete");
  });

  test("runs workflows on SQLite", () => {
    expect(runOn({ store: "sqlite", path: join(folder, "app.db") })).toBe("complete");
  });

  // mysql2 itself cannot be loaded there.
  test.each(serverStores.filter(({ name, url }) => name !== "mysql" && url !== undefined))(
    "runs workflows on $name",
    async (server) => {
      const namespaces = new Namespaces(server);
      const namespace = namespaces.take();
      expect(runOn({ store: server.name, url: server.url as string, namespace })).toBe("complete");
      await namespaces.giveBack(namespace);
    },
  );
});
