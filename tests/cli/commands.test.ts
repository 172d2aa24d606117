/** Every command that talks to a server, as a person sees it who reads plain text. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWorld, repaired, type World } from "./support/world.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** What a command printed that succeeded and complained of nothing. */
async function out(line: string | readonly string[]): Promise<string> {
  const ran = await world.run(line);
  expect({ code: ran.code, err: ran.err }).toEqual({ code: 0, err: "" });
  return ran.out;
}

// One story: each test goes on where the one before ended.

test("workflows list counts instances by status", async () => {
  expect(await out("workflows list")).toMatchInlineSnapshot(`
    "workflow  active  waiting  paused  complete  errored  terminated
    order          0        0       0         0        0           0
    job            0        0       0         0        0           0
    "
  `);
});

test("instances create makes an instance, and wf start is another word for it", async () => {
  expect(
    await out(["instances", "create", "--workflow", "order", "--id", "o-1", "--params", '{"amount": 5}']),
  ).toBe("Created order o-1.\n");
  expect(await out(["wf", "start", "job", '{"say": "hello"}', "--id", "j-1"])).toBe("Created job j-1.\n");
  expect(await out("instances create order --id o-1 --if-exists return")).toBe("There is order o-1.\n");
  const made = await out("instances create job");
  expect(made).toMatch(/^Created job [\w-]{36}\.\n$/);
});

test("params come from a file or from standard input too", async () => {
  const ran = await world.run("instances create job --id j-2 --params-file -", {
    input: '{"from": "stdin"}',
  });
  expect(ran).toMatchObject({ code: 0, out: "Created job j-2.\n" });
  const full = await out("instances get job j-2 --full");
  expect(full).toContain('"from": "stdin"');
});

test("instances list shows a page, filters, and says how to go on", async () => {
  await world.runtime.settle();
  expect(await out("instances list order")).toMatchInlineSnapshot(`
    "workflow  id   status   run  created  updated  note
    order     o-1  waiting    1  now      now      reserve tries again in 10 s
    "
  `);
  const first = await out("instances list job --page-size 1 --order asc");
  expect(first).toContain("j-1");
  const [, cursor] = /--cursor (\S+)/.exec(first) ?? [];
  expect(
    await out(["instances", "list", "job", "--order", "asc", "--page-size", "1", "--cursor", `${cursor}`]),
  ).not.toContain("j-1");
  const all = await out("wf ls --all --page-size 1 --status completed,waiting");
  expect(all.split("\n").filter((line) => /^(job|order)/.test(line))).toHaveLength(4);
  expect(
    (await out("instances list --id-prefix o-")).split("\n").filter((line) => /^\w+ +o-1 /.test(line)),
  ).toHaveLength(1);
  expect(await out("instances list --id-prefix o-9")).toBe("There are no such instances.\n");
  expect(await out("instances list order --since 1h")).toContain("o-1");
  expect(await out("instances list --status paused")).toBe("There are no such instances.\n");
  const full = await out("instances list job --status complete --full --order asc --page-size 1");
  expect(full.replace(/--cursor \S+/, "--cursor CURSOR")).toMatchInlineSnapshot(`
    "job j-1  complete
      run         1
      created     now (2026-01-31 12:00:00 UTC)
      started     now (2026-01-31 12:00:00 UTC)
      updated     now (2026-01-31 12:00:00 UTC)
      ended       now (2026-01-31 12:00:00 UTC)
      took        0 ms
      executing   no
      queued      no
      kept until  forever

    Params
      {
        "say": "hello"
      }

    Output
      {
        "say": "hello"
      }

    There are more: the same with --all, or the next page with --cursor CURSOR
    "
  `);
});

test("instances get draws the steps on a timeline and says why it waits", async () => {
  expect(await out("instances get order o-1")).toMatchInlineSnapshot(`
    "order o-1  waiting
      run          1
      created      now (2026-01-31 12:00:00 UTC)
      started      now (2026-01-31 12:00:00 UTC)
      updated      now (2026-01-31 12:00:00 UTC)
      tries again  in 10 s (2026-01-31 12:00:10 UTC)

    Step "reserve" failed (attempt 1 of at most 3) after Error: the warehouse is asleep; it is tried again in 10 seconds.

    Steps
      ✓ charge   do                                   0 ms  ━
      ○ reserve  failed 1 of 3, tries again in 10 s  0 ms…  ┄
        attempt 1: Error: the warehouse is asleep
    "
  `);
  await world.runtime.advance("10 seconds");
  expect(await out("wf show o-1")).toMatchInlineSnapshot(`
    "order o-1  waiting
      run      1
      created  10 s ago (2026-01-31 12:00:00 UTC)
      started  10 s ago (2026-01-31 12:00:00 UTC)
      updated  now (2026-01-31 12:00:10 UTC)
      wakes    in 1 min (2026-01-31 12:01:10 UTC)

    Step "cool off" sleeps for 60 seconds more.
    Skip the sleep if it should go on now.
      everstep instances skip-sleep order o-1

    Steps
      ✓ charge    do                      0 ms  ━
      ✓ reserve   do, attempt 2 of 3      10 s  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
      ○ cool off  sleep, wakes in 1 min  0 ms…                               ┄
    "
  `);
});

test("instances why answers in a sentence", async () => {
  expect(await out("instances why o-1")).toMatchInlineSnapshot(`
    "Step "cool off" sleeps for 60 seconds more.
    Skip the sleep if it should go on now.
      everstep instances skip-sleep order o-1
    "
  `);
});

test("instances skip-sleep ends the sleep", async () => {
  expect(await out("instances skip-sleep order o-1")).toBe('Ended the sleep "cool off" of order o-1.\n');
  await world.runtime.settle();
  expect(await out("instances why order o-1")).toContain('waits for an event of type "approved"');
});

test("instances pause and resume hold it and let it go on", async () => {
  expect(await out("instances pause order o-1")).toBe("Paused order o-1.\n");
  expect(await out("instances why order o-1")).toMatchInlineSnapshot(`
    "Somebody paused it 0 seconds ago.
    Resume it.
      everstep instances resume order o-1
    "
  `);
  expect(await out("instances pause order o-1")).toBe("order o-1 was paused already.\n");
  expect(await out("instances resume order o-1")).toBe("Resumed order o-1.\n");
});

test("instances send-event reaches the step that waits for it", async () => {
  await world.runtime.settle();
  const sent = await out(["instances", "send-event", "o-1", "approved", "--payload", '{"by": "ann"}']);
  expect(sent).toMatch(/^Sent approved to order o-1, which is (waiting|active)\.\n$/);
  await world.runtime.settle();
  expect(await out("instances why order o-1")).toContain('topic "prices.changed"');
});

test("waiters and emit are about whoever waits for a topic", async () => {
  expect(await out("waiters prices.changed")).toMatchInlineSnapshot(`
    "workflow  id   run  step    times out
    order     o-1    1  prices  in 1 d
    "
  `);
  expect(await out(["emit", "prices.changed", '{"currency": "EUR"}'])).toBe("Reached 1 instance.\n");
  await world.runtime.settle();
  expect(await out("emit prices.changed")).toBe("Reached no instance; none was waiting for it.\n");
  expect(await out("waiters prices.changed")).toBe("No instance waits for prices.changed.\n");
});

test("instances history tells what happened in order", async () => {
  expect(await out("instances history order o-1 --include-logs")).toMatchInlineSnapshot(`
    "order o-1  run 1
    2026-01-31 UTC
    12:00:00.000  ● charge begins
    12:00:00.000    info   charge  [workflow]  card charged  {"cents":500}
    12:00:00.000  ✓ charge after 0 ms  {"cents":500}
    12:00:00.000  ● reserve begins
    12:00:00.000  ↻ reserve attempt 1 failed: Error: the warehouse is asleep
    12:00:10.000  ✓ reserve after 10 s, attempt 2  "shelf 7"
    12:00:10.000  ○ cool off sleeps until 2026-01-31 12:01:10 UTC
    12:00:10.000  ✓ cool off after 0 ms
    12:00:10.000  ○ approval waits for event approved until 2026-02-01 12:00:10 UTC
    12:00:10.000  → event approved  {"by":"ann"}  (taken by approval)
    12:00:10.000  ✓ approval after 0 ms
    12:00:10.000  ○ prices waits for topic prices.changed until 2026-02-01 12:00:10 UTC
    12:00:10.000  → topic prices.changed  {"currency":"EUR"}  (taken by prices)
    12:00:10.000  ✓ prices after 0 ms
    12:00:10.000  ◆ Sleep skipped.
    12:00:10.000  ◆ Paused.
    12:00:10.000  ◆ Resumed.
    "
  `);
});

test("instances logs shows the lines of the workflow and of the engine", async () => {
  expect(await out("instances logs order o-1 --log-level info")).toMatchInlineSnapshot(`
    "2026-01-31T12:00:00.000Z  info   charge  [workflow]  card charged  {"cents":500}
    2026-01-31T12:00:10.000Z  info   [operator]  Sleep skipped.  {"action":"skipSleep","actor":null}
    2026-01-31T12:00:10.000Z  info   [operator]  Paused.  {"action":"pause","actor":null}
    2026-01-31T12:00:10.000Z  info   [operator]  Resumed.  {"action":"resume","actor":null}
    "
  `);
  expect(await out("instances logs order o-1 --log-category nobody")).toBe("There are no such log lines.\n");
});

test("instances logs --follow shows the lines until the instance has ended", async () => {
  expect(await out("instances logs job j-1 --follow --log-level warn")).toContain("[workflow]  hello");
});

test("instances get --full shows params, output and everything else", async () => {
  expect(await out("instances get order o-1 --full")).toMatchInlineSnapshot(`
    "order o-1  complete
      run         1
      created     10 s ago (2026-01-31 12:00:00 UTC)
      started     10 s ago (2026-01-31 12:00:00 UTC)
      updated     now (2026-01-31 12:00:10 UTC)
      ended       now (2026-01-31 12:00:10 UTC)
      took        10 s
      executing   no
      queued      no
      kept until  forever

    Params
      {
        "amount": 5
      }

    Output
      {
        "charge": {
          "cents": 500
        },
        "by": "ann"
      }

    It completed 0 seconds ago.
    Resumed, now.

    Steps
      ✓ charge    do                    0 ms  ━
      ✓ reserve   do, attempt 2 of 3    10 s  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
      ✓ cool off  sleep                 0 ms                               ━
      ✓ approval  event approved        0 ms                               ━
      ✓ prices    topic prices.changed  0 ms                               ━
    "
  `);
});

test("instances rewind, restart and fork begin anew, from a step or from the beginning", async () => {
  expect(await out("wf rewind o-1 approval")).toBe("Rewound order o-1 to step approval.\n");
  expect(await out("instances restart order o-1 --from reserve")).toBe(
    "Restarted order o-1 from step reserve.\n",
  );
  expect(await out("instances restart order o-1")).toBe("Restarted order o-1.\n");
  await world.runtime.settle();
  expect(await out("instances get order o-1")).toMatch(/\n {2}run {10}4\n/);
  expect(await out("instances history order o-1 --run 2")).toContain("order o-1  run 2");
  expect(await out("instances fork order o-1 --from reserve --new-id o-2")).toBe(
    "Forked order o-1 as order o-2.\n",
  );
  await world.runtime.settle();
  expect(await out("instances get o-2")).toContain("✓ charge");
});

test("instances terminate ends it, with a reason", async () => {
  expect(await out(["wf", "cancel", "o-2", "--reason", "sent twice"])).toBe("Terminated order o-2.\n");
  expect(await out("instances get o-2")).toContain("by user: sent twice");
});

test("instances export writes the history as one document, to standard output or to a file", async () => {
  const document = JSON.parse(await out("instances export order o-1 --run 1"));
  expect(document).toMatchObject({ format: "everstep-history", instanceId: "o-1", runNumber: 1 });
});

test("dead letters are listed, and retried one by one or all together", async () => {
  for (const id of ["d-1", "d-2", "d-3"])
    await out(["wf", "start", "job", '{"fail": "no money"}', "--id", id]);
  await world.runtime.settle();
  expect(await out("dead-letters")).toMatchInlineSnapshot(`
    "workflow  id   status   run  created  updated  note
    job       d-3  errored    1  now      now      dead letter: Error: no money
    job       d-2  errored    1  now      now      dead letter: Error: no money
    job       d-1  errored    1  now      now      dead letter: Error: no money
    "
  `);
  repaired.add("d-1");
  expect(await out("dead-letters retry d-1")).toBe("Retried job d-1.\n");
  repaired.add("d-2").add("d-3");
  expect(await out("dead-letters retry --all --workflow job")).toMatchInlineSnapshot(`
    "1/2 retried job d-3
    2/2 retried job d-2
    Retried 2 of 2 instances.
    "
  `);
  await world.runtime.settle();
  expect(await out("dead-letters list")).toBe("There are no dead letters.\n");
});

test("instances retry gives a failed step another attempt", async () => {
  await out(["wf", "start", "job", '{"fail": "no money"}', "--id", "d-4"]);
  await world.runtime.settle();
  const got = await out("instances get job d-4");
  // Where in these files it is thrown is of this machine.
  expect(got).toMatch(/ {2}thrown {7}at .*\/tests\/cli\/.*\.ts:\d+:\d+\)?\n/);
  expect(got.replace(/thrown {7}at .*\n/, "thrown       at (here)\n")).toMatchInlineSnapshot(`
    "job d-4  errored
      run          1
      created      now (2026-01-31 12:00:10 UTC)
      started      now (2026-01-31 12:00:10 UTC)
      updated      now (2026-01-31 12:00:10 UTC)
      ended        now (2026-01-31 12:00:10 UTC)
      took         0 ms
      dead letter  yes: the engine gave up on it
      thrown       at (here)

    It failed 0 seconds ago with Error: no money.
    Retry the failed step once its cause is gone, or restart the instance.
      everstep instances retry job d-4

    Steps
      ✗ work  do  0 ms  ━
        Error: no money
    "
  `);
  repaired.add("d-4");
  expect(await out("instances retry job d-4 --delay 10m")).toBe(
    "The failed step of job d-4 gets another attempt in 10m.\n",
  );
  await world.runtime.advance("10 minutes");
  expect(await out("instances get job d-4")).toContain("job d-4  complete");
});

test("verify audits the store", async () => {
  expect(await out("verify")).toMatch(/^Checked \d+ runs: no violation\. All were looked at\.\n$/);
  expect(await out("verify job --limit 1 --history")).toMatch(/There is more\.\nGo on with --after \S+\n$/);
});
