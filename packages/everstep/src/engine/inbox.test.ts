import { describe, expect, test } from "vitest";
import { event } from "../../../../tests/support/sample-records.ts";
import { held } from "../../../../tests/support/turn-stage.ts";
import type { EventRecord } from "../model/event.ts";
import { Inbox } from "./inbox.ts";

const seqs = (inbox: Inbox): number[] => inbox.events.map(({ seq }) => seq);
const list = (...numbers: number[]): EventRecord[] => numbers.map((seq) => event({ seq }));
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the inbox of a turn", () => {
  test("has seen what it began with and what the claim said, whichever is newer", () => {
    expect(new Inbox([], 0).seq).toBe(0);
    expect(new Inbox(list(1, 2), 0).seq).toBe(2);
    // The newest one was taken by somebody already.
    expect(new Inbox(list(1), 5).seq).toBe(5);
  });

  test("takes in only what is newer, in order", () => {
    const inbox = new Inbox(list(1), 1);
    inbox.add(list(1, 2, 3));
    inbox.add(list(2));
    expect(seqs(inbox)).toEqual([1, 2, 3]);
    expect(inbox.seq).toBe(3);
  });

  test("never notices less than before", () => {
    const inbox = new Inbox([], 5);
    inbox.claimed(3, []);
    expect(inbox.seq).toBe(5);
    inbox.claimed(7, []);
    expect(inbox.seq).toBe(7);
  });

  test("gives up what is taken, and has it in its place again when it is put back", () => {
    const inbox = new Inbox(list(1, 2, 3), 3);
    const second = inbox.events[1] as EventRecord;
    inbox.take(second);
    expect(seqs(inbox)).toEqual([1, 3]);
    inbox.putBack(second);
    expect(seqs(inbox)).toEqual([1, 2, 3]);
  });

  test("does not take in again what was taken", () => {
    const inbox = new Inbox(list(1), 1);
    inbox.take(inbox.events[0] as EventRecord);
    inbox.add(list(1));
    expect(seqs(inbox)).toEqual([]);
  });
});

describe("what a commit builds on", () => {
  const named = (inbox: Inbox): number[] => inbox.name().map(({ seq }) => seq);

  test("is every event that came after the claim, until a commit that names it took effect", () => {
    const inbox = new Inbox(list(1, 2, 3), 2);
    expect(named(inbox)).toEqual([3]);
    inbox.add(list(4));
    // Only the commit that named it vouches for it.
    inbox.named();
    expect(named(inbox)).toEqual([4]);
    // It was refused, and the next one names it again.
    expect(named(inbox)).toEqual([4]);
    inbox.named();
    expect(named(inbox)).toEqual([]);
  });

  test("is there for a taken event too", () => {
    const inbox = new Inbox([], 0);
    inbox.add(list(1));
    inbox.take(inbox.events[0] as EventRecord);
    expect(named(inbox)).toEqual([1]);
  });

  test("is nothing that was read with the next claim and was there before it", () => {
    const inbox = new Inbox([], 0);
    inbox.claimed(2, list(1, 2, 3));
    expect(named(inbox)).toEqual([3]);
  });

  test("is what was heard of before the next claim: another event may have that number by then", () => {
    const inbox = new Inbox([], 0);
    inbox.add(list(1));
    inbox.claimed(1, []);
    expect(named(inbox)).toEqual([1]);
  });
});

describe("reading what is newer", () => {
  test("asks from the newest known and tells when it is there", async () => {
    const inbox = new Inbox([], 4);
    let told = 0;
    inbox.fetch(
      async (after) => list(after + 1),
      () => told++,
    );
    await settled();
    expect(seqs(inbox)).toEqual([5]);
    expect(told).toBe(1);
  });

  test("calls while a read is under way make exactly one more", async () => {
    const inbox = new Inbox([], 0);
    const reads = [held<EventRecord[]>(), held<EventRecord[]>(), held<EventRecord[]>()];
    const asked: number[] = [];
    const read = (after: number): Promise<EventRecord[]> => {
      asked.push(after);
      return reads[asked.length - 1]?.promise ?? Promise.resolve([]);
    };
    for (let calls = 0; calls < 5; calls++) inbox.fetch(read, () => {});
    expect(asked).toEqual([0]);
    reads[0]?.resolve(list(1));
    await settled();
    expect(asked).toEqual([0, 1]);
    reads[1]?.resolve(list(2));
    await settled();
    expect(asked).toEqual([0, 1]);
    expect(seqs(inbox)).toEqual([1, 2]);
  });

  test("a read that fails is over: the next call reads again", async () => {
    const inbox = new Inbox([], 0);
    let told = 0;
    inbox.fetch(
      async () => {
        throw new Error("out of reach");
      },
      () => told++,
    );
    await settled();
    inbox.fetch(
      async () => list(1),
      () => told++,
    );
    await settled();
    expect(seqs(inbox)).toEqual([1]);
    expect(told).toBe(2);
  });
});
