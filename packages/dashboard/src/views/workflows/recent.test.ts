import type { InstanceStatus, WireInstanceWithMeta } from "everstep/client";
import { expect, test } from "vitest";
import { recentOf, spokenRate } from "./recent.ts";

const start = Date.parse("2026-03-01T12:00:00.000Z");
const iso = (ms: number): string => new Date(start + ms).toISOString();

function listed(id: string, status: InstanceStatus, tookMs: number): WireInstanceWithMeta {
  const ended = status === "complete" || status === "errored" || status === "terminated";
  const meta = {
    createdAt: iso(0),
    startedAt: iso(0),
    updatedAt: iso(tookMs),
    completedAt: ended ? iso(tookMs) : null,
  };
  return { id, details: { status }, meta } as unknown as WireInstanceWithMeta;
}

test("success is of those that completed or failed, durations are of those that completed", () => {
  const took = Array.from({ length: 20 }, (_, n) => listed(`c-${n}`, "complete", (n + 1) * 100));
  const others = [listed("w", "waiting", 9e9), listed("e", "errored", 9e9), listed("t", "terminated", 9e9)];
  const recent = recentOf([...others, ...took]);
  expect(recent).toMatchObject({ ended: 22, successRate: 20 / 21, p50: 1000, p95: 1900 });
  expect(recent.bars.map(({ id }) => id).slice(-3)).toEqual(["c-0", "t", "e"]);
  expect(recent.bars.map(({ height }) => height).every((height) => height >= 0.06 && height <= 1)).toBe(true);
});

test("before anything ended nothing is said", () => {
  expect(recentOf([listed("w", "waiting", 5)])).toEqual({
    ...{ ended: 0, successRate: null, p50: null, p95: null },
    bars: [],
  });
  expect(recentOf([listed("e", "errored", 5)])).toMatchObject({ successRate: 0, p50: null });
});

test("a rate is not rounded up to what it is not", () => {
  expect([null, 1, 0.9996, 0.987, 0].map(spokenRate)).toEqual(["–", "100 %", "99.9 %", "98 %", "0 %"]);
});
