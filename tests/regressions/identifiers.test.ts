/** Names that people choose are bound or refused, never part of a statement. */
import { createWorkflows, defineWorkflow } from "everstep";
import { mysql } from "everstep/mysql";
import { postgres } from "everstep/postgres";
import { redis } from "everstep/redis";
import { sqlite } from "everstep/sqlite";
import { describe, expect, test } from "vitest";
import { onEachData } from "./each-data.ts";
import { at, create } from "./given.ts";

const hostile = [
  "'; DROP TABLE run; --",
  '"; DROP TABLE run; --',
  "`; DROP TABLE run; --",
  "x' OR '1'='1",
  "a.b; c",
  "a/*b*/",
  "a --b",
  "a\0b",
  "a\nb",
  "a\r\nFLUSHALL\r\n",
  "a}b{c",
  "*",
  "a b",
  "ünïcödé",
  "#{x}",
  "$1",
  "?",
  "%s",
  "\\",
  "",
  "x".repeat(200),
];

/** Not even text. */
const strange: unknown[] = [
  null,
  5,
  {},
  [],
  ["a"],
  { toString: () => "everstep" },
  Symbol.iterator,
  () => "a",
];

describe("R-093 (SEC-16, SEC-17) a namespace that is not a plain word is refused before anything is opened", () => {
  // Nobody listens there: what is not refused would be noticed when it is used.
  const stores = {
    sqlite: (namespace: never) => sqlite({ path: ":memory:", namespace }),
    postgres: (namespace: never) => postgres({ url: "postgres://a@127.0.0.1:1/a", namespace }),
    mysql: (namespace: never) => mysql({ url: "mysql://a@127.0.0.1:1/a", namespace }),
    redis: (namespace: never) => redis({ url: "redis://127.0.0.1:1/0", namespace }),
  };

  const invalid = expect.objectContaining({ code: "INVALID_ARGUMENT" });

  test.each(Object.entries(stores))("%s", (_name, open) => {
    for (const namespace of hostile) expect(() => open(namespace as never), namespace).toThrow(invalid);
  });

  test.each(Object.entries(stores))(
    "%s: so is one that is not text, which may say another each time",
    (_name, open) => {
      for (const namespace of strange)
        expect(() => open(namespace as never), typeof namespace).toThrow(invalid);
    },
  );
});

onEachData("identifiers", {}, (take) => {
  const workflow = defineWorkflow({ name: "order" }, async (_event, step) => {
    step.log.info("hello");
    await step.sleep("nap", "1 day");
  });

  test("R-093 (SEC-16) hostile filters, orders and cursors find nothing or are refused, and change nothing", async () => {
    const { open } = take();
    const app = createWorkflows({ workflows: { ORDER: workflow }, store: open() });
    const instance = await app.workflows.ORDER.create({ id: "i" });
    await app.tick();
    const refused = { code: expect.stringMatching(/^INVALID_/) };
    for (const text of hostile) {
      const asked = {
        status: () => app.workflows.ORDER.list({ status: text }),
        order: () => app.workflows.ORDER.list({ order: text as never }),
        cursor: () => app.workflows.ORDER.list({ cursor: text }),
        level: () => instance.logs({ level: text as never }),
        id: () => app.workflows.ORDER.get(text),
        topic: () => app.waiters(text),
        type: () => instance.sendEvent({ type: text }),
      };
      for (const [what, ask] of Object.entries(asked))
        await expect(ask(), `${what} ${text}`).rejects.toMatchObject(refused);
      expect(await app.counts(text), text).toMatchObject({ active: 0, waiting: 0 });
      const lines = await instance.logs({ category: text }).catch(({ code }) => code);
      expect(lines, text).toSatisfy((found: { items?: unknown[] } | string) =>
        typeof found === "string" ? found.startsWith("INVALID_") : found.items?.length === 0,
      );
    }
    expect(await app.counts()).toMatchObject({ waiting: 1 });
    expect((await instance.logs()).items).toHaveLength(1);
    await app.stop();
  });

  test("R-093 (SEC-16, SEC-17) a store binds every name it is given", async () => {
    const { open } = take();
    const store = open();
    await store.migrate();
    const names = hostile.filter((name) => name.length <= 100);
    await store.write(
      names.map((name) => create(name, { workflowName: name })),
      at(0),
    );
    for (const name of names) {
      const { items } = await store.listInstances({ workflowName: name, limit: 10 });
      expect(items.map(({ instanceId, workflowName }) => [instanceId, workflowName])).toEqual([[name, name]]);
      expect(await store.countByStatus(name)).toMatchObject({ active: 1 });
      expect((await store.listWaiters(name, { limit: 10 })).items).toEqual([]);
      const begun = await store.listInstances({ workflowName: name, idPrefix: name, limit: 10 });
      expect(begun.items.map(({ instanceId }) => instanceId)).toEqual([name]);
    }
    const workflows = names.map((name) => ({ name, concurrency: null }));
    const claimed = await store.claim({
      owner: names[0] as string,
      token: 7,
      workflows,
      limit: 100,
      now: at(1),
      leaseUntil: at(2),
    });
    expect(claimed).toHaveLength(names.length);
  });

  /** In a URL they would be another place, or more than one. */
  const paths = [
    "../x",
    "..",
    ".",
    "%2e%2e",
    "..%2f",
    "%2e%2e%2fx",
    "a/b",
    "a\\b",
    "a?b#c",
    "a%2Fb",
    "a%00",
    "／x",
    "a;b",
  ];

  test("R-094 (SEC-10) an id that is more than one segment of a path is refused by whoever could take it", async () => {
    const { open } = take();
    const starts = defineWorkflow<{ id: string }>({ name: "starts" }, async ({ payload: { id } }, step) => {
      const refusal = (act: () => unknown) => async () => {
        try {
          act();
          return "accepted";
        } catch (error) {
          return (error as { code: string }).code;
        }
      };
      return [
        await step.do("start", (context) => refusal(() => context.startWorkflow("order", { id }))()),
        await step.do("send", (context) =>
          refusal(() => context.sendEvent({ workflow: "order", id }, { type: "note" }))(),
        ),
      ];
    });
    const app = createWorkflows({ workflows: { ORDER: workflow, STARTS: starts }, store: open() });
    const { ORDER, STARTS } = app.workflows;
    const instance = await ORDER.create({ id: "i" });
    const refused = { code: "INVALID_INSTANCE_ID" };
    for (const [n, id] of paths.entries()) {
      const asked = {
        create: () => ORDER.create({ id }),
        createBatch: () => ORDER.createBatch([{ id: "fine" }, { id }]),
        restartOrCreate: () => ORDER.restartOrCreate({ id }),
        get: () => ORDER.get(id),
        fork: () => instance.fork({ newId: id }),
      };
      for (const [what, ask] of Object.entries(asked))
        await expect(ask(), `${what} ${id}`).rejects.toMatchObject(refused);
      expect(() => defineWorkflow({ name: id }, async () => {})).toThrow(
        expect.objectContaining({ code: "INVALID_WORKFLOW_NAME" }),
      );
      await STARTS.create({ id: `s${n}`, params: { id } });
    }
    while ((await app.tick()).processed > 0);
    for (const { id, output } of (await STARTS.list()).items)
      expect(output, id).toEqual([refused.code, refused.code]);
    expect((await ORDER.list()).items.map(({ id }) => id)).toEqual(["i"]);
    await app.stop();
  });
});
