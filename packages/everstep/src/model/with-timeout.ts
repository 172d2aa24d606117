import type { Runtime } from "./runtime.ts";

/** There was no outcome in time. The work goes on, and nobody waits for it. */
export const timedOut: unique symbol = Symbol("timed out");

/** What the work comes to, or `timedOut` if that takes longer than `ms`. The one promise timeout of the library. */
export function withTimeout<Outcome>(
  runtime: Pick<Runtime, "timer">,
  ms: number,
  work: Promise<Outcome>,
): Promise<Outcome | typeof timedOut> {
  return new Promise((resolve, reject) => {
    const timer = runtime.timer(() => resolve(timedOut), ms);
    work.then(
      (outcome) => {
        timer.cancel();
        resolve(outcome);
      },
      (error: unknown) => {
        timer.cancel();
        reject(error);
      },
    );
  });
}
