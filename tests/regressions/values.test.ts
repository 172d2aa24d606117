/** What was given comes back as it was given, wherever it is kept, or is refused before anything is written. */
import { defineWorkflow } from "everstep";
import type { TestHarness } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { onEachStore, type Tell } from "../scenarios/each-store.ts";
import { create, ref } from "./given.ts";

const mib = 1024 * 1024;

/** Own keys that a careless reader would rename, reorder, merge into a prototype, or drop. */
const oddKeys = JSON.parse(`{
  "snake_case": 1, "camelCase": { "inner_key": [{ "deep_key": 2 }] }, "with.dots": 3, "with space": 4, "z": 5, "a": 6,
  "ключ": 7, "键": 8, "emoji 🎉": 9, "": 10, "\\u0000": 11, "10": 12, "9": 13, "$ref": 14, "'; DROP TABLE x; --": 15,
  "__proto__": { "polluted": 16, "__proto__": { "polluted": 17 } },
  "constructor": { "prototype": { "polluted": 18 } }, "prototype": 19, "toString": 20, "hasOwnProperty": 21
}`);

/** The workflow hands back what it was given in every way there is. */
const echo = defineWorkflow({ name: "echo" }, async (event, step) => {
  const result = await step.do("result", async () => event.payload);
  step.log.info("log", result);
  const { payload } = await step.waitForEvent("note", { type: "note" });
  await step
    .do("failing", { retries: false }, async () => {
      throw Object.assign(new Error("as data"), { data: payload });
    })
    .catch(() => {});
  return { params: event.payload, result, payload };
});

/** Tells of the same value as params, result, event, log data and output, replayed in a new process. */
async function echoed(tell: Tell, value: unknown): Promise<TestHarness<{ ECHO: typeof echo }>> {
  const story = tell({ ECHO: echo });
  await story.workflows.ECHO.create({ id: "i", params: value });
  await story.runUntilIdle();
  await story.restartRunner();
  await story.sendEvent("i", { type: "note", payload: value });
  await story.runUntilIdle();
  return story;
}

/** As text: a deep comparison would take __proto__ for something else than a key. */
const text = (value: unknown): string => JSON.stringify(value);

onEachStore("values", (tell) => {
  test("R-042, R-098 odd keys come back letter by letter and in their order, and no prototype is touched", async () => {
    const prototype = Reflect.ownKeys(Object.prototype);
    const story = await echoed(tell, oddKeys);
    const { status, output } = await story.status("i");
    expect(status).toBe("complete");
    const same = text(oddKeys);
    const { steps, events } = await story.history("i");
    const [line] = await story.logs("i");
    const details = await (await story.workflows.ECHO.get("i")).details();
    const kept = {
      params: output.params,
      result: output.result,
      payload: output.payload,
      stepResult: steps[0]?.result,
      eventPayload: events[0]?.payload,
      logData: line?.data,
      shownParams: details.params,
    };
    for (const [where, value] of Object.entries(kept)) expect(text(value), where).toBe(same);
    expect(Reflect.ownKeys(Object.prototype)).toEqual(prototype);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(output.params)).toBe(Object.prototype);
  });

  test("R-098 (SEC-18) rows that a stranger wrote with hostile keys are read as data", async () => {
    const hostile = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    const story = tell({ ECHO: echo });
    const now = story.runtime.now();
    await story.app.migrate();
    await story.app.store.write(
      [
        create("i", {
          workflowName: "echo",
          params: { json: hostile, marks: null },
          createdAt: now,
          dueAt: now,
        }),
        create("j", {
          workflowName: "echo",
          params: { json: hostile, marks: '[[["__proto__","polluted"],"Date"]]' },
          createdAt: now,
          dueAt: now,
        }),
      ],
      now,
    );
    await story.runUntilIdle();
    expect(text((await (await story.workflows.ECHO.get("i")).details()).params)).toBe(hostile);
    expect(await story.status("j")).toMatchObject({ status: expect.stringMatching(/waiting|errored/) });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  describe("R-075 what is stored is what was returned, and no more than the limit", () => {
    test("ten bytes of a buffer of 64 MiB are ten bytes", async () => {
      const view = new Uint8Array(new ArrayBuffer(64 * mib), 32 * mib, 10).fill(7);
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
        step.do("view", async () => view),
      );
      const story = tell({ W: workflow });
      await story.workflows.W.create({ id: "i" });
      await story.runUntilIdle();
      expect(await story.status("i")).toEqual({ status: "complete", output: new Uint8Array(10).fill(7) });
      const record = await story.app.store.getInstance(ref("i", "w"));
      expect(text(record?.output).length).toBeLessThan(200);
    });

    // In JSON a text is in quotes; "é" is two bytes and "🎉" four.
    test.each([
      ["letters", "x", 1],
      ["two bytes each", "é", 2],
      ["four bytes each", "🎉", 4],
    ])("one byte below the limit, the limit and one above it: %s", async (_title, letter, bytes) => {
      const ofBytes = (size: number): string => {
        const inside = size - 2;
        return letter.repeat(Math.floor(inside / bytes)) + "x".repeat(inside % bytes);
      };
      const workflow = defineWorkflow<{ size: number }>({ name: "w" }, async ({ payload }, step) => {
        const result = await step.do("large", { retries: false }, async () => ofBytes(payload.size));
        return result.length;
      });
      const story = tell({ W: workflow, ECHO: echo });
      const sizes = [mib - 1, mib, mib + 1];
      for (const size of sizes) await story.workflows.W.create({ id: `i${size}`, params: { size } });
      await story.runUntilIdle();
      const seen = await Promise.all(sizes.map((size) => story.status(`i${size}`)));
      expect(seen).toMatchObject([
        { status: "complete", output: ofBytes(mib - 1).length },
        { status: "complete", output: ofBytes(mib).length },
        { status: "errored", error: { code: "PAYLOAD_TOO_LARGE" } },
      ]);
      const echoing = await story.workflows.ECHO.create({ id: "e", params: ofBytes(mib) });
      await echoing.sendEvent({ type: "note", payload: ofBytes(mib) });
      const tooLarge = { code: "PAYLOAD_TOO_LARGE" };
      await expect(story.workflows.ECHO.create({ id: "f", params: ofBytes(mib + 1) })).rejects.toMatchObject(
        tooLarge,
      );
      await expect(echoing.sendEvent({ type: "note", payload: ofBytes(mib + 1) })).rejects.toMatchObject(
        tooLarge,
      );
      expect((await story.history("e")).events).toHaveLength(1);
    });
  });

  describe("R-077 names that look alike are not the same", () => {
    const alike = [
      "1",
      "01",
      "001",
      "1e3",
      "1000",
      "A",
      "a",
      "true",
      "null",
      "constructor",
      "__proto__",
      "x".repeat(100),
    ];

    test("instances with such ids are each their own", async () => {
      const story = tell({ ECHO: echo });
      for (const id of alike) await story.workflows.ECHO.create({ id, params: { id } });
      const { items } = await story.workflows.ECHO.list({ pageSize: 100, order: "asc" });
      expect(items.map(({ id, params }) => [id, params])).toEqual(alike.map((id) => [id, { id }]));
      for (const id of alike)
        expect((await (await story.workflows.ECHO.get(id)).details()).params).toEqual({ id });
      for (const id of ["a ", "\u00e1", "a:b", "a/b", "x".repeat(101), "10"]) {
        await expect(story.workflows.ECHO.get(id)).rejects.toMatchObject({
          code: expect.stringMatching(/^(INSTANCE_NOT_FOUND|INVALID_INSTANCE_ID)$/),
        });
      }
    });

    test("a store keeps any id apart, whatever its own keys look like", async () => {
      const story = tell({ ECHO: echo });
      const ids = [
        ...alike,
        "a:b",
        "a",
        "a:",
        ":a",
        "a\0b",
        "a b",
        "a b ",
        "\u00e1",
        "a\u0301",
        "{a}",
        "*",
        "a|b",
        "a/b",
        "ß",
        "SS",
      ];
      await story.app.migrate();
      const { store } = story.app;
      const outcomes = await store.write(
        ids.map((id) => create(id)),
        story.runtime.now(),
      );
      expect(outcomes.map(({ kind }) => kind)).toEqual(
        ids.map((id, n) => (ids.indexOf(id) === n ? "created" : "exists")),
      );
      for (const id of ids) expect((await store.getInstance(ref(id)))?.instanceId).toBe(id);
    });

    test("a wait takes the event of exactly its type, a topic only its own publications", async () => {
      const types = ["1", "01", "note", "Note", "NOTE", "note_1"];
      const topics = ["a", "A", "a.b", "a:b", "a-b"];
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
        Promise.all([
          ...types.map(async (type) => (await step.waitForEvent<string>(`t ${type}`, { type })).payload),
          ...topics.map(async (topic) => (await step.waitForEvent<string>(`p ${topic}`, { topic })).payload),
        ]),
      );
      const story = tell({ W: workflow });
      await story.workflows.W.create({ id: "i" });
      await story.runUntilIdle();
      for (const type of types.toReversed()) await story.sendEvent("i", { type, payload: type });
      for (const topic of topics.toReversed()) {
        expect(await story.app.publish(topic, topic)).toEqual({ waiters: 1 });
      }
      await story.runUntilIdle();
      expect(await story.status("i")).toEqual({ status: "complete", output: [...types, ...topics] });
    });
  });
});
