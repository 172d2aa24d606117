import type { WireInstanceWithMeta } from "everstep/client";
import { expect, test } from "vitest";
import { childSpans, findFamily, isChildOf } from "./family.ts";

const iso = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
const step = (from: number, to: number | null, type: "do" | "sleep" = "do") =>
  ({ type, createdAt: iso(from), settledAt: to === null ? null : iso(to) }) as const;
const parent = { workflowName: "parent", instanceId: "p" };
const child = (id: string, of: typeof parent | null = parent): WireInstanceWithMeta =>
  ({
    id,
    details: { status: "complete" },
    meta: { workflowName: "child", parent: of },
  }) as WireInstanceWithMeta;

test("children are looked for where steps ran, not where the instance slept", () => {
  const spans = childSpans([step(0, 60_000), step(60_000, 3_600_000, "sleep"), step(3_600_000, 3_600_100)]);
  expect(spans.map(({ from, to }) => to - from)).toEqual([4100, 64_000]);
  expect(childSpans([step(0, null)])).toEqual([]);
});

test("a child is known by workflow and id of its parent", () => {
  expect(isChildOf(parent, child("a"))).toBe(true);
  expect(isChildOf(parent, child("b", { ...parent, workflowName: "other" }))).toBe(false);
  expect(isChildOf(parent, child("c", null))).toBe(false);
});

test("looking for children comes to an end, and says that there may be more", async () => {
  let asked = 0;
  const client = {
    instances: async () => {
      asked++;
      return { instances: [child(`c-${asked}`), child("stranger", null)], hasNextPage: true, cursor: "next" };
    },
  };
  const value = { meta: { parent: null }, steps: [step(0, 100)] };
  const family = await findFamily(client as never, parent, value as never, new AbortController().signal);
  expect(asked).toBe(10);
  expect(family).toMatchObject({ ancestors: [], isMore: true });
  expect(family.children).toHaveLength(10);
});
