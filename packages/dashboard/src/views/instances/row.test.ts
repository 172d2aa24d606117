import { describe, expect, test } from "vitest";
import { rowOf } from "./row.ts";
import { listed } from "./sample-rows.ts";
import { spokenLife, spokenState } from "./state-words.ts";

const now = Date.parse("2026-03-01T12:00:00.000Z");

describe("a row says in a few words where its instance is", () => {
  const said = (changes: Parameters<typeof listed>[1]): string =>
    spokenState(rowOf(listed("a", changes)), now);

  test("at work, in line, or due later", () => {
    expect(said({ status: "active", executing: true })).toBe("executing");
    expect(said({ status: "active", queued: true, dueAt: "2026-03-01T12:00:00.000Z" })).toBe("queued");
    expect(said({ status: "active", queued: true, dueAt: "2026-03-01T11:59:00.000Z" })).toBe(
      "queued for 1 min",
    );
    expect(said({ status: "active", dueAt: "2026-03-01T12:10:00.000Z" })).toBe("starts in 10 minutes");
    expect(said({ status: "waiting", dueAt: "2026-03-01T12:10:00.000Z" })).toBe("due in 10 minutes");
    expect(said({ status: "waiting", dueAt: "2026-03-01T11:00:00.000Z" })).toBe("due now");
  });

  test("what it waits for, once that is known", () => {
    const row = rowOf(listed("a", { status: "waiting", dueAt: "2026-03-01T12:10:00.000Z" }));
    const told = (
      reason: string,
      waitsFor: { stepName: string; eventType?: string; topic?: string },
    ): string => spokenState(row, now, { reason, waitsFor });
    expect(told("waiting-for-event", { stepName: "approval", eventType: "approved" })).toBe(
      "approval ← approved, times out in 10 minutes",
    );
    expect(told("waiting-for-topic", { stepName: "news", topic: "prices" })).toBe(
      "news ← topic prices, times out in 10 minutes",
    );
    expect(told("sleeping", { stepName: "nap" })).toBe("nap wakes in 10 minutes");
    expect(told("waiting-for-retry", { stepName: "call" })).toBe("call tries again in 10 minutes");
  });

  test("why it ended badly, clipped", () => {
    expect(said({ status: "errored", error: { name: "Error", message: "no" } })).toBe("Error: no");
    expect(said({ status: "errored", error: { name: "E", message: "x".repeat(9000) } })).toHaveLength(240);
    expect(said({ status: "terminated", reason: { source: "user", message: null } })).toBe("by a person");
    expect(said({ status: "terminated", reason: { source: "user", message: "Enough" } })).toBe("Enough");
    const by = { source: "user", message: null, by: "kim" } as const;
    expect(said({ status: "terminated", reason: by })).toBe("by kim");
    expect(said({ status: "terminated", reason: { ...by, message: "Enough" } })).toBe("Enough (by kim)");
  });

  test("how long it took, or has been at it", () => {
    const life = (changes: Parameters<typeof listed>[1]): string =>
      spokenLife(rowOf(listed("a", changes)), now);
    const startedAt = "2026-03-01T11:58:00.000Z";
    expect(life({ status: "complete", startedAt, completedAt: "2026-03-01T11:58:00.840Z" })).toBe("840 ms");
    expect(life({ status: "waiting", startedAt })).toBe("2 min");
    expect(life({ status: "active" })).toBe("not started");
  });
});
