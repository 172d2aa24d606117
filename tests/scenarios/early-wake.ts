import type { InstanceRecord, Store } from "everstep/store";
import type { TestClock } from "everstep/testing";

/** As much of a harness as is needed to look behind it. */
export interface Backstage {
  readonly app: { readonly store: Store };
  readonly clock: TestClock;
}

/** The instance as the store has it; its workflow is called "w" unless said. */
export async function recordOf(
  { app }: Backstage,
  instanceId: string,
  workflowName = "w",
): Promise<InstanceRecord> {
  const record = await app.store.getInstance({ workflowName, instanceId });
  if (!record) throw new Error(`The store has no instance "${instanceId}".`);
  return record;
}

/** Makes a run due now, as a wake that comes too early does. */
export async function wakeEarly(story: Backstage, instanceId: string, workflowName = "w"): Promise<string> {
  const { runId, token } = await recordOf(story, instanceId, workflowName);
  const [outcome] = await story.app.store.write(
    [{ kind: "wake", runId, token }],
    story.clock.now().getTime(),
  );
  return outcome?.kind ?? "none";
}

/** For claims that a test makes itself: one that no lease has, and that no runner will draw. */
export function newToken(): number {
  tokens += 1;
  return tokens;
}

let tokens = 2 ** 50;
