/** Mistakes in what the server stores share: how requests are planned on rows, and how rows are read and written. */
import type { Mutant } from "./mutant.ts";

const planCommit = "stores/sql/plan-commit.ts";
const leases = "stores/sql/leases.ts";
const workingRun = "stores/sql/working-run.ts";
const quickWrite = "stores/sql/quick-write.ts";

export const sql: readonly Mutant[] = [
  {
    name: "a planned commit is not asked for its token",
    guards: ["INV-2"],
    store: "sql",
    file: planCommit,
    find: 'if (run === undefined || run.row.token !== lease.token) return { kind: "superseded" };',
    replace: 'if (run === undefined) return { kind: "superseded" };',
  },
  {
    name: "a planned commit may come after the lease was given back",
    guards: ["INV-2", "INV-4"],
    store: "sql",
    file: planCommit,
    find: "return run.isLeased && !run.hasEnded && isCurrent && isNext",
    replace: "return !run.hasEnded && isCurrent && isNext",
  },
  {
    name: "a planned suspension does not look for its event",
    guards: ["INV-23"],
    store: "sql",
    file: planCommit,
    find: "const dueNow = timeoutsRefused || run.hasEventFor(run.waits.values(), eventSeqSeen);",
    replace: "const dueNow = timeoutsRefused;",
  },
  {
    name: "a planned lease is shortened by a commit",
    guards: ["INV-1"],
    store: "sql",
    file: workingRun,
    find: "this.change({ dueAt: Math.max(this.row.dueAt, until) });",
    replace: "this.change({ dueAt: until });",
  },
  {
    name: "a planned termination leaves the token as it was",
    guards: ["INV-12"],
    store: "sql",
    file: workingRun,
    find: "this.change({ token: this.row.token + 1, lastCommit: 0 });",
    replace: "this.change({ lastCommit: 0 });",
  },
  {
    name: "events that a planned commit took are not saved as taken",
    guards: ["INV-24"],
    store: "sql",
    file: "stores/sql/save.ts",
    find: 'dialect.update("event", ["run", "seq"], taking, "t.delivered_at IS NULL"),',
    replace: 'dialect.update("event", ["run", "seq"], taking, "t.delivered_at IS NOT NULL"),',
  },
  {
    name: "a release of rows leaves them leased",
    guards: ["LIV-6", "INV-14"],
    store: "sql",
    file: leases,
    find: '["lane", "kind", "due_at", "updated_at"],',
    replace: '["crash_count", "kind", "due_at", "updated_at"],',
  },
  {
    name: "a quick suspension keeps the lease",
    guards: ["INV-4", "LIV-1"],
    store: "sql-quick",
    file: quickWrite,
    find: "lane: laneOf(next.task),",
    replace: "lane: lanes.held,",
  },
  {
    name: "commits that bring more than their own row are written quickly",
    guards: ["INV-11"],
    store: "sql-quick",
    file: quickWrite,
    find: "return request.alongside.length === 0 && timeouts.length === 0;",
    replace: "return timeouts.length === 0;",
  },
  {
    name: "timeouts are left out of what is written quickly",
    guards: ["LIV-1", "INV-50"],
    store: "sql-quick",
    file: quickWrite,
    find: "return request.alongside.length === 0 && timeouts.length === 0;",
    replace: "return request.alongside.length === 0;",
  },
];
