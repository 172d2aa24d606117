/** Mistakes in the SQLite store's own code. Worlds run on it too, but slowly; its contract notices these at once. */
import type { Unseen } from "./mutant.ts";

const because = "Worlds on files are slow, and it takes more of them than anybody waits for.";
const noticedBy = "stores/sqlite/sqlite-store.test.ts";

export const unseenOnSqlite: readonly Unseen[] = [
  {
    name: "SQLite applies a commit that builds on a lost event",
    guards: ["INV-24"],
    file: "stores/sqlite/write-commit.ts",
    find: 'if (heardOfLost(boundary, (seq) => rows.eventIdAt(run, seq))) return { kind: "superseded" };',
    replace: "void heardOfLost;",
    because,
    noticedBy,
  },
  {
    name: "SQLite applies a quick commit that builds on a lost event",
    guards: ["INV-24"],
    file: "stores/sqlite/quick-commit.ts",
    find: "if (after !== undefined || noProgress || heard !== undefined) return false;",
    replace: "void heard;\n  if (after !== undefined || noProgress) return false;",
    because,
    noticedBy,
  },
  {
    name: "SQLite does not ask a commit for its token",
    guards: ["INV-2"],
    edits: [
      {
        file: "stores/sqlite/write-commit.ts",
        find: 'if (row === undefined || row.token !== lease.token) return { kind: "superseded" };',
        replace: 'if (row === undefined) return { kind: "superseded" };',
      },
    ],
    because,
    noticedBy,
  },
  {
    name: "SQLite does not ask a quick commit for its token",
    guards: ["INV-2"],
    file: "stores/sqlite/quick-commit.ts",
    find: "const fence = `id = ? AND token = ? AND last_commit = ?",
    replace: "const fence = `id = ? AND ? IS NOT NULL AND last_commit = ?",
    because,
    noticedBy,
  },
  {
    name: "SQLite suspends past an event that the turn has not seen",
    guards: ["INV-23"],
    file: "stores/sqlite/quick-commit.ts",
    find: "AND status = 'active' AND event_seq = ?`;",
    replace: "AND status = 'active' AND event_seq >= ?`;",
    because,
    noticedBy,
  },
  {
    name: "SQLite renews and releases whatever the token",
    guards: ["INV-2", "INV-4"],
    file: "stores/sqlite/leases.ts",
    find: "return row !== undefined && row.token === token && hasLease(row) ? row : undefined;",
    replace: "void token;\n    return row !== undefined && hasLease(row) ? row : undefined;",
    because,
    noticedBy,
  },
  {
    name: "SQLite hands out runs a second before they are due",
    guards: ["INV-28", "INV-1"],
    file: "stores/sqlite/claim.ts",
    find: "WHERE workflow = ? AND lane = ? AND due_at <= ? ORDER BY",
    replace: "WHERE workflow = ? AND lane = ? AND due_at <= ? + 1000 ORDER BY",
    because,
    noticedBy,
  },
  {
    name: "SQLite wakes nobody with an event",
    guards: ["INV-23"],
    file: "stores/sqlite/write-events.ts",
    find: "const woke = canBeWoken(row) && steps.openWaits(row.run).some((wait) => endsWait(request, wait));",
    replace: "const woke = false;",
    because,
    noticedBy,
  },
];
