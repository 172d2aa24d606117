/** Removes whole instances: every key of theirs, and every trace in the indexes. */
import { indexes } from "./indexes.lua.ts";
import { packing } from "./packing.lua.ts";
import { prelude } from "./prelude.lua.ts";
import { run } from "./run.lua.ts";
import { runSaving } from "./run-saving.lua.ts";
import { script } from "./script.ts";
import { waits } from "./waits.lua.ts";

const remove = `
local CLASSES = { 'active', 'waiting', 'paused', 'complete', 'errored', 'dead', 'terminated' }
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

const removeOne = `
local workflow, instance = text(), text()
return savingIndexes(function() return removeInstance(workflow, instance) and 1 or 0 end)
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

export const removeScript = script("remove", ...parts, removeOne);
export const pruneScript = script("prune", ...parts, prune);
export const forgetPublicationsScript = script("prune", prelude, forget);
