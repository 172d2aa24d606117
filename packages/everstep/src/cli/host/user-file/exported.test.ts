import { describe, expect, test } from "vitest";
import { defineEntrypoint } from "../../../cloudflare/index.ts";
import { createWorkflows, defineWorkflow } from "../../../index.ts";
import { memory } from "../../../stores/memory/index.ts";
import { exportedBy } from "./exported.ts";

const order = defineWorkflow({ name: "order" }, async () => 1);
const refund = defineWorkflow({ name: "refund" }, async () => 1);

class Greeter {
  async run() {}
}

const app = createWorkflows({ workflows: { order }, store: memory() });

describe("workflows are found", () => {
  test.each([
    ["named exports", { order, refund, limit: 5, helper: () => {} }, { order, refund }],
    ["a default export", { default: order }, { order }],
    ["a record", { workflows: { ORDER: order, REFUND: refund } }, { ORDER: order, REFUND: refund }],
    ["a record by default", { default: { ORDER: order } }, { ORDER: order }],
    ["an array", { all: [order, refund] }, { order, refund }],
    ["the same one under two names, once", { default: order, order }, { order }],
    ["two under one key, both", { order, default: { order: refund } }, { order, order2: refund }],
    [
      "an entrypoint for Cloudflare",
      { greeter: defineEntrypoint({ name: "g" }, Greeter) },
      { greeter: expect.anything() },
    ],
    [
      "another copy's, by their shape",
      { order: structuredCopy() },
      { order: expect.objectContaining({ name: "copy" }) },
    ],
  ])("as %s", (_, module, workflows) => {
    expect(exportedBy(module).workflows).toEqual(workflows);
    expect(exportedBy(module).app).toBeNull();
  });
});

describe("an app is found", () => {
  test.each([
    ["the default export", { default: app }],
    ["app", { app, order }],
    ["any other export", { shop: app }],
  ])("as %s", (_, module) => {
    expect(exportedBy(module).app).toBe(app);
  });

  test("and nothing else that has a fetch", () => {
    const hono = { fetch: () => new Response(), routes: [] };
    expect(exportedBy({ default: hono, nothing: null }).app).toBeNull();
  });
});

test("a class without a name is told apart from a workflow", () => {
  expect(exportedBy({ Greeter })).toEqual({ app: null, workflows: {}, classes: ["Greeter"] });
});

function structuredCopy(): object {
  const { name: _, ...rest } = order;
  return { ...rest, name: "copy" };
}
