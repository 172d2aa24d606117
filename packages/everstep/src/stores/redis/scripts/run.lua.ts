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

import { type Field, fields, runFields } from "../write/run-fields.ts";

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
local STATUSES = { active = true, waiting = true, paused = true, complete = true, errored = true, terminated = true }
local TERMINAL = { complete = true, errored = true, terminated = true }

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
