/** The outside world of the samples. */
import { setTimeout as delay } from "node:timers/promises";
import type { StepContext } from "everstep";

export const warehouse = {
  reserve: async (item: string): Promise<string> => `reserved ${item}`,
  ship: async (item: string): Promise<string> => `shipped ${item}`,
};

export const bank = {
  async charge(amount: number, { attempt, idempotencyKey }: StepContext): Promise<string> {
    if (attempt < 3) throw new Error("The bank does not answer.");
    return `charge of ${amount} for ${idempotencyKey}`;
  },
};

/** Long enough to be killed in. */
export async function takesTime({ step, signal }: StepContext): Promise<void> {
  console.log(`  "${step.name}" is at work. To kill it: kill -9 ${process.pid}`);
  await delay(workMs, undefined, { signal });
}

const workMs = Number(process.env.EVERSTEP_DEMO_WORK_MS ?? 1000);
