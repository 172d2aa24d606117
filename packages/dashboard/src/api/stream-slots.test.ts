import { expect, test } from "vitest";
import { streamSlots } from "./stream-slots.ts";

/** Locks of one origin, as tabs see them. */
function someLocks() {
  const held = new Set<string>();
  const request = async (name: string, _options: unknown, work: (lock: unknown) => Promise<unknown>) => {
    if (held.has(name)) return work(null);
    held.add(name);
    return work({ name }).finally(() => held.delete(name));
  };
  return { request } as unknown as LockManager;
}

test("however many tabs there are, two have a stream; a third gets the place of one that closes", async () => {
  const locks = someLocks();
  const ends: ((name: string) => void)[] = [];
  const work = () => new Promise<string>((resolve) => ends.push(resolve));
  const held = [streamSlots(locks).withSlot(work), streamSlots(locks).withSlot(work)];
  while (ends.length < 2) await Promise.resolve();
  const late = streamSlots(locks);
  expect(await late.withSlot(async () => "third")).toBe(null);
  ends[0]?.("first");
  expect(await held[0]).toBe("first");
  expect(await late.withSlot(async () => "third")).toBe("third");
  ends[1]?.("second");
  expect(await held[1]).toBe("second");
});

test("where the browser has no locks, nothing is streamed", async () => {
  expect(await streamSlots(undefined).withSlot(async () => "done")).toBe(null);
});
