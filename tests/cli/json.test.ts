/** Output for programs, and lists that go on. */
import { allowAll, createWorkflows, defineWorkflow } from "everstep";
import { memory } from "everstep/memory";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Teller, tellerOf } from "./support/in-process.ts";

const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.do("charge", async () => ({ cents: 500 }));
  step.log.info("charged \u001b[2J");
  await step.waitForEvent("approval", { type: "approved", timeout: "1 day" });
});
let release = (): void => {};
const slow = defineWorkflow({ name: "slow" }, (_event, step) =>
  step.do("long work", () => new Promise<void>((resolve) => (release = resolve))),
);

let everstep: Teller;
const app = createWorkflows({
  workflows: { order, slow },
  store: memory(),
  authorize: allowAll(),
  onNotice: () => {},
});
beforeAll(async () => {
  everstep = tellerOf(app.fetch);
  await app.workflows.order.create({ id: "o-1", params: { amount: 5 } });
  await app.workflows.order.create({ id: "o-2" });
  await app.tick();
});
afterAll(() => app.stop({ grace: 0 }));

const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

test("lists are one object in each line, without colours, tables or hints", async () => {
  const listed = await everstep("instances list order --json --page-size 1");
  expect(lines(listed.out)).toMatchObject([{ id: "o-2", details: { status: "waiting" }, meta: {} }]);
  expect(listed.err).toContain("--cursor");
  expect(lines((await everstep("instances list --json --full --order asc")).out)[0]).toMatchObject({
    id: "o-1",
    meta: { params: { amount: 5 } },
  });
  expect(lines((await everstep("workflows --json")).out)).toEqual([
    { name: "order", counts: expect.objectContaining({ waiting: 2 }) },
    { name: "slow", counts: expect.objectContaining({ active: 0 }) },
  ]);
  const [log] = lines((await everstep("instances logs order o-1 --json")).out);
  expect(log).toMatchObject({ level: "info", message: "charged \u001b[2J" });
  expect((await everstep("instances logs order o-1 --json")).out).not.toContain("\u001b");
  expect(await everstep("dead-letters --json")).toEqual({ code: 0, out: "", err: "" });
  expect(await everstep("waiters news --json")).toEqual({ code: 0, out: "", err: "" });
});

test("one thing is one object", async () => {
  const get = JSON.parse((await everstep("instances get order o-1 --json")).out);
  expect(get).toMatchObject({
    id: "o-1",
    details: { status: "waiting" },
    meta: { workflowName: "order", params: { amount: 5 } },
    why: { reason: "waiting-for-event", waitsFor: { eventType: "approved" } },
    steps: [{ stepKey: "charge", result: { cents: 500 } }, { stepKey: "approval" }],
  });
  const why = JSON.parse((await everstep("instances why o-1 --json")).out);
  expect(why).toMatchObject({ reason: "waiting-for-event" });
  const history = JSON.parse((await everstep("instances history o-1 --include-logs --json")).out);
  expect(history).toMatchObject({ runNumber: 1, steps: [{}, {}], events: [], logs: [{ level: "info" }] });
  expect(lines((await everstep("verify --json")).out)).toMatchObject([{ ok: true, violations: [] }]);
});

test("a list says what is waited for, and why names the command with its words", async () => {
  expect((await everstep("instances list order")).out).toMatch(/o-1 .* approval ← event approved, due in/);
  expect((await everstep("instances why o-1")).out).toContain(
    "everstep instances send-event order o-1 approved\n",
  );
});

test("a list that is watched is shown again when it changed", async () => {
  const stop = new AbortController();
  const seen = everstep("instances list order --watch --json --page-size 1", {
    signal: stop.signal,
    onOutput: (text) => {
      if (text.includes('"o-3"')) stop.abort();
      else void app.workflows.order.create({ id: "o-3" }).catch(() => {});
    },
  });
  const { code, out } = await seen;
  expect(code).toBe(130);
  expect(lines(out).map(({ instances }) => instances[0].id)).toEqual(expect.arrayContaining(["o-2", "o-3"]));
  expect((await everstep("instances list --watch --all")).code).toBe(64);
});

test("a step at work is shown", async () => {
  await app.workflows.slow.create({ id: "s-1" });
  const turn = app.tick();
  await expect.poll(async () => (await everstep("instances get slow s-1")).out).toMatch(/● long work +do /);
  expect((await everstep("instances history slow s-1")).out).toContain("● long work begins and is at work");
  release();
  await turn;
});
