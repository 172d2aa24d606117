/** Workflows that bring an instance into every state there is. */
import { defineWorkflow, NonRetryableError, type StandardSchema } from "everstep";

/** Charges, logs, waits for an approval, ships. */
export const order = defineWorkflow({ name: "order" }, async (event, step) => {
  await step.log.info("begun", { of: event.instanceId });
  const charge = await step.do("charge", async () => {
    await step.log.debug("asking the bank", null, { category: "payments" });
    return { amount: event.payload.amount ?? 0 };
  });
  await step.log.warn("waiting", null, { category: "people" });
  const approval = await step.waitForEvent("approval", { type: "approved", timeout: "1 day" });
  return { charge, by: approval.payload };
});

/** Fails, is tried again a minute later, and is given up. */
export const flaky = defineWorkflow({ name: "flaky" }, async (_event, step) =>
  step.do("call", { retries: { limit: 1, delay: "1 minute", backoff: "constant" } }, ({ attempt }) => {
    throw new Error(`no answer ${attempt}`);
  }),
);

/** Fails outside of any step. */
export const doomed = defineWorkflow({ name: "doomed" }, async (_event, step) => {
  await step.do("first", () => 1);
  throw new NonRetryableError("not like this");
});

export const sleeper = defineWorkflow({ name: "sleeper" }, async (_event, step) => {
  await step.sleep("nap", "1 hour");
  await step.sleep("second nap", "1 hour");
  return "rested";
});

export const listener = defineWorkflow({ name: "listener" }, async (event, step) => {
  const { payload } = await step.waitForEvent("news", { topic: event.payload.topic, timeout: "1 day" });
  return payload;
});

/** As many steps and log lines as asked for. */
export const chatty = defineWorkflow({ name: "chatty" }, async (event, step) => {
  for (let n = 0; n < event.payload.steps; n++) {
    await step.do(`step ${n}`, () => n);
    await step.log[n % 2 === 0 ? "info" : "error"](`line ${n}`, { n }, { category: n % 3 === 0 ? "a" : "b" });
  }
  await step.waitForEvent("done", { type: "done", timeout: "1 day" });
});

export const quick = defineWorkflow({ name: "quick" }, async (event) => event.payload);

export const capped = defineWorkflow({ name: "capped", concurrency: 1 }, async () => "done");

/** Given up as soon as whoever runs it has died once. */
export const fragile = defineWorkflow({ name: "fragile", limits: { maxCrashes: 2 } }, async (_event, step) =>
  step.do("work", () => "done"),
);

/** Takes { count: number } and nothing else. */
const countSchema: StandardSchema<{ count: number }> & {
  readonly "~standard": { readonly jsonSchema: object };
} = {
  "~standard": {
    version: 1,
    vendor: "tests",
    validate: (value) =>
      typeof (value as { count?: unknown })?.count === "number"
        ? { value: value as { count: number } }
        : { issues: [{ message: "count must be a number", path: ["count"] }] },
    jsonSchema: { input: () => ({ type: "object", properties: { count: { type: "number" } } }) },
  },
};

export const counted = defineWorkflow(
  { name: "counted", params: countSchema, events: { counted: countSchema } },
  async (event) => event.payload.count,
);

export const workflows = {
  ORDER: order,
  FLAKY: flaky,
  DOOMED: doomed,
  SLEEPER: sleeper,
  LISTENER: listener,
  CHATTY: chatty,
  QUICK: quick,
  CAPPED: capped,
  FRAGILE: fragile,
  COUNTED: counted,
};
