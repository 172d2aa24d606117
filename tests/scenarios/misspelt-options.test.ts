/** What is said with a call under a name that nobody reads is refused, before anything is done. */
import { allowAll, createWorkflows, defineWorkflow } from "everstep";
import { type Client, createClient } from "everstep/client";
import { memory } from "everstep/memory";
import { describe, expect, test } from "vitest";

const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.do("charge", async () => 1);
  await step.waitForEvent("go", { type: "go" });
});
const teller = defineWorkflow({ name: "teller" }, async (_event, step) => {
  await step.do("tell", { retries: { limit: 0, delay: 1 } }, async (context) =>
    context.sendEvent({ workflow: "order", id: "o" }, { type: "go", data: 1 } as never),
  );
});

async function begin() {
  const app = createWorkflows({ workflows: { order, teller }, store: memory(), authorize: allowAll() });
  const instance = await app.workflows.order.create({ id: "o" });
  while ((await app.tick()).processed > 0);
  const client: Client = createClient({
    url: "http://localhost",
    fetch: (url, init) => app.fetch(new Request(url, init)),
  });
  return { app, instance, client };
}

type Begun = Awaited<ReturnType<typeof begin>>;
// biome-ignore lint/suspicious/noExplicitAny: what no compiler would let through is what is tried.
type Calls = Readonly<Record<string, (begun: any) => unknown>>;

const inTheProcess: Calls = {
  restart: ({ instance }) => instance.restart({ form: { name: "charge" } }),
  fork: ({ instance }) => instance.fork({ newID: "p" }),
  "sendEvent with id": ({ instance }) => instance.sendEvent({ type: "go", id: "once" }),
  "sendEvent with data": ({ instance }) => instance.sendEvent({ type: "go", data: 1 }),
  pause: ({ instance }) => instance.pause({ acter: "ann" }),
  resume: ({ instance }) => instance.resume({ idempotencykey: "k" }),
  terminate: ({ instance }) => instance.terminate({ reasn: "x" }),
  retryFailedStep: ({ instance }) => instance.retryFailedStep({ dely: "1 day" }),
  skipSleep: ({ instance }) => instance.skipSleep({ key: "k" }),
  rewind: ({ instance }) => instance.rewind({ name: "charge" }, { key: "k" }),
  result: ({ instance }) => instance.result({ timeoutMs: 5 }),
  logs: ({ instance }) => instance.logs({ levl: "warn" }),
  history: ({ instance }) => instance.history({ run: 1 }),
  step: ({ instance }) => instance.step(0, { run: 1 }),
  runs: ({ instance }) => instance.runs({ breif: true }),
  snapshot: ({ instance }) => instance.snapshot({ breif: true }),
  exportHistory: ({ instance }) => instance.exportHistory({ redcat: () => null }),
  list: ({ app }) => app.workflows.order.list({ statuss: "complete" }),
  "list of all": ({ app }) => app.list({ statuss: "complete" }),
  publish: ({ app }) => app.publish("t", 1, { id: "once" }),
  waiters: ({ app }) => app.waiters("t", { limit: 1 }),
  topics: ({ app }) => app.topics({ limit: 1 }),
  due: ({ app }) => app.due({ befor: 1 }),
  activity: ({ app }) => app.activity({ hours: 1 }),
  verify: ({ app }) => app.verify({ workflow: "order" }),
  check: ({ app }) => app.check({ workflow: "order" }),
  prune: ({ app }) => app.prune({ limt: 1 }),
  tick: ({ app }) => app.tick({ max: 1 }),
  migrate: ({ app }) => app.migrate({ paln: true }),
  stop: ({ app }) => app.stop({ gracePeriod: "1 second" }),
};

const fromAfar: Calls = {
  restart: ({ remote }) => remote.restart({ form: { name: "charge" } }),
  fork: ({ remote }) => remote.fork({ newID: "p" }),
  sendEvent: ({ remote }) => remote.sendEvent({ type: "go", id: "once" }),
  pause: ({ remote }) => remote.pause({ actor: "ann" }),
  terminate: ({ remote }) => remote.terminate({ reasn: "x" }),
  retryFailedStep: ({ remote }) => remote.retryFailedStep({ dely: "1 day" }),
  skipSleep: ({ remote }) => remote.skipSleep({ key: "k" }),
  rewind: ({ remote }) => remote.rewind({ name: "charge" }, { key: "k" }),
  result: ({ remote }) => remote.result({ timeoutMs: 5 }),
  logs: ({ remote }) => remote.logs({ levl: "warn" }),
  history: ({ remote }) => remote.history({ run: 1 }),
  exportHistory: ({ remote }) => remote.exportHistory({ run: 1 }),
  create: ({ client }) => client.workflow("order").create({ parms: 1 }),
  createBatch: ({ client }) => client.workflow("order").createBatch([{ id: "p", parms: 1 }]),
  restartOrCreate: ({ client }) => client.workflow("order").restartOrCreate("o", { parms: 1 }),
  list: ({ client }) => client.workflow("order").list({ statuss: "complete" }),
  instances: ({ client }) => client.instances({ statuss: "complete" }),
  publish: ({ client }) => client.publish("t", 1, { id: "once" }),
  waiters: ({ client }) => client.waiters("t", { limit: 1 }),
  activity: ({ client }) => client.activity({ hours: 1 }),
  verify: ({ client }) => client.verify({ workflow: "order" }),
  createClient: () => createClient({ url: "http://localhost", timeoutMs: 5 } as never),
};

async function everything({ instance, app }: Begun): Promise<unknown> {
  const { updatedAt, runNumber } = await instance.details();
  const { events } = await instance.history();
  return { updatedAt, runNumber, events, counts: await app.counts() };
}

describe.each([
  ["in the process", inTheProcess],
  ["from afar", fromAfar],
] as const)("%s", (_, calls) => {
  test.each(Object.entries(calls))("%s", async (_name, call) => {
    const begun = await begin();
    const before = await everything(begun);
    const remote = begun.client.workflow("order").get("o");
    const given = (async () => call({ ...begun, remote }))();
    await expect(given).rejects.toMatchObject({ code: expect.stringMatching(/^INVALID_(ARGUMENT|INPUT)$/) });
    expect(await everything(begun)).toEqual(before);
  });
});

test("the name that was meant is in the message", async () => {
  const { instance } = await begin();
  await expect(instance.restart({ form: 1 } as never)).rejects.toThrow(/"form".*Did you mean "from"\?/);
});

test("an event that a step sends has no other names either", async () => {
  const { app } = await begin();
  const told = await app.workflows.teller.create({ id: "t" });
  while ((await app.tick()).processed > 0);
  expect((await told.status()).error?.message).toContain('has no "data"');
});
