/** What was stored by somebody else is data: it makes no function, no class and no object of ours, or it is not read. */
import { defineWorkflow } from "everstep";
import { expect, test } from "vitest";
import { create, sendEvent } from "../regressions/given.ts";
import { onEachStore } from "../scenarios/each-store.ts";

const echo = defineWorkflow({ name: "echo" }, async ({ payload }, step) => {
  const { payload: sent } = await step.waitForEvent("note", { type: "note", timeout: "1 hour" });
  return [payload, sent];
});

const value = { json: '{"a":["x",{"b":"y"}]}', marks: null };
const marked = (path: unknown, tag: unknown): string => JSON.stringify([[path, tag]]);

const hostile: Record<string, string> = {
  "a tag that nobody knows": marked(["a"], "Thing"),
  "a function": marked(["a", 0], "Function"),
  "a class": marked(["a", 1], "class Evil"),
  "the name of something every object has": marked(["a"], "constructor"),
  "the prototype": marked(["__proto__"], "Date"),
  "a prototype further in": marked(["a", 1, "__proto__", "b"], "Map"),
  "a constructor": marked(["constructor", "prototype"], "Map"),
  "a place that is not there": marked(["nowhere"], "Date"),
  "a place in a text": marked(["a", 0, 0], "Date"),
  "the length of a list": marked(["a", "length"], "BigInt"),
  "what does not fit its tag": marked(["a"], "RegExp"),
  "a tag of a later version": marked(["a"], "Date@2"),
  "a tag that is no text": marked(["a"], { tag: "Date" }),
  "marks that are no list": '{"0":[["a"],"Date"]}',
  "marks that are no JSON": "[[",
};

onEachStore("tags", (tell) => {
  test.each(Object.entries(hostile))(
    "SEC-19 params and events marked with %s end their own instance with a code, and nobody else's",
    async (_title, marks) => {
      const story = tell({ ECHO: echo });
      const now = story.runtime.now();
      const { store } = story.app;
      await story.app.migrate();
      const facts = { workflowName: "echo", createdAt: now, dueAt: now };
      await store.write([create("params", { ...facts, params: { ...value, marks } })], now);
      await story.workflows.ECHO.createBatch([{ id: "event" }, { id: "fine", params: "fine" }]);
      await story.runUntilIdle();
      const event = sendEvent("event", "e", "note", {
        workflowName: "echo",
        payload: { ...value, marks },
        createdAt: now,
      });
      await store.write([event], now);
      await story.sendEvent("fine", { type: "note", payload: "fine" });
      await story.runUntilIdle({ maxTicks: 10 });
      expect(await story.status("fine")).toEqual({ status: "complete", output: ["fine", "fine"] });
      for (const id of ["params", "event"]) {
        expect(await story.status(id), id).toMatchObject({
          status: "errored",
          error: { code: "HISTORY_UNREADABLE" },
        });
      }
      // Whoever looks at it is told so, and can still see the others.
      const { items } = await story.workflows.ECHO.list();
      expect(items).toHaveLength(3);
      expect(items.find(({ id }) => id === "params")?.params).toEqual({ unreadable: expect.any(String) });
      expect(Object.hasOwn(Object.prototype, "b")).toBe(false);
    },
  );
});
