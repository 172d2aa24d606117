/** Mistakes in the SQLite store's own code. */
import type { Mutant } from "./mutant.ts";

const leases = "stores/sqlite/leases.ts";

export const sqlite: readonly Mutant[] = [
  {
    name: "SQLite does not ask a commit for its token",
    guards: ["INV-2"],
    store: "sqlite",
    edits: [
      {
        file: "stores/sqlite/write-commit.ts",
        find: 'if (row === undefined || row.token !== lease.token) return { kind: "superseded" };',
        replace: 'if (row === undefined) return { kind: "superseded" };',
      },
    ],
  },
  {
    name: "SQLite does not ask a quick commit for its token",
    guards: ["INV-2"],
    store: "sqlite",
    file: "stores/sqlite/quick-commit.ts",
    find: "const fence = `id = ? AND token = ? AND last_commit = ?",
    replace: "const fence = `id = ? AND ? IS NOT NULL AND last_commit = ?",
  },
  {
    name: "SQLite suspends past an event that the turn has not seen",
    guards: ["INV-23"],
    store: "sqlite",
    file: "stores/sqlite/quick-commit.ts",
    find: "AND status = 'active' AND event_seq = ?`;",
    replace: "AND status = 'active' AND event_seq >= ?`;",
  },
  {
    name: "SQLite renews and releases whatever the token",
    guards: ["INV-2", "INV-4"],
    store: "sqlite",
    file: leases,
    find: "return row !== undefined && row.token === token && hasLease(row) ? row : undefined;",
    replace: "void token;\n    return row !== undefined && hasLease(row) ? row : undefined;",
  },
  {
    name: "SQLite hands out runs a second before they are due",
    guards: ["INV-28", "INV-1"],
    store: "sqlite",
    file: "stores/sqlite/claim.ts",
    find: "WHERE workflow = ? AND lane = ? AND due_at <= ? ORDER BY",
    replace: "WHERE workflow = ? AND lane = ? AND due_at <= ? + 1000 ORDER BY",
  },
  {
    name: "SQLite wakes nobody with an event",
    guards: ["INV-23"],
    store: "sqlite",
    file: "stores/sqlite/write-events.ts",
    find: "const woke = canBeWoken(row) && steps.openWaits(row.run).some((wait) => endsWait(request, wait));",
    replace: "const woke = false;",
  },
];
