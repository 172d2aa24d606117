/**
 * The short way of nearly every request: a commit under a lease with steps, lines to log, events taken, and then more to come, a wait or
 * the end; a creation; an event; a publication. What becomes of a run is in the arguments (`quick.ts` takes it from the state machine):
 * here it is only read whether everything is as usual, which fields of the hash that concerns, and which sets they lead
 * to. Whatever is not (another token, a repeat, a pause, a crash before, an event that was not seen and is waited for, a wait on
 * a topic, a name that is taken) is left alone, and so is every request behind it about the same instance; which way a
 * request goes is decided before its first write. What was left goes the long way.
 *
 * Nothing is made into a table that need not be: that takes the server several times as long.
 */

import { nudge, prelude, runIds, script } from "./prelude.lua.ts";
import { sending } from "./quick-events.lua.ts";
import { indexes } from "./run.lua.ts";
import { packing } from "./waits-and-events.lua.ts";

const leaving = `
local now, creations, isWaitedFor = number(), number(), text() == '1'

-- By key of the instance. Instances are numbered in the order of their requests, so none is created before one that is left.
local left, isAllLeft, isCreationLeft = nil, false, false

local function leave(name)
  left = left or {}
  left[name] = true
  return false
end

local function instanceOf(id)
  local names = redis.pcall('HMGET', P .. 'run:' .. id, 'workflow', 'instance')
  if names.err or not (names[1] and names[2]) then return id end
  return named('instance', names[1], names[2])
end

local function leaveRun(id) return leave(instanceOf(id)) end
local function isLeft(id) return left and (isAllLeft or left[instanceOf(id)]) end

-- It may be about anybody.
local function leaveAll()
  left, isAllLeft = left or {}, true
  return false
end

-- Requests that only the long way knows, and whom they are about.
local function leaveForLater()
  if text() == 'all' then return leaveAll() end
  if text() == '1' then isCreationLeft = true end
  for _ = 1, number() do leaveRun(text()) end
  for _ = 1, number() do
    local workflow = text()
    leave(named('instance', workflow, text()))
  end
  return false
end

-- How many arguments follow; gives where they begin and end.
local function skip()
  local first = position + 2
  position = position + 1 + tonumber(ARGV[position + 1])
  return first, position
end

-- Fields to set, fields that go, steps, events that are taken, and lines to log.
local function skipCommit()
  local set, setEnd = skip()
  local gone, goneEnd = skip()
  local first, last = skip()
  local events, eventsEnd = skip()
  return set, setEnd, gone, goneEnd, first, last, events, eventsEnd, skip()
end
`;

const commits = `
local function isZero(count) return not count or count == '0' end

local function optionalText(given) return given ~= '-' and string.sub(given, 2) or nil end

-- Of the first five fields that all commits ask for.
local function isUsual(id, stored, token, before)
  return not isLeft(id) and not stored.err and stored[1] == token and stored[2] == 'held' and (stored[3] or '0') == before and isZero(stored[5])
end

-- Those of the steps that are open waits so far, and how many; nil when one of them is not as usual.
local function openWaits(id, first, last, stride, open)
  if isZero(open) then return false, 0 end
  local waits, count = {}, 0
  for n = first, last, stride do
    local packed = ask('HGET', P .. 'waits:' .. id, ARGV[n])
    if packed then
      local wait = unpackWait(packed)
      if not wait or wait.topic then return nil end
      if not waits[ARGV[n]] then count = count + 1 end
      waits[ARGV[n]] = true
    end
  end
  return waits, count
end

-- Events to be taken, as they are kept then; nil when one of them is not as usual.
local function takenEvents(id, first, last)
  if first > last then return false end
  local taken, count, seen = {}, 0, {}
  for n = first, last, 2 do
    local event = unpackEvent(ask('HGET', P .. 'event-states:' .. id, ARGV[n]))
    if not event or event.deliveredAt or seen[ARGV[n]] then return nil end
    seen[ARGV[n]] = true
    event.deliveredAt = now
    event.consumedBy = ARGV[n + 1]
    if not event.system then count = count + 1 end
    taken[#taken + 1] = ARGV[n]
    taken[#taken + 1] = packEvent(event)
  end
  return taken, count
end

-- A settled step is written once: its first record stays, unless it is a wait that was open.
local function writeStep(id, waits, index, record)
  local key = P .. 'steps:' .. id
  if waits and waits[index] then
    ask('HSET', key, index, record)
    ask('HDEL', P .. 'waits:' .. id, index)
    waits[index] = nil
  else
    return ask('HSETNX', key, index, record) == 1
  end
  return true
end

local function writeSettled(id, waits, first, last)
  for n = first, last, 2 do writeStep(id, waits, ARGV[n], ARGV[n + 1]) end
end

local function writeTaken(id, taken, count, key)
  if not taken then return end
  ask('HSET', P .. 'event-states:' .. id, unpack(taken))
  for n = 1, #taken, 2 do ask('ZREM', P .. 'unread:' .. id, taken[n]) end
  if count > 0 then ask('HINCRBY', key, 'buffered', -count) end
end

local function writeLogs(id, first, last)
  if first <= last then ask('RPUSH', P .. 'logs:' .. id, unpack(ARGV, first, last)) end
end

local function writeFields(key, set, setEnd, gone, goneEnd)
  ask('HSET', key, unpack(ARGV, set, setEnd))
  if gone <= goneEnd then ask('HDEL', key, unpack(ARGV, gone, goneEnd)) end
end

local function goOnPlainly()
  local id, token, before, leaseUntil = text(), text(), text(), text()
  local set, setEnd, gone, goneEnd, first, last, events, eventsEnd, logs, logsEnd = skipCommit()
  local key = P .. 'run:' .. id
  local stored = redis.pcall('HMGET', key, 'token', 'lane', 'commit', 'seq', 'crashes', 'open')
  if not isUsual(id, stored, token, before) then return leaveRun(id) end
  local waits, settled = openWaits(id, first, last, 2, stored[6])
  local taken, count = takenEvents(id, events, eventsEnd)
  if waits == nil or taken == nil then return leaveRun(id) end
  -- A lease only ever grows while it is held.
  local workflow
  if leaseUntil ~= '0' then
    local lease = ask('HMGET', key, 'due', 'workflow')
    if tonumber(leaseUntil) > (tonumber(lease[1]) or 0) then workflow = lease[2] end
  end
  writeSettled(id, waits, first, last)
  writeTaken(id, taken, count, key)
  writeLogs(id, logs, logsEnd)
  writeFields(key, set, setEnd, gone, goneEnd)
  if settled > 0 then ask('HINCRBY', key, 'open', -settled) end
  if workflow then
    ask('HSET', key, 'due', leaseUntil)
    index('due:held', workflow, wide(id), leaseUntil)
  end
  return tonumber(stored[4]) or 0
end

-- 'endsWait' in model/wait-match.ts.
local function endsWait(event, wait)
  if event.createdAt > wait.wakeAt then return false end
  if event.forStep then return event.forStep == wait.key end
  return event.type ~= nil and event.type == wait.type
end

-- So many are gone through in passing.
local UNSEEN_MAX = 100

-- Whether an event that the turn has not seen, and does not take, may end a wait that is open after the commit.
local function isAnyUnseenAwaited(id, seen, first, last, events, eventsEnd)
  local unseen = ask('ZRANGEBYSCORE', P .. 'unread:' .. id, '(' .. digits(seen), '+inf', 'LIMIT', 0, UNSEEN_MAX + 1)
  if #unseen > UNSEEN_MAX then return true end
  local waits, taken = {}, {}
  local flat = ask('HGETALL', P .. 'waits:' .. id)
  for n = 1, #flat, 2 do waits[flat[n]] = unpackWait(flat[n + 1]) end
  for n = first, last, 5 do
    local wakeAt, eventType = tonumber(ARGV[n + 2]), optionalText(ARGV[n + 4])
    waits[ARGV[n]] = wakeAt and { wakeAt = wakeAt, key = ARGV[n + 3], type = eventType }
  end
  for n = events, eventsEnd, 2 do taken[ARGV[n]] = true end
  for _, seq in ipairs(unseen) do
    local event = not taken[seq] and unpackEvent(ask('HGET', P .. 'event-states:' .. id, seq))
    for _, wait in pairs(waits) do
      if event and endsWait(event, wait) then return true end
    end
  end
  return false
end

-- Steps that may be waits: index, record, and of a wait its end, its key and its type.
local function writeWaits(id, waits, first, last)
  local opened = 0
  for n = first, last, 5 do
    local index, wakeAt = ARGV[n], ARGV[n + 2]
    local wasOpen = waits and waits[index]
    local isWritten = writeStep(id, waits, index, ARGV[n + 1])
    if wasOpen then opened = opened - 1 end
    if isWritten and wakeAt ~= '' then
      ask('HSET', P .. 'waits:' .. id, index, packWait(tonumber(wakeAt), ARGV[n + 3], optionalText(ARGV[n + 4]), nil))
      opened = opened + 1
      waits = waits or {}
      waits[index] = true
    end
  end
  return opened
end

local function suspendPlainly()
  local id, token, before, seen, lane, due = text(), text(), text(), number(), text(), text()
  local set, setEnd, gone, goneEnd, first, last, events, eventsEnd, logs, logsEnd = skipCommit()
  local key = P .. 'run:' .. id
  local stored = redis.pcall('HMGET', key, 'token', 'lane', 'commit', 'seq', 'crashes', 'open', 'status', 'workflow', 'place')
  local seq, workflow, place = tonumber(stored[4]) or 0, stored[8], stored[9]
  if not isUsual(id, stored, token, before) or stored[7] ~= 'active' or not (workflow and place) then return leaveRun(id) end
  -- Others may come all the time: the long way would decide again and again.
  if seq > seen and isAnyUnseenAwaited(id, seen, first, last, events, eventsEnd) then return leaveRun(id) end
  local waits = openWaits(id, first, last, 5, stored[6])
  local taken, count = takenEvents(id, events, eventsEnd)
  if waits == nil or taken == nil then return leaveRun(id) end
  local opened = writeWaits(id, waits, first, last)
  writeTaken(id, taken, count, key)
  writeLogs(id, logs, logsEnd)
  writeFields(key, set, setEnd, gone, goneEnd)
  if opened ~= 0 then ask('HINCRBY', key, 'open', opened) end
  index('due:held', workflow, wide(id), false)
  index('due:' .. lane, workflow, wide(id), due)
  index('status:active', workflow, place, false)
  index('status:waiting', workflow, place, '0')
  if tonumber(due) <= now then nudge.due = true end
  return seq
end

local function endPlainly()
  local id, token, before, class, keepFrom, record = text(), text(), text(), text(), number(), text()
  local set, setEnd, gone, goneEnd, first, last, events, eventsEnd, logs, logsEnd = skipCommit()
  local key = P .. 'run:' .. id
  local stored = redis.pcall('HMGET', key, 'token', 'lane', 'commit', 'seq', 'crashes', 'open', 'status', 'workflow', 'instance',
    'place', 'owner')
  local open, workflow, instance, place, owner = stored[6], stored[8], stored[9], stored[10], stored[11]
  if not isUsual(id, stored, token, before) or stored[7] ~= 'active' or not (workflow and instance and place and owner) then
    return leaveRun(id)
  end
  local waits, settled = openWaits(id, first, last, 2, open)
  local taken, count = takenEvents(id, events, eventsEnd)
  -- Waits that stay are kept, for a retry, and leave their topics.
  if waits == nil or taken == nil or settled ~= (tonumber(open) or 0) then return leaveRun(id) end
  local retention = tonumber(ask('HGET', named('instance', workflow, instance), 'retention') or nil)
  writeSettled(id, waits, first, last)
  writeTaken(id, taken, count, key)
  writeLogs(id, logs, logsEnd)
  ask('SET', P .. 'ending:' .. id, record)
  writeFields(key, set, setEnd, gone, goneEnd)
  if settled > 0 then ask('HINCRBY', key, 'open', -settled) end
  if retention then
    ask('HSET', key, 'keepUntil', digits(keepFrom + retention))
    index('prune', false, serialOf(place), digits(keepFrom + retention))
  end
  index('due:held', workflow, wide(id), false)
  index('status:active', workflow, place, false)
  index('status:' .. class, workflow, place, '0')
  index('owner', owner, id, false)
  nudge.ended = true
  return tonumber(stored[4]) or 0
end
`;

const creating = `
-- Workflows that are known by now.
local workflows = {}

local function createPlainly()
  local workflow, instance, order, owner = text(), text(), text(), optional()
  local token, lane, due, isDue = text(), text(), text(), text() == '1'
  local set, setEnd = skip()
  local facts, factsEnd = skip()
  local name = named('instance', workflow, instance)
  if isCreationLeft or left and (isAllLeft or left[name]) then
    isCreationLeft = true
    return leave(name)
  end
  local there = ask('HGET', name, 'run')
  if there then
    local found = redis.pcall('HMGET', P .. 'run:' .. there, 'status', 'number', 'workflow', 'instance', 'place')
    if found.err or not (found[1] and found[3] and found[4] and found[5]) then
      isCreationLeft = true
      return leave(name)
    end
    return { found[1], found[2] or '0' }
  end
  local id = nextId(creations, workflow, instance)
  local place = order .. wide(id)
  ask('HSET', P .. 'run:' .. id, 'token', token, 'lane', lane, 'place', place, unpack(ARGV, set, setEnd))
  ask('HSET', name, 'run', id, 'runs', '1', 'run:1', id, unpack(ARGV, facts, factsEnd))
  if owner then index('owner', owner, id, true) end
  index('due:' .. lane, workflow, wide(id), due)
  index('status:active', workflow, place, '0')
  if not workflows[workflow] then
    workflows[workflow] = true
    ask('SADD', P .. 'workflows', workflow)
  end
  if isDue then nudge.due = true end
  return id
end
`;

const main = `
local ways = {
  goOn = goOnPlainly,
  suspend = suspendPlainly,
  ['end'] = endPlainly,
  create = createPlainly,
  later = leaveForLater,
}

local function makeSenders()
${sending}
  ways.event, ways.publish = sendPlainly, publishPlainly
end

local function wayOf(kind)
  if not ways[kind] then makeSenders() end
  return ways[kind]
end

return savingIndexes(function()
  local outcomes, isAnyDone = {}, false
  for n = 1, number() do
    local isSound, outcome = pcall(wayOf(text()))
    if not isSound then
      if not isAnyDone then error(outcome, 0) end
      return redis.error_reply('EVERSTEPPART ' .. (type(outcome) == 'table' and outcome.err or outcome))
    end
    outcomes[n] = outcome
    isAnyDone = isAnyDone or outcome ~= false
  end
  sendNudge()
  -- Replicas are waited for up to the last write of a connection, and a repeat of what another one has done writes nothing.
  if isWaitedFor then ask('HSET', META, 'waited', '1') end
  return outcomes
end)
`;

export const quickScript = script(
  "write",
  prelude,
  nudge,
  indexes,
  packing,
  leaving,
  runIds,
  commits,
  creating,
  main,
);
