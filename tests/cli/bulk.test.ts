/** One verb for many instances. */
import { allowAll, createWorkflows, defineWorkflow } from "everstep";
import { memory } from "everstep/memory";
import { beforeEach, expect, test } from "vitest";
import { type Teller, tellerOf } from "./support/in-process.ts";

const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.waitForEvent("approval", { type: "approved", timeout: "1 day" });
});
let isRepaired = false;
const fail = async () => {
  if (!isRepaired) throw new Error("no money");
};
const job = defineWorkflow({ name: "job" }, (_event, step) =>
  step.do("work", { retries: { limit: 0 } }, fail),
);
const gone = defineWorkflow({ name: "gone" }, (_event, step) =>
  step.do("work", { retries: { limit: 0 } }, fail),
);

const lost = defineWorkflow({ name: "lost" }, (_event, step) => step.sleep("nap", "1 year"));

let everstep: Teller;
let fetchApp: (request: Request) => Promise<Response>;
let statusOf: (workflow: "order" | "job", id: string) => Promise<string>;

beforeEach(async () => {
  isRepaired = false;
  const store = memory();
  const options = { store, authorize: allowAll(), onNotice: () => {} };
  const before = createWorkflows({ ...options, workflows: { order, job, gone, lost } });
  for (const id of ["o-1", "o-2", "o-3"]) await before.workflows.order.create({ id });
  for (const id of ["d-1", "d-2"]) await before.workflows.job.create({ id });
  await before.workflows.gone.create({ id: "g-1" });
  await before.workflows.lost.create({ id: "l-1" });
  await before.tick();
  // The next build has lost a workflow.
  const app = createWorkflows({ ...options, workflows: { order, job } });
  everstep = tellerOf(app.fetch);
  fetchApp = app.fetch;
  statusOf = async (workflow, id) =>
    (await app.workflows[workflow].get(id).then((found) => found.status())).status;
});

test("one dead letter that cannot be retried does not keep the others from it, and is counted", async () => {
  isRepaired = true;
  const { code, out } = await everstep("dead-letters retry --all");
  expect(code).toBe(70);
  expect(out).toMatch(/could not retry gone g-1: .*workflow "gone"/);
  for (const id of ["d-1", "d-2"]) {
    expect(out).toContain(`retried job ${id}\n`);
    expect(await statusOf("job", id)).not.toBe("errored");
  }
  expect(out).toMatch(/^Retried 2 of 3 instances\.\n$/m);
});

test("an instance whose workflow is no longer in the code can be looked at and ended, but not run again", async () => {
  expect((await everstep("instances list gone")).out).toContain("g-1");
  expect((await everstep("instances get g-1")).out).toContain("gone g-1  errored");
  expect((await everstep("instances history gone g-1")).out).toContain("no money");
  // What is read once more as it changes is answered alike.
  expect((await everstep("instances logs gone g-1 --follow")).code).toBe(0);
  for (const path of ["", "/g-1", "/g-1/logs"]) {
    const headers = { accept: "text/event-stream" };
    const url = `http://127.0.0.1/workflows/gone/instances${path}`;
    const answer = await fetchApp(new Request(url, { headers }));
    expect([path, answer.status, answer.headers.get("content-type")]).toEqual([
      path,
      200,
      expect.stringContaining("text/event-stream"),
    ]);
    await answer.body?.cancel();
  }
  for (const verb of ["retry", "restart"]) {
    const { code, err } = await everstep(`instances ${verb} gone g-1`);
    expect([code, err]).toEqual([70, expect.stringContaining("(WORKFLOW_NOT_FOUND)")]);
  }
  expect((await everstep("instances terminate lost l-1 --yes")).out).toBe("Terminated lost l-1.\n");
  expect((await everstep("instances why lost l-1")).out).toContain("It was terminated");
});

test("an audit of a name that nobody has is refused; one of a workflow that has left only instances is not", async () => {
  const { code, err } = await everstep("verify ordr");
  expect([code, err]).toEqual([70, expect.stringContaining('There is no workflow "ordr" here.')]);
  expect((await everstep("verify gone")).out).toMatch(/^Checked 1 run: no violation\./);
});

test("filters choose, a dry run shows, and nothing is done without a yes", async () => {
  const chosen = "instances terminate --workflow order --status waiting --all";
  const dry = await everstep(`${chosen} --dry-run`);
  expect(dry).toEqual({
    code: 0,
    out: "would terminate order o-1\nwould terminate order o-2\nwould terminate order o-3\nWould terminate 3 instances; nothing was done.\n",
    err: "",
  });
  const script = await everstep(chosen);
  expect([script.code, script.err]).toEqual([64, expect.stringContaining("--dry-run, then add --yes")]);
  const asked = await everstep(chosen, { answer: "n" });
  expect(asked).toEqual({ code: 70, out: "Nothing was done.\n", err: "Terminate 3 instances? [y/N] " });
  expect(await statusOf("order", "o-1")).toBe("waiting");
  const done = await everstep(`${chosen} --yes --id-prefix o-`);
  expect([done.code, done.out]).toEqual([
    0,
    expect.stringMatching(/^3\/3 terminated order o-\d\nTerminated 3 of 3/m),
  ]);
  expect(await statusOf("order", "o-3")).toBe("terminated");
  expect((await everstep(`${chosen} --yes`)).out).toBe("There are no such instances.\n");
});

test("with --json there is a line for each, and nothing else on standard output", async () => {
  isRepaired = true;
  const { code, out, err } = await everstep("instances retry --all --json");
  const lines = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect([code, err]).toEqual([70, "Retried 2 of 3 instances.\n"]);
  expect(lines).toHaveLength(3);
  expect(lines).toContainEqual({ workflowName: "job", id: "d-1", ok: true });
  expect(lines).toContainEqual({
    workflowName: "gone",
    id: "g-1",
    ok: false,
    error: { code: "WORKFLOW_NOT_FOUND", message: expect.any(String) },
  });
  expect((await everstep("instances pause order o-1 --json")).out).toBe(
    '{"workflowName":"order","id":"o-1","ok":true}\n',
  );
});

test("pausing and resuming many, each by what it applies to", async () => {
  expect((await everstep("instances pause --all --yes")).out).toContain("Paused 4 of 4 instances.");
  expect(await statusOf("order", "o-2")).toBe("paused");
  expect((await everstep("instances resume --all --workflow order")).out).toContain(
    "Resumed 3 of 3 instances.",
  );
  expect(await statusOf("order", "o-2")).not.toBe("paused");
});

test("a resume says what it did: nothing to an instance that goes on, and that one which has ended cannot", async () => {
  expect((await everstep("instances resume order o-1")).out).toBe(
    "order o-1 was not paused: it is waiting.\n",
  );
  const ended = await everstep("instances resume job d-1");
  expect(ended.code).toBe(70);
  expect(ended.err).toBe(
    "error: job d-1 has ended (errored), so it cannot go on.\nRun it again: everstep instances restart job d-1\n",
  );
});

test.each([
  ["instances terminate", "It needs <id>, or --all: what to terminate."],
  ["instances terminate o-1 --status waiting", "--status is for many instances: add --all"],
  ["instances pause order o-1 --dry-run", "--dry-run is for many instances: add --all"],
  ["instances terminate order o-1 --all", "one is enough"],
  ["instances restart --all --yes", "with --status"],
])("%s is refused before anything is done", async (line, words) => {
  const { code, err } = await everstep(line);
  expect([code, err]).toEqual([64, expect.stringContaining(words)]);
});
