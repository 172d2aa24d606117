import { defineWorkflow } from "everstep";

interface Guest {
  name?: string;
}

export const hello = defineWorkflow<Guest | undefined>({ name: "hello" }, async ({ payload }, step) => {
  const greeting = await step.do("greet", async () => `Hello, ${payload?.name ?? "world"}!`);
  await step.sleep("take a breath", "2 seconds"); // it goes on although the process may have died meanwhile
  return step.do("say goodbye", async () => `${greeting} Goodbye!`);
});
