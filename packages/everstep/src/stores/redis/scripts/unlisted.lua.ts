/**
 * Runs that want a turn and stand in no list of due runs, and what puts them back. Everything that a list has follows from
 * the run's own hash, so whatever is missing in one can be made again.
 */
import { indexes } from "./indexes.lua.ts";
import { prelude } from "./prelude.lua.ts";
import { record } from "./record.lua.ts";
import { run } from "./run.lua.ts";
import { runSaving } from "./run-saving.lua.ts";
import { script } from "./script.ts";

/**
 * By how many the lists differ: every instance that is active or waiting has one run in one lane. Looks at a bounded number
 * of workflows, drawn at random. It runs before the epoch is known, and makes nothing.
 */
const count = `
local P = string.sub(KEYS[1], 1, -5)
local workflows = redis.pcall('SRANDMEMBER', P .. 'workflows', 1000)
if workflows.err then return 0 end
local difference = 0
for _, workflow in ipairs(workflows) do
  local function size(list)
    local found = redis.pcall('ZCARD', P .. list .. ':' .. workflow)
    return type(found) == 'number' and found or 0
  end
  difference = difference + math.abs(size('status:active') + size('status:waiting')
    - size('due:held') - size('due:resuming') - size('due:starting'))
end
return difference
`;

/** Of the runs that are named, those that are current and can be read. */
const named = `
local function currentRunBy(id)
  local run = readRun(id)
  if not run then return nil end
  local instance = ask('HMGET', named('instance', run.workflow, run.instance), 'run', 'params')
  return instance[1] == id and instance[2] and run or nil
end
`;

const list = `
local records = {}
for _ = 1, number() do
  local run = currentRunBy(text())
  if run and isUnlisted(run) then records[#records + 1] = recordOf(run) end
end
return records
`;

/** Gives how many it has put back. One that nothing makes due is due now. */
const relist = `
local now = number()
local function relist(run)
  if not run.lane and isUnlisted(run) then
    run.lane, run.kind, run.due = 'resuming', 'resume', now
    return true
  end
  local class = classOf(run)
  local isMissing = isUnlisted(run) or (class and not ask('ZSCORE', key('status:' .. class, run.workflow), run.place))
  if not isMissing then return false end
  if run.lane then index('due:' .. run.lane, run.workflow, wide(run.id), digits(run.due)) end
  if class then index('status:' .. class, run.workflow, run.place, '0') end
  ask('SADD', P .. 'workflows', run.workflow)
  return true
end

return savingIndexes(function()
  local count = 0
  for _ = 1, number() do
    local run = currentRunBy(text())
    if run and relist(run) then count = count + 1 end
    saveRuns()
  end
  return count
end)
`;

export const countUnlistedScript = script("countUnlisted", count);
export const listUnlistedScript = script("listUnlisted", prelude, run, record, named, list);
export const relistScript = script("relist", prelude, indexes, run, runSaving, named, relist);
