import { expect, test } from "vitest";
import { withoutOverhead } from "./overhead.ts";
import { type Phase, timesOf } from "./phases.ts";

const shown = (phases: readonly Phase[]) => withoutOverhead(phases, timesOf(phases));

test("two milliseconds in a queue are not shown of an hour, and half of the time is", () => {
  const wait = { kind: "event", from: 2, to: 3_600_000 } as const;
  const queued = { kind: "queued", from: 0, to: 2 } as const;
  expect(shown([queued, wait])).toEqual([wait]);
  const short = [queued, { kind: "work", from: 2, to: 4 }] as const;
  expect(shown(short)).toEqual(short);
});

test("what is no overhead is shown, however short it was", () => {
  const phases = [
    { kind: "work", from: 0, to: 1 },
    { kind: "sleep", from: 1, to: 3_600_000 },
  ] as const;
  expect(shown(phases)).toEqual(phases);
});
