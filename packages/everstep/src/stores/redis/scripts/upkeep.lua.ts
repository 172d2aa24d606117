/** Removes whole instances: every key of theirs, and every trace in the indexes. */
import { instanceStatuses } from "../../../model/instance.ts";
import { record } from "./instances.lua.ts";
import { nudge, prelude, script } from "./prelude.lua.ts";
import { indexes, run, runSaving } from "./run.lua.ts";
import { packing, waits } from "./waits-and-events.lua.ts";

const remove = `
local CLASSES = { ${[...instanceStatuses, "dead"].map((name) => `'${name}'`).join(", ")} }
local RUN_KEYS = { 'run', 'steps', 'waits', 'events', 'event-states', 'unread', 'logs', 'ending' }

local function forgetEventIds(id, workflow, instance)
  for _, packed in ipairs(ask('HVALS', key('event-states', id))) do
    local event = unpackEvent(packed)
    if event then
      ask('HDEL', P .. 'event-ids', eventKey(workflow, instance, event.id))
      -- Under its id alone there may be one of another instance.
      if ask('HGET', P .. 'event-ids', event.id) == id then ask('HDEL', P .. 'event-ids', event.id) end
    end
  end
end

-- Out of every index. Only commands that need no memory: removing must work where nothing else does.
local function unlistRun(run)
  leaveTopics(run)
  run.lane = nil
  run.owner = nil
  run.keepUntil = nil
  run.retired = '1'
  moveThrough(run, run.was)
end

local function removeRun(id, workflow, instance)
  forgetEventIds(id, workflow, instance)
  local run = readRun(id)
  if run then unlistRun(run) end
  local keys = {}
  for n, kind in ipairs(RUN_KEYS) do keys[n] = key(kind, id) end
  ask('UNLINK', unpack(keys))
end

local function forgetWorkflow(workflow)
  for _, class in ipairs(CLASSES) do
    if ask('EXISTS', key('status:' .. class, workflow)) == 1 then return end
  end
  ask('SREM', P .. 'workflows', workflow)
end

local function removeInstance(workflow, instance)
  local name = named('instance', workflow, instance)
  local newest = tonumber(ask('HGET', name, 'runs') or nil)
  if not newest then return false end
  for number = newest, 1, -1 do
    local id = ask('HGET', name, 'run:' .. number)
    if id then removeRun(id, workflow, instance) end
  end
  ask('UNLINK', name, named('changes', workflow, instance))
  saveIndexes()
  forgetWorkflow(workflow)
  return true
end
`;

/**
 * Compares what was decided on (current run and its status) with what is there, and removes it if nothing has changed. Gives 1
 * if so, 0 if something has.
 */
const removeOne = `
local workflow, instance, run, status = text(), text(), text(), text()
nudge.due, nudge.changed, nudge.ended = text() == '1', true, text() == '1'
if runOf(workflow, instance) ~= run or statusOf(run) ~= status then return 0 end
return savingIndexes(function()
  removeInstance(workflow, instance)
  sendNudge()
  return 1
end)
`;

/** Without reading the run as a whole: one that is damaged can be removed too. */
const found = `
local function runOf(workflow, instance)
  return ask('HGET', named('instance', workflow, instance), 'run') or '0'
end

local function statusOf(run)
  local status = redis.pcall('HGET', key('run', run), 'status')
  return type(status) == 'string' and STATUSES[status] and status or 'active'
end
`;

/** What has to be known before an instance is deleted: its current run, the first one, the number and the status. */
const findOne = `
local workflow, instance = text(), text()
local known = ask('HMGET', named('instance', workflow, instance), 'runs', 'run:1')
if not known[1] then return {} end
local run = runOf(workflow, instance)
return { run, known[2] or run, known[1], statusOf(run) }
`;

/** Longest out of retention first. Gives how many were looked at, and how many of them were there. */
const prune = `
local before, limit = number(), number()
local serials = ask('ZRANGEBYSCORE', P .. 'prune', '-inf', digits(before), 'LIMIT', 0, limit)
return savingIndexes(function()
  local removed = 0
  for _, serial in ipairs(serials) do
    local names = ask('HMGET', key('run', runOfSerial(serial)), 'workflow', 'instance')
    if names[1] and names[2] and removeInstance(names[1], names[2]) then removed = removed + 1 end
    ask('ZREM', P .. 'prune', serial)
  end
  return { #serials, removed }
end)
`;

const forget = `
local before, limit = number(), number()
local ids = ask('ZRANGEBYSCORE', P .. 'publication-ages', '-inf', '(' .. digits(before), 'LIMIT', 0, limit)
for _, id in ipairs(ids) do
  ask('HDEL', P .. 'publications', id)
  ask('ZREM', P .. 'publication-ages', id)
end
return #ids
`;

const parts = [prelude, packing, indexes, run, runSaving, waits, remove];

export const findDeletableScript = script("delete", prelude, run, found, findOne);
export const deleteScript = script("delete", ...parts, nudge, found, removeOne);
export const pruneScript = script("prune", ...parts, prune);
export const forgetPublicationsScript = script("prune", prelude, forget);

/**
 * Runs that want a turn and stand in no list of due runs, and what puts them back. Everything that a list has follows from
 * the run's own hash, so whatever is missing in one can be made again.
 */

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
