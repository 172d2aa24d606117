/** Every command ends: soon after its output, on errors, on a closed pipe and on Ctrl-C, with a code that says how. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedServer } from "../support/scripted-server.ts";
import { binArguments, everstep, plainEnv, start } from "./support/everstep.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await world.app.workflows.ORDER?.create({ id: "o-1" });
  await world.app.workflows.JOB?.create({ id: "bad", params: { fail: "no money" } });
  await world.runtime.settle();
});
afterAll(() => world.close());

/**
 * Promised is a second; what is above that is for a machine with better things to do. Servers keep connections open much
 * longer than this, and so would whoever waits for them.
 */
const soon = 3000;

test.each([
  ["help", 0],
  ["workflows list", 0],
  ["instances list", 0],
  ["instances get order o-1", 0],
  ["instances get order nobody", 70],
  ["instances get", 64],
  ["instances logs job bad --follow", 0],
  ["instances create job --wait --id w-1", 0],
  ["frobnicate", 64],
])("R-092: everstep %s ends with %i, soon after its output", async (line, code) => {
  const ran = await world.run(line);
  expect(ran.code).toBe(code);
  expect(ran.lingered).toBeLessThan(soon);
});

test("R-092: a reader that closes the pipe ends the command quietly", async () => {
  for (let at = 0; at < 40; at++) await world.app.workflows.JOB?.create({ id: `many-${at}`, params: { at } });
  await world.runtime.settle();
  const child = start(["instances", "list", "job", "--full", "--all"], { env: { EVERSTEP_URL: world.url } });
  let err = "";
  child.stderr.on("data", (data) => {
    err += data;
  });
  await once(child.stdout, "data");
  child.stdout.destroy();
  const [code] = await once(child, "exit");
  expect({ code, err }).toEqual({ code: 0, err: "" });
});

test("R-092: head in a pipe sees its lines and nobody complains", async () => {
  const command = [process.execPath, ...binArguments, "instances", "list", "job", "--full", "--all"].join(
    " ",
  );
  const shell = spawn("sh", ["-c", `{ ${command}; echo "code $?" >&2; } | head -n 1`], {
    env: plainEnv({ EVERSTEP_URL: world.url }),
  });
  let out = "";
  let err = "";
  shell.stdout.on("data", (data) => {
    out += data;
  });
  shell.stderr.on("data", (data) => {
    err += data;
  });
  await once(shell, "close");
  expect(out.split("\n")[0]).toMatch(/^job many-\d+ {2}complete$/);
  expect(err).toBe("code 0\n");
});

test.each(["SIGINT", "SIGTERM"] as const)("R-092: %s ends a command that waits, with 130", async (signal) => {
  const id = `waits-${signal}`;
  const ran = await world.run(["instances", "create", "order", "--id", id, "--wait"], {
    onOutput: (text, child) => void (text.includes("Created") && child.kill(signal)),
  });
  expect(ran).toMatchObject({ code: 130, out: `Created order ${id}.\n`, err: "" });
  expect(ran.lingered).toBeLessThan(soon);
});

test("R-092: Ctrl-C ends a command that gets no answer", async () => {
  const server = await ScriptedServer.open();
  server.script("hang");
  const child = start(["workflows", "list", "--url", server.url]);
  while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  child.kill("SIGINT");
  const [code] = await once(child, "exit");
  expect(code).toBe(130);
  await server.close();
});

test("a server that does not answer is given up after --timeout, as often as --retries says", async () => {
  const server = await ScriptedServer.open();
  server.script("hang", "hang");
  const ran = await everstep([
    "workflows",
    "list",
    "--url",
    server.url,
    "--timeout",
    "200ms",
    "--retries",
    "1",
  ]);
  expect(ran.code).toBe(70);
  expect(ran.err).toContain("(CONNECTION_FAILED)");
  expect(server.requests).toHaveLength(2);
  await server.close();
});

test("failures of the server and 429 are tried again (SPEC 175)", async () => {
  const server = await ScriptedServer.open();
  const problem = { error: { code: "STORE_BUSY", message: "busy", docs: "" } };
  server.script(
    { status: 503, json: problem },
    { status: 429, headers: { "retry-after": "0" }, json: problem },
    { json: { workflows: [] } },
  );
  const ran = await everstep(["workflows", "list", "--url", server.url]);
  expect(ran).toMatchObject({ code: 0, out: "The server has no workflows.\n" });
  await server.close();
});

test("an instance that ends with an error makes --wait fail with 70 and says why", async () => {
  const bad = await world.run(["instances", "create", "job", '{"fail": "no money"}', "--wait"]);
  expect(bad.code).toBe(70);
  expect(bad.out).toContain("It is errored: Error: no money");
  const good = await world.run(["instances", "create", "job", '{"all": "well"}', "--wait"]);
  expect(good.code).toBe(0);
  expect(good.out).toContain('Output\n  {\n    "all": "well"\n  }\n');
});

test.each([
  [["instances", "create", "job", "{bad"], "is not JSON at column 2"],
  [["instances", "create", "job", "--params", "{bad"], "--params is not JSON at column 2"],
  [["instances", "send-event", "order", "o-1", "approved", "--payload", "nope"], "--payload is not JSON"],
  [["emit", "topic", "{"], "is not JSON"],
  [["instances", "list", "--status", "runing"], "Did you mean running?"],
  [["instances", "list", "--statsu", "x"], "Did you mean --status?"],
  [["instance", "list"], 'Did you mean "everstep instances list"?'],
  [["instances", "logs", "order", "o-1", "--follow", "--run", "1"], "--follow goes on into later runs"],
  [["instances", "create", "job", "{}", "--params-file", "-"], "both given"],
  [["instances", "create", "job", "--params-file", "missing.json"], "missing.json cannot be read"],
  [["dead-letters", "retry"], "needs <id>, or --all"],
  [["dead-letters", "retry", "--all", "--id", "x"], "both given"],
  [["verify", "--sample", "2"], "--sample"],
  [["workflows", "list", "--url", "ftp://x"], "--url is not a URL"],
  [["instances", "create", "job", "--start-at", "soon"], '--start-at is "soon"; it must be a time'],
  [["instances", "create", "job", "--deadline", "2026-01-31T12:00"], "--deadline is"],
  [["instances", "create", "job", "--retention", "long"], '--retention is not a duration: "long"'],
  [["instances", "list", "--page-size", "1000"], "error: --page-size is 1000; it must be a whole number"],
  [["-v"], "There is no option -v."],
  [["completion", "tcsh"], "one of bash, zsh, fish"],
  [["help", "instances", "lst"], 'Did you mean "everstep instances list"?'],
])("%j is a usage error: 64, and nothing was done", async (words, expected) => {
  const ran = await world.run(words);
  expect(ran).toMatchObject({ code: 64, out: "" });
  expect(ran.err).toContain(expected);
});

test.each([
  ["--start-at 1h --deadline 7d", "2026-01-31T13:00:00.000Z", "2026-02-07T12:00:00.000Z"],
  ["--start-at 2026-02-01 --deadline 2026-02-02", "2026-02-01T00:00:00.000Z", "2026-02-02T00:00:00.000Z"],
  [
    "--start-at 2026-01-31T14:00:00+01:00 --deadline 2026-01-31T14:00Z",
    "2026-01-31T13:00:00.000Z",
    "2026-01-31T14:00:00.000Z",
  ],
])("a start and a deadline are times, days, or so long from now: %s", async (words, dueAt, deadlineAt) => {
  const created = await world.run(`instances create job ${words} --json`);
  const { id } = JSON.parse(created.out);
  const shown = await world.run(`instances get job ${id} --json`);
  expect(JSON.parse(shown.out)).toMatchObject({ meta: { dueAt, deadlineAt } });
});

test("what starts later says when, in a list and alone", async () => {
  await world.run("instances create job --id later --start-at 2h");
  expect((await world.run("instances list job --id-prefix later")).out).toMatch(/ starts in 2 h\n/);
  expect((await world.run("instances get job later")).out).toMatch(/\n {2}starts {3}in 2 h \(/);
});

test("a sleep of an instance that has ended cannot be skipped", async () => {
  const ran = await world.run("instances skip-sleep job bad");
  expect(ran).toMatchObject({ code: 70, out: "" });
  expect(ran.err).toContain("job bad has ended (errored), so it is in no sleep.");
});

test("a taken id is answered with what the command can do about it", async () => {
  const forked = await world.run("instances fork job bad --new-id bad");
  expect(forked).toMatchObject({ code: 70, out: "" });
  expect(forked.err).toContain("Use another id, or restart that one.");
  expect(forked.err).not.toMatch(/if-?exists/i);
  const created = await world.run("instances create job --id bad");
  expect(created.err).toContain("--if-exists return");
});

test("params that the workflow's schema refuses are a usage error", async () => {
  const server = await ScriptedServer.open();
  const error = { code: "WORKFLOW_PARAMS_INVALID", message: "amount: must be a number", docs: "" };
  server.script({ status: 422, json: { error } });
  const ran = await everstep(["instances", "create", "order", "{}", "--url", server.url]);
  expect(ran).toMatchObject({ code: 64, out: "" });
  await server.close();
});

test("an id that several workflows have is a usage error; one that none has is a failure", async () => {
  await world.app.workflows.ORDER?.create({ id: "twin" });
  await world.app.workflows.JOB?.create({ id: "twin" });
  const twin = await world.run("instances get twin");
  expect(twin.code).toBe(64);
  expect(twin.err).toContain('Several workflows have an instance "twin": order, job.');
  const nobody = await world.run("instances get nobody");
  expect(nobody).toMatchObject({ code: 70 });
  expect(nobody.err).toContain('No workflow has an instance "nobody".');
});

test("an audit that finds a violation fails", async () => {
  const server = await ScriptedServer.open();
  const violation = {
    invariant: "INV-7",
    message: "It ended twice.",
    workflowName: "job",
    instanceId: "a",
    runNumber: 1,
  };
  const report = {
    ok: false,
    checked: 1,
    violations: [violation],
    warnings: [],
    unreadable: [],
    complete: true,
  };
  server.script({
    json: { ...report, summary: "Checked 1 run: 1 violation (1 INV-7). All were looked at." },
  });
  const ran = await everstep(["verify", "--url", server.url]);
  expect(ran).toMatchObject({ code: 70 });
  expect(ran.out).toContain("INV-7 job a run 1: It ended twice.");
  await server.close();
});

test("an older Node is told which one is needed, before anything is loaded that it cannot read", async () => {
  const old = 'data:text/javascript,Object.defineProperty(process.versions, "node", { value: "20.20.2" });';
  const bin = resolve("packages/everstep/src/cli/bin.ts");
  const ran = spawnSync(process.execPath, ["--import", old, bin, "help"], { encoding: "utf8" });
  expect([ran.status, ran.stdout]).toEqual([70, ""]);
  expect(ran.stderr).toContain("error: everstep needs Node 22.18 or newer, and this is Node 20.20.2.\n");
});

test("an audit whose report is none is not understood", async () => {
  const server = await ScriptedServer.open();
  server.script({ json: { summary: "fine", ok: true, violations: null } });
  const ran = await everstep(["verify", "--url", server.url, "--retries", "0"]);
  expect(ran.code).toBe(70);
  expect(ran.err).toContain("(ANSWER_NOT_UNDERSTOOD)");
  await server.close();
});
