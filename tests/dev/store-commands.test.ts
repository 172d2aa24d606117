/** The commands that look at a store: each on good and on bad input. */
import { createWorkflows, defineWorkflow } from "everstep";
import { sqlite } from "everstep/sqlite";
import { describe, expect, test } from "vitest";
import { Project } from "./command-line.ts";

const app = (options: { readonly step?: string; readonly path?: string } = {}): string => `
import { createWorkflows, defineWorkflow } from "everstep";
import { sqlite } from "everstep/sqlite";
export const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  const charge = await step.do("${options.step ?? "charge"}", async () => "ch-1");
  await step.waitForEvent("paid", { type: "paid" });
  return charge;
});
export const app = createWorkflows({ workflows: { order }, store: sqlite(${JSON.stringify(options.path ?? "app.db")}) });`;

/** Its first step is done, and it waits for an event. */
async function withUnfinished(project: Project, path = "app.db"): Promise<unknown> {
  const order = defineWorkflow({ name: "order" }, async (_event, step) => {
    await step.do("charge", async () => "ch-1");
    await step.waitForEvent("paid", { type: "paid" });
  });
  const running = createWorkflows({ workflows: { order }, store: sqlite(project.path(path)) });
  const instance = await running.workflows.order.create({ id: "o-1" });
  await running.tick();
  const history = await instance.exportHistory();
  await running.stop();
  return history;
}

describe("migrate", () => {
  test("prints the statements, runs them, and has nothing to do the second time", async () => {
    const project = new Project({ "app.ts": app() }).install();
    const plan = await project.run("migrate", "app.ts", "--plan");
    expect(plan.text).toMatch(/^-- From version 0 to \d+\.\nCREATE TABLE [\s\S]*;\n$/);
    expect(plan.exitCode).toBe(0);
    expect(project.has("app.db")).toBe(false);

    const first = await project.run("migrate", "app.ts");
    expect(first.text).toMatch(/^Migrated from version 0 to \d+ \(\d+ statements\)\.\n$/);
    const second = await project.run("migrate", "app.ts");
    expect(second.text).toMatch(/^Nothing to do: the tables are at version \d+\.\n$/);
  });

  test("fails where there is no store to migrate", async () => {
    const project = new Project({ "app.ts": app({ path: "no/such/folder/app.db" }) }).install();
    const { exitCode, text } = await project.run("migrate", "app.ts");
    expect(exitCode).toBe(70);
    expect(text).toMatch(/^error: .*no\/such\/folder/);
  });
});

describe("doctor", () => {
  test("has one line per check, and finds nothing wrong with a store that is well", async () => {
    const project = new Project({ "app.ts": app() }).install();
    await withUnfinished(project);
    const { exitCode, text } = await project.run("doctor", "app.ts");
    expect(text.trimEnd().split("\n")).toEqual([
      expect.stringMatching(/^ok {4}node +Node \d+/),
      expect.stringMatching(/^ok {4}store +It answers/),
      expect.stringMatching(/^ok {4}tables +Version \d+, up to date/),
      expect.stringMatching(/^ok {4}settings/),
      expect.stringMatching(/^ok {4}clock/),
      expect.stringMatching(/^ok {4}records +Nothing wrong with 1 unfinished/),
      expect.stringMatching(/^ok {4}stuck work/),
      expect.stringMatching(/^ok {4}workflows/),
      expect.stringMatching(/^ok {4}dead letters +None/),
    ]);
    expect(exitCode).toBe(0);
  });

  test("warns of instances whose workflow the code does not have", async () => {
    const project = new Project({
      "workflows.ts": `
        import { defineWorkflow } from "everstep";
        export default defineWorkflow({ name: "other" }, async () => 1);`,
    }).install();
    await withUnfinished(project);
    const { exitCode, text } = await project.run("doctor", "workflows.ts", "--store", "app.db");
    expect(text).toMatch(
      /^warn {2}workflows +This code has no workflow "order"; 1 unfinished instance waits/m,
    );
    expect(exitCode).toBe(0);
  });

  test("fails when the store does not answer", async () => {
    const project = new Project({
      "app.ts": app(),
      "app.db": "this is no database, and long enough to be seen as none ".repeat(40),
    }).install();
    const { exitCode, text } = await project.run("doctor", "app.ts");
    expect(text).toMatch(/^fail {2}store +.*app\.db/m);
    expect(exitCode).toBe(70);
  });

  test("asks for an app where a file has none and no store is named", async () => {
    const project = new Project({
      "workflows.ts":
        'import { defineWorkflow } from "everstep";\nexport const a = defineWorkflow({ name: "a" }, () => 1);',
    }).install();
    const { exitCode, text } = await project.run("doctor", "workflows.ts");
    expect(text).toContain("exports workflows but no app");
    expect(exitCode).toBe(70);
  });
});

describe("check", () => {
  test("passes code that goes on, and stops code that would run a step again", async () => {
    const project = new Project({
      "app.ts": app(),
      "next.ts": app({ step: "charge card", path: "other.db" }),
    }).install();
    await withUnfinished(project);
    const same = await project.run("check", "app.ts");
    expect(same.text).toMatch(
      /^class +instances\nidentical +1\n\n✓ The code may be deployed: it fits the store of app\.ts\.\n$/,
    );
    expect(same.exitCode).toBe(0);

    const next = await project.run("check", "next.ts", "--store-app", "app.ts");
    expect(next.text).toMatch(
      /orphaned +1 +look at them\n\norder o-1 {2}orphaned\n {2}The code asks for "charge card"/,
    );
    expect(next.text).toMatch(
      /✗ Do not deploy yet: 1 of 1 in the store of app\.ts would not simply go on\.\n$/,
    );
    expect(next.exitCode).toBe(70);
    expect(project.has("other.db")).toBe(false);

    const allowed = await project.run("check", "next.ts", "--store-app", "app.ts", "--allow", "orphaned");
    expect(allowed.text).toMatch(/orphaned +1 +accepted/);
    expect(allowed.exitCode).toBe(0);
  });

  test("looks at the store of everstep dev where only workflows are exported", async () => {
    const project = new Project({ "workflows.ts": app().replace(/export const app.*/, "") }).install();
    project.write(".everstep/.gitignore", "*\n");
    await withUnfinished(project, ".everstep/dev.db");
    const { exitCode, text } = await project.run("check", "workflows.ts");
    expect(text).toMatch(/identical +1\n\n✓ .* the store of everstep dev\.\n$/);
    expect(exitCode).toBe(0);
  });

  test("says that tables are missing", async () => {
    const project = new Project({ "app.ts": app() }).install();
    const { exitCode, text } = await project.run("check", "app.ts");
    expect(text).toMatch(/^error: The store's tables are not there yet/);
    expect(text).toContain("Make them first: everstep migrate app.ts");
    expect(exitCode).toBe(70);
  });
});

describe("replay", () => {
  test("goes through a history step by step, and says whether the code fits it", async () => {
    const project = new Project({ "app.ts": app(), "next.ts": app({ step: "charge card" }) }).install();
    project.write("o-1.json", JSON.stringify(await withUnfinished(project)));
    const same = await project.run("replay", "o-1.json", "app.ts");
    expect(same.text).toBe(
      [
        "order o-1, run 1, waiting, 2 steps recorded",
        "  ✓ charge (do) answered from the history",
        "  … paid (waitForEvent) waits, as in the history",
        "identical: Nothing changes for it.",
        "",
      ].join("\n"),
    );
    expect(same.exitCode).toBe(0);

    const next = await project.run("replay", "o-1.json", "next.ts");
    expect(next.text).toMatch(/\+ charge card \(do\) new: .*\n {2}- charge recorded, and not asked for/);
    expect(next.exitCode).toBe(70);
  });

  test("refuses what is no history of the file's workflows, with the reason", async () => {
    const project = new Project({
      "app.ts": app(),
      "text.json": "order",
      "other.json": JSON.stringify({ workflowName: "other" }),
      "empty.json": "{}",
    }).install();
    const refusals = ["no-such.json", "text.json", "other.json", "empty.json"].map((history) =>
      project.run("replay", history, "app.ts"),
    );
    expect(await Promise.all(refusals)).toEqual([
      { exitCode: 64, text: expect.stringContaining("no-such.json cannot be read") },
      { exitCode: 64, text: expect.stringContaining("text.json is not JSON") },
      {
        exitCode: 70,
        text: expect.stringContaining('history of workflow "other"; the workflows of app.ts are "order"'),
      },
      { exitCode: 64, text: expect.stringContaining("INVALID_HISTORY") },
    ]);
  });
});

test("with --json they print their results and nothing else on standard output, whatever the code prints", async () => {
  const hello = 'console.log("hello from the code");\n';
  const project = new Project({ "app.ts": hello + app(), "next.ts": hello + app({ step: "pay" }) }).install();
  project.write("o-1.json", JSON.stringify(await withUnfinished(project)));
  const printed = async (...words: readonly string[]) => {
    const running = project.start(...words, "--json");
    const exitCode = await running.ended;
    expect(running.text).toContain("hello from the code");
    return { exitCode, out: running.standardOutput };
  };
  const [doctor, check, replay, migrate] = await Promise.all([
    printed("doctor", "app.ts"),
    printed("check", "next.ts", "--store-app", "app.ts"),
    printed("replay", "o-1.json", "next.ts"),
    printed("migrate", "app.ts", "--plan"),
  ]);
  const checks = doctor.out.trimEnd().split("\n");
  expect(checks.map((line) => JSON.parse(line))).toContainEqual({
    level: "ok",
    subject: "dead letters",
    text: "None.",
  });
  const finding = { workflowName: "order", instanceId: "o-1", classification: "orphaned", newSteps: ["pay"] };
  expect([check.exitCode, JSON.parse(check.out)]).toMatchObject([
    70,
    { ok: false, checked: 1, counts: { orphaned: 1, identical: 0 }, findings: [finding] },
  ]);
  expect([replay.exitCode, JSON.parse(replay.out)]).toMatchObject([
    70,
    { ok: false, ...finding, unusedSteps: ["charge", "paid"], asked: [{ stepKey: "pay", recorded: null }] },
  ]);
  const { from, to, statements } = JSON.parse(migrate.out);
  expect([from, statements]).toEqual([to, []]);
});
