import { defineWorkflow, type WorkflowEvent } from "everstep";

type Guest = { name?: string } | undefined;

export const hello = defineWorkflow({ name: "hello" }, async (event: WorkflowEvent<Guest>, step) => {
  const name = event.payload?.name ?? "world";
  const greeting = await step.do("greet", async () => `Hello, ${name}!`);
  await step.sleep("take a breath", "2 seconds"); // it goes on although the process may have died meanwhile
  return step.do("say goodbye", async () => `${greeting} Goodbye!`);
});
