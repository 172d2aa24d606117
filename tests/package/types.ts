/** What the types promise; compiled by scripts/try-package.mjs, and run, which must do nothing. */
import { createWorkflows, defineWorkflow, type WorkflowEvent } from "everstep";
import { memory } from "everstep/memory";

const typed = defineWorkflow({ name: "typed" }, async (event: WorkflowEvent<{ amount: number }>, step) =>
  step.do("double", async () => event.payload.amount * 2),
);
const free = defineWorkflow({ name: "free" }, async (event) => event.payload);
const app = createWorkflows({ workflows: { typed, free }, store: memory() });

export async function use(): Promise<number> {
  await app.workflows.free.create();
  const instance = await app.workflows.typed.create({ params: { amount: 2 } });
  // @ts-expect-error the workflow needs params
  await app.workflows.typed.create();
  // @ts-expect-error and not just any
  await app.workflows.typed.create({ params: { amount: "2" } });
  const result = await instance.result();
  if (result.status === "complete") return result.output;
  if (result.status === "errored") console.error(result.error.message);
  return 0;
}

export const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
  await step.do("start", async ({ startWorkflow }) => startWorkflow(typed, { params: { amount: 1 } }));
  await step.do("start wrong", async ({ startWorkflow }) => {
    // @ts-expect-error the child's params have a type
    startWorkflow(typed, { params: { amount: "1" } });
  });
  const [a, b] = await Promise.all([step.do("a", async () => 1), step.do("b", async () => "b")]);
  const sum: number = a + b.length;
  const note = await step.waitForEvent<{ by: string }>("note", { type: "note" });
  return { sum, by: note.payload.by.toUpperCase() };
});
console.log("types are as promised");
