/** Mistakes in a server store's own statements and scripts: no world runs a server, the contract on a real one notices them. */
import type { Unseen } from "./mutant.ts";

const because = "A world runs no server.";
const onPostgres = {
  because,
  noticedBy: "stores/postgres/postgres-store.test.ts",
  needs: "postgres",
} as const;
const onMysql = { because, noticedBy: "stores/mysql/mysql-store.test.ts", needs: "mysql" } as const;
const onRedis = { because, noticedBy: "stores/redis/redis-store.test.ts", needs: "redis" } as const;
const betweenLookAndSave = {
  because,
  noticedBy: "stores/redis/write/changed-meanwhile.test.ts",
  needs: "redis",
} as const;

const postgresFence = "stores/postgres/quick-commit.ts";
const postgresClaim = "stores/postgres/claim.ts";
const mysqlFence = "stores/mysql/quick-write.ts";
const redisQuick = "stores/redis/scripts/quick.lua.ts";
const redisEvents = "stores/redis/scripts/quick-events.lua.ts";

export const unseenOnServers: readonly Unseen[] = [
  {
    name: "PostgreSQL applies a quick commit that builds on a lost event",
    guards: ["INV-24"],
    file: "stores/sql/write/quick-write.ts",
    find: "if (after !== undefined || noProgress || heard !== undefined) return false;",
    replace: "void heard;\n  if (after !== undefined || noProgress) return false;",
    ...onPostgres,
  },
  {
    name: "Redis applies a plain commit that builds on a lost event",
    guards: ["INV-24"],
    file: "stores/redis/write/quick.ts",
    find: "if (after !== undefined || noProgress || heard !== undefined) return false;",
    replace: "void heard;\n  if (after !== undefined || noProgress) return false;",
    ...onRedis,
  },
  {
    name: "PostgreSQL does not ask a quick commit for its token",
    guards: ["INV-2"],
    file: postgresFence,
    find: "AND r.token = v.token AND r.last_commit = v.last_commit - 1",
    replace: "AND r.last_commit = v.last_commit - 1",
    ...onPostgres,
  },
  {
    name: "PostgreSQL applies a quick commit although one before it is missing",
    guards: ["INV-42"],
    file: postgresFence,
    find: "AND r.token = v.token AND r.last_commit = v.last_commit - 1",
    replace: "AND r.token = v.token",
    ...onPostgres,
  },
  {
    name: "PostgreSQL suspends past an event that the turn has not seen",
    guards: ["INV-23"],
    file: postgresFence,
    find: 'parks ? " AND (v.event_seq IS NULL OR r.event_seq <= v.event_seq)" : ""',
    replace: 'parks ? "" : ""',
    ...onPostgres,
  },
  {
    name: "PostgreSQL does not count crashes",
    guards: ["INV-14"],
    file: postgresClaim,
    find: "crash_count = k.crashes",
    replace: "crash_count = r.crash_count",
    ...onPostgres,
  },
  {
    name: "PostgreSQL keeps the number of the last commit when it hands out a run",
    guards: ["INV-42"],
    file: postgresClaim,
    find: ", last_commit = 0, owner = ",
    replace: ", owner = ",
    ...onPostgres,
  },
  {
    name: "PostgreSQL gives every event the number of the one before",
    guards: ["INV-24"],
    file: "stores/postgres/quick-write.ts",
    find: "SET event_seq = r.event_seq + 1, kind",
    replace: "SET event_seq = r.event_seq, kind",
    ...onPostgres,
  },
  {
    name: "MariaDB does not ask a quick commit for its token",
    guards: ["INV-2"],
    file: mysqlFence,
    find: '"r.token = ",',
    replace: '"r.token <> -1 - ",',
    ...onMysql,
  },
  {
    name: "MariaDB suspends past an event that the turn has not seen",
    guards: ["INV-23"],
    file: mysqlFence,
    find: 'passes.push(around("r.event_seq <= COALESCE(", seen, ", r.event_seq)"));',
    replace: "void seen;",
    ...onMysql,
  },
  {
    name: "MariaDB hands out more runs of a workflow than it allows",
    guards: ["LIV-5", "INV-47"],
    file: "stores/mysql/claim.ts",
    find: "concurrency - (leased.get(name) ?? 0);",
    replace: "concurrency;",
    because,
    noticedBy: "stores/mysql/claim-choice.test.ts",
  },
  {
    name: "MariaDB keeps the token when it hands out a run",
    guards: ["INV-1"],
    file: "stores/mysql/claim.ts",
    find: "r.token = ?, r.last_commit = 0",
    replace: "r.token = IF(? > 0, r.token, r.token), r.last_commit = 0",
    ...onMysql,
  },
  {
    name: "Redis does not ask a plain commit for its token",
    guards: ["INV-2"],
    file: redisQuick,
    find: " and stored[1] == token and stored[2] == 'held'",
    replace: " and stored[2] == 'held'",
    ...onRedis,
  },
  {
    name: "Redis applies a plain commit although one before it is missing",
    guards: ["INV-42"],
    file: redisQuick,
    find: " and (stored[3] or '0') == before",
    replace: "",
    ...onRedis,
  },
  {
    name: "Redis suspends although an event is there that the turn has not seen",
    guards: ["INV-23"],
    file: redisQuick,
    find: "  if seq > seen and isAnyUnseenAwaited(id, seen, first, last, events, eventsEnd) then return leaveRun(id) end\n",
    replace: "",
    ...onRedis,
  },
  {
    name: "Redis lets a plain request overtake one about the same instance",
    guards: ["INV-40"],
    file: redisQuick,
    find: "  left[name] = true\n",
    replace: "",
    ...betweenLookAndSave,
  },
  {
    name: "Redis saves what was decided by something that is no longer so",
    guards: ["INV-2", "INV-23", "INV-40"],
    file: "stores/redis/scripts/long.lua.ts",
    find: "if sign ~= text() then return whatIsThere() end",
    replace: "text()",
    ...betweenLookAndSave,
  },
  {
    name: "Redis does not notice who began to wait between the look and the save",
    guards: ["INV-40"],
    edits: [
      {
        file: "stores/redis/scripts/look.lua.ts",
        find: "  found[#found + 1] = lookAtRuns()\n  return found, signOf(",
        replace:
          "  local sign = redis.sha1hex(cmsgpack.pack(found))\n  found[#found + 1] = lookAtRuns()\n  if true then return found, sign end\n  return found, signOf(",
      },
    ],
    ...betweenLookAndSave,
  },
  {
    name: "Redis gives a number of a run away that somebody has",
    guards: ["INV-1"],
    file: "stores/redis/scripts/long.lua.ts",
    find: "if isTaken() then return whatIsThere() end",
    replace: "isTaken()",
    ...betweenLookAndSave,
  },
  {
    name: "Redis finds a damaged key only when it has written others",
    guards: ["INV-40"],
    file: "stores/redis/scripts/long.lua.ts",
    find: "if there ~= 'none' and there ~= kind then damaged = damaged or name end",
    replace: "",
    ...betweenLookAndSave,
  },
  {
    name: "Redis renews and releases whatever the token",
    guards: ["INV-2", "INV-4"],
    file: "stores/redis/scripts/claim.lua.ts",
    find: "return run and run.token == token and isLeased(run) and run or nil",
    replace: "return run and isLeased(run) and run or nil",
    ...onRedis,
  },
  {
    name: "Redis renews a holder whose commits it has lost",
    guards: ["INV-2"],
    file: "stores/redis/scripts/claim.lua.ts",
    find: "if not run or run.commit < applied then return { 'lost' } end",
    replace: "if not run then return { 'lost' } end",
    ...onRedis,
  },
  {
    name: "Redis does not count crashes",
    guards: ["INV-14"],
    file: "stores/redis/scripts/claim.lua.ts",
    find: "  run.crashes = crashesAfter(run)\n",
    replace: "",
    ...onRedis,
  },
  {
    name: "Redis wakes nobody with an event",
    guards: ["INV-23"],
    file: redisEvents,
    find: "local woke = canBeWoken(run) and isAwaited(run, event)",
    replace: "local woke = false",
    ...onRedis,
  },
  {
    name: "Redis wakes a run with an event while it waits out a crash",
    guards: ["INV-14"],
    file: redisEvents,
    find: " and not (run.status == 'active' and run.crashes > 0)",
    replace: "",
    ...onRedis,
  },
  {
    name: "Redis publishes to a wait that has its event",
    guards: ["INV-25"],
    file: redisEvents,
    find: "if not run.spokenFor[wait.key] then waiters",
    replace: "if true then waiters",
    ...onRedis,
  },
  {
    name: "Redis forgets part of what an owner has left behind",
    guards: ["INV-40"],
    file: "stores/redis/write/write.ts",
    find: "while (last.runs >= runsAtOnce) {",
    replace: "while (last.runs > 1_000_000 && runsAtOnce > 0) {",
    because,
    noticedBy: "stores/redis/abandon.test.ts",
    needs: "redis",
  },
];
