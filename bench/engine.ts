import { type App, createWorkflows, type RunnerSettings, type WorkflowDefinition } from "everstep";
import { sqlite } from "everstep/sqlite";
import { type CountingStore, countWrites } from "./counting-store.ts";

export interface Engine<Workflows extends Record<string, WorkflowDefinition>>
  extends Pick<CountingStore, "takeCounts" | "nextSuspension"> {
  readonly workflows: App<Workflows>["workflows"];
  stop(): Promise<void>;
}

/** An app on a new SQLite file, with every setting as a user finds it unless said otherwise. */
export async function startEngine<const Workflows extends Record<string, WorkflowDefinition>>(
  file: string,
  workflows: Workflows,
  runner: RunnerSettings = {},
): Promise<Engine<Workflows>> {
  const { store, ...counting } = countWrites(sqlite(file));
  const app = createWorkflows({ workflows, store, runner });
  await app.start();
  return {
    workflows: app.workflows,
    ...counting,
    stop: async () => void (await app.stop()),
  };
}

/** Does something for 0, 1, 2 ... with at most so many at once. */
export async function forEachOf(
  count: number,
  atOnce: number,
  act: (n: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
}
