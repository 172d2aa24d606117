import { defineWorkflow, type WorkflowDefinition } from "everstep";

/** Tells when it starts, and when it goes on after an event. */
export function nudgedWorkflow(
  tell: (instanceId: string, name: string) => void,
): WorkflowDefinition<unknown, void> {
  return defineWorkflow<unknown, void>({ name: "nudged" }, async ({ instanceId }, step) => {
    await step.do("start", async () => tell(instanceId, "start"));
    await step.waitForEvent("go", { type: "go" });
    await step.do("continue", async () => tell(instanceId, "continue"));
  });
}
