/** Output for programs, and lists that go on. */
import { allowAll, createWorkflows, defineWorkflow } from "everstep";
import { memory } from "everstep/memory";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commands } from "../../packages/everstep/src/cli/registry.ts";
import { type Teller, tellerOf } from "./support/in-process.ts";

const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.do("charge", async () => ({ cents: 500 }));
  step.log.info("charged \u001b[2J");
  await step.waitForEvent("approval", { type: "approved", timeout: "1 day" });
});
let release = (): void => {};
const slow = defineWorkflow({ name: "slow" }, async (_event, step) => {
  const released = new Promise<void>((resolve) => (release = resolve));
  await Promise.all([step.do("long work", () => released), step.do("more work", () => released)]);
});

const quick = defineWorkflow({ name: "quick" }, () => {});

let everstep: Teller;
const app = createWorkflows({
  workflows: { order, slow, quick },
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
    { name: "quick", counts: expect.objectContaining({ active: 0 }) },
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
  expect((await everstep("instances list order")).out).toMatch(/o-1 .* approval ← approved, times out in/);
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

test("every step at work is shown", async () => {
  await app.workflows.slow.create({ id: "s-1" });
  const turn = app.tick();
  await expect
    .poll(async () => (await everstep("instances get slow s-1")).out)
    .toMatch(/● long work +do [\s\S]*● more work +do /);
  const history = (await everstep("instances history slow s-1")).out;
  expect(history).toContain("● long work begins and is at work");
  expect(history).toContain("● more work begins and is at work");
  release();
  await turn;
});

test("every command that shows or changes something takes --json", () => {
  const without = commands.filter(({ options }) => options?.json === undefined);
  expect(without.map(({ path }) => path.join(" "))).toEqual([
    // They write files, or stay and serve.
    "init",
    "dev",
    "serve",
    // A document of JSON as it is.
    "instances export",
    // About the command line itself.
    "help",
    "completion",
  ]);
});

test("what steers one instance says to which, as one object", async () => {
  const said = async (line: string) => JSON.parse((await everstep(`${line} --json`)).out);
  const { id } = await app.workflows.order.create({ id: "o-9" });
  await app.tick();
  expect(await said("instances skip-sleep order o-9")).toEqual({ workflowName: "order", id, ok: true });
  expect(await said("instances fork order o-9 --new-id o-10")).toEqual({ workflowName: "order", id: "o-10" });
  expect(await said("instances rewind order o-9 charge")).toEqual({ workflowName: "order", id, ok: true });
  const sent = await said("instances send-event order o-9 approved");
  expect(sent).toEqual({ workflowName: "order", id, status: expect.stringMatching(/^(active|waiting)$/) });
  expect(await said("emit prices.changed")).toEqual({ topic: "prices.changed", waiters: 0 });
  const asked = await everstep("instances terminate order o-9 --json", { answer: "n" });
  expect([asked.code, asked.out]).toEqual([70, ""]);
});

test("while an end is waited for, a person sees the steps on standard error, and only the end is on standard output", async () => {
  const waited = everstep("instances create slow --id s-2 --wait --json", {
    answer: "",
    onError: (text) => {
      if (text.includes("long work")) release();
    },
  });
  await expect.poll(() => app.tick()).toEqual({ processed: 1 });
  const { code, out, err } = await waited;
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({ workflowName: "slow", id: "s-2", status: "complete", output: null });
  expect(err).toMatch(/^ +● long work +is at work\n/);
  // Nobody looks: nothing but the end.
  const quiet = everstep("instances create quick --id q-1 --wait");
  await expect.poll(() => app.tick()).toEqual({ processed: 1 });
  expect(await quiet).toMatchObject({ code: 0, err: "" });
});

test("get, why and history tell who steered an instance, where a hook has named them", async () => {
  const byAnn = createWorkflows({
    workflows: { order },
    store: memory(),
    authorize: { request: () => ({ actor: "ann" }) },
    onNotice: () => {},
  });
  const told = tellerOf(byAnn.fetch);
  await byAnn.workflows.order.create({ id: "o-1" });
  await byAnn.tick();
  await told("instances pause order o-1");
  expect((await told("instances why o-1")).out).toMatch(/^ann paused it/);
  await told("instances resume order o-1");
  await byAnn.tick();
  expect((await told("instances get o-1")).out).toMatch(/\nResumed by ann, (now|\d+ s ago)\.\n/);
  const history = (await told("instances history o-1")).out;
  expect(history).toMatch(/◆ Paused by ann\.\n[\s\S]*◆ Resumed by ann\.\n/);
  expect(history).not.toContain("[workflow]");
  const why = JSON.parse((await told("instances why o-1 --json")).out);
  expect(why.lastAction).toMatchObject({ action: "resume", actor: "ann", text: "Resumed by ann." });
  await byAnn.stop({ grace: 0 });
});
