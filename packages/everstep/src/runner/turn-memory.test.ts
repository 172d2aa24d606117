import { describe, expect, test } from "vitest";
import type { Turn } from "../engine/turn.ts";
import { TurnMemory } from "./turn-memory.ts";

const turnOf = (bytes: number): Turn => ({ bytes }) as Turn;

describe("room for more runs", () => {
  test("is what is left, in runs like the ones before", () => {
    const memory = new TurnMemory(1000);
    expect(memory.places(8, 0)).toBe(8);
    memory.claimed([100, 300]);
    expect(memory.places(8, 0)).toBe(5);
    memory.enter(turnOf(500));
    expect(memory.places(8, 0)).toBe(2);
  });

  test("is there for one run where nothing is in progress, however large it may be", () => {
    const memory = new TurnMemory(1000);
    memory.claimed([20_000]);
    expect(memory.places(8, 0)).toBe(1);
    const large = turnOf(20_000);
    memory.enter(large);
    expect(memory.places(8, 0)).toBe(0);
    memory.leave(large);
    expect(memory.places(8, 0)).toBe(1);
  });

  test("is not given twice while a claim is under way", () => {
    const memory = new TurnMemory(1000);
    memory.claimed([20_000]);
    expect(memory.places(8, 1)).toBe(0);
    memory.claimed([300]);
    expect(memory.places(8, 2)).toBe(1);
    expect(memory.places(8, 4)).toBe(0);
  });
});
