/** Mistakes in what the server stores share: how rows are read and written, and the ways that are quicker. */
import type { Mutant } from "./mutant.ts";

const leases = "stores/sql/lease/leases.ts";
const quickWrite = "stores/sql/write/quick-write.ts";

export const sql: readonly Mutant[] = [
  {
    name: "events that a commit took are not saved as taken",
    guards: ["INV-24"],
    store: "sql",
    file: "stores/sql/write/save.ts",
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
    find: "return { ...suspended(next.task, next.dueAt, 0), ending: null };",
    replace: "return { ...suspended(next.task, next.dueAt, 0), lane: lanes.held, ending: null };",
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
