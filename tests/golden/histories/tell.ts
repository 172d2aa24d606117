/** Plays a story with the code of today and gives the histories it keeps. */
import type { HistoryDocument } from "everstep";
import { createTestHarness, type TestHarness } from "everstep/testing";
import type { Keep, KeptHistory, Story } from "./story.ts";

export async function tell({ name, workflows, play }: Story): Promise<readonly KeptHistory[]> {
  const harness = createTestHarness({ workflows, seed: name });
  const kept: KeptHistory[] = [];
  const keep: Keep = async (moment, instance, runNumber) => {
    const history = await instance.exportHistory(runNumber === undefined ? {} : { runNumber });
    kept.push({ name: `${name}.${moment}`, history: withoutStacks(history) as HistoryDocument });
  };
  try {
    await play(harness as unknown as TestHarness, keep);
  } finally {
    await harness.stop();
  }
  return kept;
}

/** Stacks name files of whoever recorded; nothing depends on them. */
function withoutStacks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutStacks);
  if (typeof value !== "object" || value === null) return value;
  const { stack: _stack, ...others } = value as Record<string, unknown>;
  const { json, marks } = others;
  if (typeof json === "string" && typeof marks === "string") return { json: cleaned(json, marks), marks };
  return Object.fromEntries(Object.entries(others).map(([key, inner]) => [key, withoutStacks(inner)]));
}

function cleaned(json: string, marks: string): string {
  const value = JSON.parse(json);
  for (const [path, tag] of JSON.parse(marks) as [(string | number)[], string][]) {
    if (tag !== "Error") continue;
    const error = path.reduce((inner, key) => inner[key], value);
    delete error.stack;
  }
  return JSON.stringify(value);
}
