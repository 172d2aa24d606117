import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { watchedDriver } from "../../../../../tests/support/sqlite-place.ts";
import type { StoreRequest } from "../../store/store.ts";
import { erased } from "../../testing/store-contract/acts.ts";
import {
  at,
  boundary,
  claimRequest,
  commit,
  create,
  never,
  pause,
  ref,
  sleeping,
  suspendUntil,
  workflow,
} from "../../testing/store-contract/given.ts";
import type { SqliteDriver } from "./driver.ts";
import { nodeDriver } from "./driver.ts";
import type { SqliteStore } from "./index.ts";
import { sqlite } from "./index.ts";

/** Keeps the text of every statement the store prepares. */
function recordingDriver(): {
  readonly driver: SqliteDriver;
  readonly texts: Set<string>;
  explain(sql: string): string[];
} {
  const texts = new Set<string>();
  const { driver: inner, database } = watchedDriver();
  const driver: SqliteDriver = {
    ...nodeDriver,
    async open(path, options) {
      const opened = await inner.open(path, options);
      const prepare: typeof opened.prepare = (sql) => {
        texts.add(sql);
        return opened.prepare(sql);
      };
      const prepareTuples: typeof opened.prepareTuples = (sql) => {
        texts.add(sql);
        return opened.prepareTuples(sql);
      };
      return Object.create(opened, { prepare: { value: prepare }, prepareTuples: { value: prepareTuples } });
    },
  };
  const explain = (sql: string): string[] =>
    database()
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map((row) => String(row.detail));
  return { driver, texts, explain };
}

/** Statements that read are prepared when they are first asked for. */
async function askForEverything(store: SqliteStore): Promise<void> {
  await store.write([create("a"), create("b")], at(0));
  const run = (await store.getInstance(ref("a")))?.runId ?? 0;
  await store.getInstance(ref("a"), 1);
  await store.getInstance(ref("a"), 2);
  await store.getInstances([ref("a")]);
  await store.getStatuses([ref("a")]);
  await store.getMarks([ref("a")]);
  await store.countByStatus();
  await store.countByStatus(workflow);
  await store.nextDueAt([workflow]);
  await store.listDue({ before: never, limit: 5 });
  await store.readRuns([{ runId: run, steps: true, eventsAfter: 0 }]);
  for (const brief of [false, true]) {
    await store.listRuns(ref("a"), 5, { brief });
    for (const order of ["asc", "desc"] as const) {
      for (const deadLetter of [{}, { deadLetter: true }, { deadLetter: false }]) {
        const query = { limit: 5, order, brief, ...deadLetter };
        await store.listInstances(query);
        await store.listInstances({ ...query, idPrefix: "a" });
      }
      for (const after of [{}, { after: "1" }]) {
        const query = { limit: 5, order, ...after };
        await store.listSteps(run, { ...query, brief });
        await store.listEvents(run, query);
        for (const level of [{}, { level: "info" as const }]) {
          await store.listLogs(run, { ...query, ...level });
          await store.listLogs(run, { ...query, ...level, category: "x" });
        }
      }
      await store.listWaiters("news", { limit: 5, order });
      await store.listWaiters("news", { limit: 5, order, after: "1.1" });
      await store.listTopics({ limit: 5, order });
      await store.listTopics({ limit: 5, order, after: "topic:news" });
    }
  }
  const counts = { complete: 1, errored: 0, terminated: 0, steps: 1, failedAttempts: 0 };
  await store.beat({
    runner: {
      owner: "me",
      host: null,
      pid: null,
      startedAt: 0,
      seenAt: 0,
      stoppedAt: null,
      concurrency: 1,
      turns: 0,
      workflows: [],
    },
    tallies: [{ minute: 0, workflowName: workflow, ...counts }],
    forgetBefore: -1,
  });
  await store.listRunners(5);
  await store.readTallies({ from: 0, to: 60_000 });
  await store.readTallies({ from: 0, to: 60_000, workflowName: workflow });
  await store.prune({ before: at(0), limit: 5, publicationsBefore: at(0) });
  await erased(store, ref("a"));
}

describe("every statement finds its rows through an index (INV-47, SEC-31)", async () => {
  const { driver, texts, explain } = recordingDriver();
  const store = sqlite({ path: ":memory:", driver });
  await store.migrate();
  await askForEverything(store);
  afterAll(() => store.close());
  const onTables = [...texts].filter((sql) => /everstep_/.test(sql) && !/^\s*(SAVEPOINT|RELEASE)/.test(sql));

  test("there are statements to look at", () => {
    expect(onTables.length).toBeGreaterThan(60);
  });

  test("none numbers its parameters, which Node 22 would take for names", () => {
    expect([...texts].filter((sql) => /\?\d/.test(sql))).toEqual([]);
  });

  test("none reads a table from end to end", () => {
    // Counting everything reads an index from end to end, on purpose.
    const counts = "SCAN r USING COVERING INDEX everstep_run_list";
    // A list that is cut off begins at the end of its index.
    const seenLast = "SCAN r USING INDEX everstep_runner_seen";
    const isScan = (line: string) =>
      /^SCAN (everstep_|[a-z] )/.test(line) && ![counts, seenLast].includes(line);
    expect(onTables.filter((sql) => explain(sql).some(isScan))).toEqual([]);
  });

  test.each([
    [
      "due runs",
      "ORDER BY due_at, id LIMIT",
      "USING COVERING INDEX everstep_run_claim (workflow=? AND lane=? AND due_at<?)",
    ],
    [
      "leases in force",
      "SELECT count(*) FROM everstep_run WHERE workflow",
      "everstep_run_claim (workflow=? AND lane=? AND due_at>?)",
    ],
    ["open waits", "wake_at FROM everstep_step INDEXED BY", "USING INDEX everstep_step_open (run=?)"],
    ["what to prune", "ORDER BY r.prune_at", "everstep_run_prune (prune_at<?)"],
    [
      "instances of a workflow and status",
      "FROM everstep_run r INDEXED BY everstep_run_list",
      "everstep_run_list (workflow=? AND status=? AND (created_at,instance)>(?,?) AND (created_at,instance)<(?,?))",
    ],
    [
      "dead letters",
      "FROM everstep_run r INDEXED BY everstep_run_dead_letter",
      "everstep_run_dead_letter (workflow=? AND (created_at,instance)>(?,?) AND (created_at,instance)<(?,?))",
    ],
    [
      "what is due, for a list",
      "FROM everstep_run r INDEXED BY everstep_run_claim",
      "USING COVERING INDEX everstep_run_claim (workflow=? AND lane=? AND due_at<?)",
    ],
  ])("%s are one stretch of their index, already in order", (_name, part, expected) => {
    const plans = onTables.filter((sql) => sql.includes(part) && !sql.includes("substr(")).map(explain);
    expect(plans.length).toBeGreaterThan(0);
    for (const plan of plans) {
      expect(plan).toHaveLength(1);
      expect(plan[0]).toContain(expected);
    }
  });

  test("the next due time is one seek per lane", () => {
    const [plan = [], ...others] = onTables.filter((sql) => sql.includes("AS lane_0")).map(explain);
    expect(others).toEqual([]);
    const seeks = plan.filter((line) => line.includes("SEARCH"));
    expect(seeks).toHaveLength(3);
    for (const seek of seeks) {
      expect(seek).toContain("USING COVERING INDEX everstep_run_claim (workflow=? AND lane=?)");
    }
    expect(plan.join()).not.toContain("TEMP B-TREE");
  });

  test("an id that begins so is looked for in one stretch of an index, and each looked up by key", () => {
    const plans = onTables.filter((sql) => sql.includes("substr(")).map(explain);
    expect(plans).toHaveLength(6);
    for (const plan of plans) {
      const [stretch, byKey, ...others] = plan.filter((line) => line.startsWith("SEARCH"));
      expect(stretch).toMatch(/everstep_run_(list|dead_letter) \(workflow=\? .*AND \(created_at,instance\)>/);
      expect(byKey).toBe("SEARCH n USING INTEGER PRIMARY KEY (rowid=?)");
      expect(others).toEqual([]);
      expect(plan.join()).not.toContain("TEMP B-TREE");
    }
  });

  test("what turns and waiting callers read is found by key, already in order", () => {
    const reads = onTables.filter(
      (sql) => /AS v JOIN|WHERE (r\.id|s\.run|i\.workflow) = \?/.test(sql) && !sql.includes("UNION"),
    );
    expect(reads.length).toBeGreaterThan(8);
    for (const plan of reads.map(explain)) {
      expect(plan.join()).not.toMatch(/TEMP B-TREE|AUTOMATIC/);
    }
  });

  test("topics that are waited on are one stretch of an index that has no others", () => {
    const plans = onTables.filter((sql) => sql.includes("SELECT s.topic, count(*)")).map(explain);
    expect(plans).toHaveLength(4);
    for (const plan of plans) {
      expect(plan).toHaveLength(1);
      expect(plan[0]).toMatch(/^SEARCH s USING COVERING INDEX everstep_step_topic \(topic[<>]\?.*\)$/);
    }
  });

  test("runs that wait on a topic are one stretch of its index, already in order, and the rest is found by key", () => {
    const plans = onTables
      .filter((sql) => sql.includes("s.step_index, s.key, s.event_type, s.topic, s.wake_at"))
      .map(explain);
    expect(plans).toEqual([
      [
        "SEARCH s USING INDEX everstep_step_topic (topic=?)",
        "SEARCH r USING INTEGER PRIMARY KEY (rowid=?)",
        "SEARCH i USING INTEGER PRIMARY KEY (rowid=?)",
      ],
    ]);
  });

  test("whether a wait had its event is one seek", () => {
    const plans = onTables
      .filter((sql) => sql === "SELECT 1 FROM everstep_event WHERE id = ?")
      .map((sql) => explain(sql));
    expect(plans.length).toBeGreaterThan(0);
    for (const plan of plans) {
      expect(plan).toEqual([
        "SEARCH everstep_event USING COVERING INDEX sqlite_autoindex_everstep_event_1 (id=?)",
      ]);
    }
  });
});

describe("rows that are not due cost a claim nothing", () => {
  let store: SqliteStore;
  const others = 20_000;

  beforeAll(async () => {
    store = sqlite(":memory:");
    const inSlices = async (make: (n: number) => StoreRequest[]) => {
      for (let from = 0; from < others; from += 1000) {
        await store.write(Array.from({ length: 1000 }, (_unused, n) => make(from + n)).flat(), at(0));
      }
    };
    await inSlices((n) => [create(`sleeper ${n}`, { dueAt: at(1_000_000 + n) })]);
    await inSlices((n) => [create(`paused ${n}`, { dueAt: at(-10) }), pause(`paused ${n}`)]);
    await inSlices((n) => [create(`other ${n}`, { workflowName: "other", dueAt: at(-10) })]);
    const claims = await store.claim(claimRequest({ now: at(0), limit: 0 }));
    expect(claims).toEqual([]);
  });
  afterAll(() => store.close());

  test("an id is looked for in steps, each of which looks at about 10,000 instances, and is found once", async () => {
    await store.write([create("needle", { createdAt: at(-5) })], at(0));
    for (const order of ["asc", "desc"] as const) {
      const found: string[] = [];
      let after: string | undefined;
      let pages = 0;
      do {
        const start = process.cpuUsage();
        const page = await store.listInstances({
          ...{ limit: 10, idPrefix: "needle", order },
          ...(after === undefined ? {} : { after }),
        });
        expect(process.cpuUsage(start).user / 1000).toBeLessThan(1000);
        found.push(...page.items.map(({ instanceId }) => instanceId));
        after = page.after;
        pages += 1;
      } while (after !== undefined);
      expect(found).toEqual(["needle"]);
      expect(pages).toBeGreaterThan(3);
    }
    await erased(store, { workflowName: workflow, instanceId: "needle" });
  });

  test("a claim among 60,000 of them takes about as long as in an empty store", async () => {
    const empty = sqlite(":memory:");
    await empty.migrate();
    const measure = async (each: SqliteStore): Promise<number> => {
      const times: number[] = [];
      for (let n = 0; n < 200; n += 1) {
        await each.write([create(`due ${n}`, { dueAt: at(0) })], at(0));
        const start = performance.now();
        const [claim] = await each.claim(claimRequest({ now: at(1), limit: 10 }));
        times.push(performance.now() - start);
        const next = suspendUntil(at(5_000_000));
        if (claim)
          await each.write([commit(claim.lease, boundary(1, { steps: [sleeping(1, at(9))], next }))], at(1));
      }
      return times.sort((a, b) => a - b)[100] as number;
    };
    const alone = await measure(empty);
    const crowded = await measure(store);
    await empty.close();
    expect(crowded).toBeLessThan(alone * 5 + 0.2);
  });

  test("leases in force are counted without looking at sleepers", async () => {
    const capped = claimRequest({ now: at(1), workflows: [{ name: workflow, concurrency: 1 }] });
    const start = process.cpuUsage();
    for (let n = 0; n < 200; n += 1) await store.claim(capped);
    expect(process.cpuUsage(start).user / 1000 / 200).toBeLessThan(1);
  });
});
