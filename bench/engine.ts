import { type App, createWorkflows, type RunnerSettings, type WorkflowDefinition } from "everstep";
import { type CountingStore, countCalls } from "./counting-store.ts";
import type { Place } from "./grounds/ground.ts";
import { tellProblem } from "./problems.ts";

export interface Engine<Workflows extends Record<string, WorkflowDefinition>>
  extends Pick<CountingStore, "takeCounts" | "nextSuspension"> {
  readonly workflows: App<Workflows>["workflows"];
  stop(): Promise<void>;
}

/** An app with every setting as a user finds it unless said otherwise. */
export async function startEngine<const Workflows extends Record<string, WorkflowDefinition>>(
  place: Place,
  workflows: Workflows,
  runner: RunnerSettings = {},
): Promise<Engine<Workflows>> {
  const { store, ...counting } = countCalls(place.open());
  const app = createWorkflows({ workflows, store, runner, onProblem: tellProblem });
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

/** Lets the runner find out that nothing is left to do. */
export function idle(ms = 50): Promise<void> {
  return new Promise((go) => setTimeout(go, ms));
}
