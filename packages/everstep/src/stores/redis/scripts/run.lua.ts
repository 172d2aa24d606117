/**
 * The hash of a run, and the indexes that follow from it. Verbs change the table; `saveRuns` writes what has changed,
 * after everything was decided. A run stands in one lane of its workflow, scored by its due time:
 *
 *   starting    -> held                claimed for the first time
 *   resuming    -> held                claimed again
 *   held        -> resuming            suspended, yielded or released
 *   held       <-> heldPaused          paused and resumed under a lease
 *   any         -> none                paused without a lease, or ended
 *
 * `kind` says why it is resuming; in the other lanes it means nothing.
 *
 * What is done for every field is written out field by field: a loop over their names takes the server several times as
 * long, and this is most of what it does.
 */
import { instanceStatuses, terminalStatuses } from "../../../model/instance.ts";
import { type Field, fields, runFields } from "../records/run-fields.ts";

export function isNumber(name: Field): boolean {
  return fields[name] !== "text";
}

const setOf = (names: readonly string[]): string => names.map((name) => `${name} = true`).join(", ");

/** A count that is not stored is 0, anything else is nil. */
const nothing = runFields.map((name) => `${name} = ${fields[name] === "count" ? "0" : "nil"}`).join(", ");

/** A constructor with every name in it makes a table that never has to grow. */
const copyOf = (table: string): string => runFields.map((name) => `${name} = ${table}.${name}`).join(", ");

const readNumbers = runFields
  .filter(isNumber)
  .map((name) =>
    fields[name] === "count"
      ? `if was.${name} ~= 0 then was.${name} = tonumber(was.${name}) or 0 end`
      : `if was.${name} then was.${name} = tonumber(was.${name}) end`,
  )
  .join("\n  ");

export const run = `
local NUMBERS = { ${setOf(runFields.filter(isNumber))} }
local COUNTS = { ${setOf(runFields.filter((name) => fields[name] === "count"))} }
local STATUSES = { ${instanceStatuses.map((status) => `${status} = true`).join(", ")} }
local TERMINAL = { ${terminalStatuses.map((status) => `${status} = true`).join(", ")} }

-- Those that this request has to do with, by id and in order.
local runs, unsavedRuns, unsavedCount = {}, {}, 0

local function keepRun(run)
  runs[run.id] = run
  unsavedCount = unsavedCount + 1
  unsavedRuns[unsavedCount] = run
  return run
end

-- 'was' is what is stored.
local function readRun(id)
  if runs[id] then return runs[id] end
  local key = P .. 'run:' .. id
  local flat = redis.pcall('HGETALL', key)
  if flat.err or #flat == 0 then return nil end
  local was = { ${nothing} }
  for n = 1, #flat, 2 do was[flat[n]] = flat[n + 1] end
  if not (was.workflow and was.instance and was.place and was.status) then return nil end
  ${readNumbers}
  local run = { id = id, key = key, was = was, waits = nil, ${copyOf("was")} }
  -- One that nobody knows was damaged; the next verb that saves the run heals it.
  if not STATUSES[run.status] then run.status = 'active' end
  return keepRun(run)
end

local function newRun(id)
  local was = { ${nothing} }
  return keepRun({ id = id, key = P .. 'run:' .. id, was = was, waits = {}, ${copyOf("was")} })
end

local function isLeased(run) return run.lane == 'held' or run.lane == 'heldPaused' end

local function currentRun(workflow, instance)
  local id = ask('HGET', named('instance', workflow, instance), 'run')
  return id and readRun(id)
end

local function laneKey(lane, workflow) return key('due:' .. lane, workflow) end

-- It wants a turn, and no claim finds it: nothing that a script does as a whole, only what is left of one that could not.
local function isUnlisted(run)
  if run.retired or TERMINAL[run.status] or run.status == 'paused' then return false end
  return not run.lane or not ask('ZSCORE', laneKey(run.lane, run.workflow), wide(run.id))
end
`;

/**
 * The sets that lead to runs. Verbs say where a run stands now; what they said is written when the script ends, one
 * command per set, the last word about a run being the one that counts. So nothing may read these sets in between
 * without `saveIndexes` before it, and a script that fails half-way still saves what its earlier requests said.
 */
export const indexes = `
-- By kind, name (false where there is but one) and member: the score, or false for one that shall not be there.
local indexes = {}

local function index(kind, name, member, score)
  local names = indexes[kind]
  if not names then
    names = {}
    indexes[kind] = names
  end
  local members = names[name]
  if not members then
    members = {}
    names[name] = members
  end
  members[member] = score
end

-- In parts, of as many as a call takes with certainty. Gives the failure, if there is one.
local function askInParts(command, name, values)
  for first = 1, #values, 2000 do
    local reply = redis.pcall(command, name, unpack(values, first, math.min(first + 1999, #values)))
    if type(reply) == 'table' and reply.err then return reply end
  end
end

local function saveIndex(kind, name, members)
  local isScored = kind ~= 'owner'
  local there, gone, last, lastGone = {}, {}, 0, 0
  for member, score in pairs(members) do
    if not score then
      lastGone = lastGone + 1
      gone[lastGone] = member
    else
      if isScored then
        last = last + 1
        there[last] = score
      end
      last = last + 1
      there[last] = member
    end
  end
  return askInParts(isScored and 'ZREM' or 'SREM', name, gone) or askInParts(isScored and 'ZADD' or 'SADD', name, there)
end

-- All of them, also when one is damaged; what that one answered is the answer of the script.
local indexFailure
local function saveIndexes()
  local unsaved = indexes
  indexes = {}
  for kind, names in pairs(unsaved) do
    for name, members in pairs(names) do
      indexFailure = saveIndex(kind, name and P .. kind .. ':' .. name or P .. kind, members) or indexFailure
    end
  end
end

local function savingIndexes(act)
  local isDone, answer = pcall(act)
  saveIndexes()
  -- What a command answered: raised once more it would lose its first word, by which callers know it.
  if not isDone then return type(answer) == 'table' and answer or redis.error_reply(answer) end
  return indexFailure or answer
end
`;

/** Writes what has changed of a run, and moves it through the indexes. */

const gatherChanges = runFields
  .map(
    (name) => `value = run.${name}
  if value ~= was.${name} then
    if value == nil then
      gone = gone or {}
      gone[#gone + 1] = '${name}'
    else
      set[last + 1], set[last + 2] = '${name}', ${isNumber(name) ? "digits(value)" : "value"}
      last = last + 2
    end
  end`,
  )
  .join("\n  ");

export const runSaving = `
-- Every instance is listed once, under the status of its current run.
local function classOf(run)
  if run.retired or not run.status then return nil end
  if run.dead then return 'dead' end
  return run.status
end

local function ownerOf(run) return not TERMINAL[run.status] and run.owner or nil end

local function moveLane(run, was)
  local before, now = was.lane, run.lane
  if before == now and (not now or was.due == run.due) then return end
  local name = wide(run.id)
  if before and before ~= now then index('due:' .. before, run.workflow, name, false) end
  if now then index('due:' .. now, run.workflow, name, digits(run.due)) end
end

local function moveClass(run, was)
  local before, now = classOf(was), classOf(run)
  if before == now then return end
  if before then index('status:' .. before, run.workflow, run.place, false) end
  if now then index('status:' .. now, run.workflow, run.place, '0') end
end

local function moveOwner(run, was)
  local before, now = ownerOf(was), ownerOf(run)
  if before == now then return end
  if before then index('owner', before, run.id, false) end
  if now then index('owner', now, run.id, true) end
end

local function movePrune(run, was)
  local before = not was.retired and was.keepUntil or nil
  local now = not run.retired and run.keepUntil or nil
  if before ~= now then index('prune', false, serialOf(run.place), now and digits(now) or false) end
end

local function moveThrough(run, was)
  moveLane(run, was)
  moveClass(run, was)
  moveOwner(run, was)
  movePrune(run, was)
end

local function saveRun(run)
  local was, set, last, gone, value = run.was, {}, 0, nil, nil
  ${gatherChanges}
  if last > 0 then ask('HSET', run.key, unpack(set, 1, last)) end
  if gone then ask('HDEL', run.key, unpack(gone)) end
  moveThrough(run, was)
end

-- At the end of a request. The next one reads anew.
local function saveRuns()
  if unsavedCount == 0 then return end
  for n = 1, unsavedCount do saveRun(unsavedRuns[n]) end
  runs, unsavedCount = {}, 0
end
`;
