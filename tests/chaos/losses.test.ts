/** What a failover that loses writes excuses, and what it does not. */
import { expect, test } from "vitest";
import { auditChains } from "./audit/chains.ts";
import { auditOverlaps, findOverlaps } from "./audit/overlaps.ts";
import { auditReceipts } from "./audit/receipts.ts";
import { acts, body, processOf, type Story, story, told } from "./audit/sound-story.ts";
import { doubtful } from "./losses.ts";

/** Sound, with writes lost between 2000 and 3000. */
function lossy(spoil: (spoilt: Story) => void): Story {
  const spoilt = story();
  spoilt.losses.push({ from: 2000, to: 3000 });
  spoilt.processes.push(processOf(3));
  spoil(spoilt);
  spoilt.ledger.sort((a, b) => (a.kind === "gap" ? a.from : a.at) - (b.kind === "gap" ? b.from : b.at));
  return spoilt;
}

test("a run that began and ended in what was lost may be gone; one that went on must be there", () => {
  const gone = lossy(({ ledger }) => ledger.push(...body("journey/j-9/1/0 step", "t-9", [], 2500)));
  expect(auditChains(gone)).toEqual([]);
  const stray = lossy(({ ledger }) => {
    ledger.push(...body("journey/j-9/1/0 step", "t-9", [], 2500));
    ledger.push(...body("journey/j-9/1/4 step", "t-10", ["t-9"], 3500));
  });
  expect(auditChains(stray)).toEqual(["journey/j-9/1 ran and is not there"]);
});

test("a result that was lost may have been seen before it was lost, and never after", () => {
  const seen = (at: number): Story =>
    lossy(({ ledger }) => ledger.push(...body("journey/j-1/1/9 more", "t-9", ["t-lost"], at)));
  expect(auditChains(seen(2900))).toEqual([]);
  expect(auditChains(seen(3200))).toEqual([expect.stringMatching(/saw "t-lost", which is not recorded/)]);
});

test("a body inside of one that saw what was lost may see it until its process must know; so may one that was away", () => {
  const inside = (at: number): Story =>
    lossy(({ ledger }) => {
      ledger.push(...body("journey/j-1/1/9 more", "t-9", ["t-lost"], 2900));
      ledger.push(...body("journey/j-1/1/9 more/first", "t-10", ["t-lost"], at));
    });
  expect(auditChains(inside(3200))).toEqual([]);
  expect(auditChains(inside(6000))).toEqual([expect.stringMatching(/9 more\/first .* is not recorded/)]);
  const away = lossy(({ ledger }) => {
    ledger.push({ kind: "gap", pid: 1, from: 2950, to: 3190 });
    ledger.push(...body("journey/j-1/1/9 more", "t-9", ["t-lost"], 3200));
  });
  expect(auditChains(away)).toEqual([]);
});

test("a body may begin again until its process must know that its lease is lost", () => {
  const again = (at: number): Story =>
    lossy(({ ledger }) => ledger.push(...body("journey/j-1/1/0 step", "t-0b", [], at)));
  expect(auditChains(again(3500))).toEqual([]);
  expect(auditChains(again(6000))).toEqual([expect.stringMatching(/began again/)]);
});

test("two processes may be at work together until the first must know that its lease is lost", () => {
  const together = (to: number): Story =>
    lossy(({ ledger }) => {
      for (const [pid, from] of [
        [1, 1500],
        [3, 3100],
      ] as const) {
        const token = `t-${pid}`;
        ledger.push(
          { kind: "begin", pid, at: from, body: "journey/j-1/1/5 step", start: 1, token, seen: [] },
          { kind: "end", pid, at: to, token, how: "done" },
        );
      }
    });
  expect(auditOverlaps(together(4000))).toEqual([]);
  expect(findOverlaps(together(4000))).toMatchObject([{ explained: true }]);
  expect(auditOverlaps(together(7000))).toHaveLength(1);
});

test("what was acknowledged in the lost time may be gone, and nothing that was acknowledged before or after", () => {
  const created = (answeredAt: number): Story => {
    const spoilt = lossy(({ receipts }) => {
      receipts.creations.push({ id: "j-9", acts, ...told, askedAt: answeredAt - 5, answeredAt });
    });
    return { ...spoilt, receipts: doubtful(spoilt.receipts, spoilt.losses) };
  };
  expect(auditReceipts(created(2500))).toEqual([]);
  expect(auditReceipts(created(3003))).toEqual([]);
  for (const at of [1900, 3100]) {
    expect(auditReceipts(created(at))).toEqual(["j-9 was created and is not there"]);
  }
});
