/**
 * The long way of a write: a script that looks, and one that saves what the state machine has made of it. The second looks
 * once more before it does anything: if not everything is as it was, it gives what it has found instead, and changes
 * nothing. Redis does not take back what a script has written, so whatever could fail is looked at before the first write.
 */

import { look } from "./look.lua.ts";
import { mutations } from "./mutations.lua.ts";
import { nudge, prelude, runIds, script } from "./prelude.lua.ts";
import { indexes, run, runSaving } from "./run.lua.ts";
import { events, packing, waits } from "./waits-and-events.lua.ts";

const header = `
local now, newRuns, seed = number(), number(), text()
`;

/** Gives numbers for new runs too, where there may be some; those that are not used stay a gap. */
const looking = `
local found, sign = look()
local function whatIsThere() return { sign, found, newRuns > 0 and digits(takeIds(newRuns, seed)) or false } end
`;

const checks = `
-- The first key that has what it should not.
local function findDamage()
  local damaged
  for _ = 1, number() do
    local kind, name = text(), P .. text()
    local there = ask('TYPE', name).ok
    if there ~= 'none' and there ~= kind then damaged = damaged or name end
  end
  return damaged
end

-- A server that went back in time may have given the numbers to others.
local function isTaken()
  local taken = false
  for _ = 1, number() do
    if ask('EXISTS', P .. 'run:' .. text()) == 1 then taken = true end
  end
  return taken
end
`;

const savings = `
local function saveFields(run)
  for _ = 1, number() do
    local field = text()
    local value = optional()
    if value and NUMBERS[field] then value = tonumber(value) end
    if value == nil and COUNTS[field] then value = 0 end
    run[field] = value
  end
end

local function saveSteps(run)
  local steps = key('steps', run.id)
  for _ = 1, number() do
    local step = text()
    dropWait(run, step)
    ask('HDEL', steps, step)
  end
  for _ = 1, number() do
    local step = text()
    dropWait(run, step)
    ask('HSET', steps, step, text())
    if text() == '1' then putWait(run, step, { wakeAt = number(), key = text(), type = optional(), topic = optional() }) end
  end
  for _ = 1, number() do
    local step, wakeAt = text(), number()
    local wait = waitsOf(run)[step]
    if wait then
      wait.wakeAt = wakeAt
      putWait(run, step, wait)
    end
  end
  local opening = text()
  if opening == 'close' then leaveTopics(run) elseif opening == 'reopen' then joinTopics(run) end
end

local function saveEnding(run)
  local forgets, ending = text() == '1', optional()
  if forgets then ask('DEL', key('ending', run.id)) end
  if ending then ask('SET', key('ending', run.id), ending) end
end

local function saveEvents(run)
  for _ = 1, number() do
    local seq, record, isSent = text(), text(), text() == '1'
    addEvent(run, seq, record, {
      id = text(), createdAt = number(), system = text() == '1', type = optional(), forStep = optional(),
    }, isSent)
  end
  for _ = 1, number() do returnEvent(run, text()) end
  for _ = 1, number() do
    local seq, consumer = text(), text()
    deliverEvent(run, seq, consumer, number())
  end
end

local function saveLogs(run)
  local lines = {}
  for n = 1, number() do lines[n] = text() end
  for first = 1, #lines, 1000 do
    ask('RPUSH', key('logs', run.id), unpack(lines, first, math.min(first + 999, #lines)))
  end
end

-- Of runs that give up their places in lists, before others take them.
local function saveOneRun()
  local id, isNew = text(), text() == '1'
  local run = isNew and newRun(id) or readRun(id)
  saveFields(run)
  saveSteps(run)
  saveEnding(run)
  saveEvents(run)
  saveLogs(run)
  saveRuns()
end

-- Fields of hashes, and what else there is to each.
local function saveInstances()
  for _ = 1, number() do
    local workflow = text()
    local name = named('instance', workflow, text())
    for _ = 1, number() do
      local field = text()
      ask('HSET', name, field, text())
    end
    ask('SADD', P .. 'workflows', workflow)
  end
end

local function saveChanges()
  for _ = 1, number() do
    local workflow = text()
    local name, id = named('changes', workflow, text()), text()
    ask('HSET', name, id, text())
  end
end

local function savePublications()
  for _ = 1, number() do
    local topic, id, createdAt = text(), text(), text()
    local name = '~' .. #topic .. ':' .. topic .. ':' .. id
    ask('HSET', P .. 'publications', name, text())
    ask('ZADD', P .. 'publication-ages', createdAt, name)
  end
end
`;

const save = `
if sign ~= text() then return whatIsThere() end
local damaged = findDamage()
if damaged then return redis.error_reply('WRONGTYPE the key ' .. damaged .. ' holds another kind of value') end
if isTaken() then return whatIsThere() end
local failed = runMutations(readMutations())
if failed then return failed.err and failed or { false, failed } end

return savingIndexes(function()
  local lastRun = number()
  if lastRun and lastRun > (tonumber(ask('HGET', META, 'lastRun') or nil) or 0) then ask('HSET', META, 'lastRun', digits(lastRun)) end
  for _ = 1, number() do saveOneRun() end
  saveInstances()
  saveChanges()
  savePublications()
  local kinds = text()
  nudge.due, nudge.changed, nudge.ended =
    string.find(kinds, 'd') ~= nil, string.find(kinds, 'c') ~= nil, string.find(kinds, 'e') ~= nil
  sendNudge()
  -- Replicas are waited for up to the last write of a connection, and a repeat of what another one has done writes nothing.
  if text() == '1' then ask('HSET', META, 'waited', '1') end
  return {}
end)
`;

export const lookScript = script(
  "write",
  prelude,
  packing,
  header,
  runIds,
  look,
  looking,
  "return whatIsThere()",
);
export const saveScript = script(
  "write",
  prelude,
  packing,
  header,
  runIds,
  look,
  looking,
  nudge,
  indexes,
  run,
  runSaving,
  waits,
  events,
  mutations,
  checks,
  savings,
  save,
);
