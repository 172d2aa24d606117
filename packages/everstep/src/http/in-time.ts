import type { Runtime } from "../model/runtime.ts";

/** There was no outcome in time; the work goes on, and nobody waits for it. */
export const late = Symbol("late");

export async function inTime<Outcome>(
  runtime: Runtime,
  ms: number,
  work: Promise<Outcome>,
): Promise<Outcome | typeof late> {
  let cancel = (): void => {};
  const timeUp = new Promise<typeof late>((resolve) => {
    const timer = runtime.timer(() => resolve(late), ms);
    cancel = () => timer.cancel();
  });
  try {
    return await Promise.race([work, timeUp]);
  } finally {
    cancel();
  }
}
