/**
 * Everything that a batch is decided by (`look.ts` says what that is), as lists of texts, and one short text that stands
 * for all of it. Whoever looks again and finds the same text finds everything as it was: runs, open waits, undelivered
 * events, names that were free, who waits on a topic, what an owner holds. Changes nothing.
 */
import { type Field, runFields } from "../records/run-fields.ts";

const places = runFields.map((name, n) => `${name} = ${n + 1}`).join(", ");
const placeOf = (name: Field): number => runFields.indexOf(name) + 1;

/** An owner may have left any number of runs behind, and of many some change all the time: they are ended portion by portion. */
export const runsAtOnce = 100;

/** From which depth on a field matters (`want`); all others always do. */
const depths: { readonly [Name in Field]?: number } = {
  ...{ commit: 2, begun: 2, recorded: 2, updatedAt: 2, stepAt: 2 },
  ...{ seq: 3, buffered: 3 },
};
const depthsByPlace = Object.entries(depths).map(([name, depth]) => `[${placeOf(name as Field)}] = ${depth}`);

export const look = `
local PLACES, FIELDS = { ${places} }, ${runFields.length}
local DEPTHS = { ${depthsByPlace.join(", ")} }

-- Runs in the order in which they were met, with the sequence above which their undelivered events are wanted.
local wanted, eventsAfter = {}, {}
-- What of each matters: 1 for a person's decision, 2 where it matters what was committed, 3 where events do too. The rest is told
-- as it is, and may change until the save: it might as well change right behind it. Who decides must not lose for ever to what
-- comes and is committed, however fast that is.
local depths = {}

local function want(id, depth, after)
  if not eventsAfter[id] then wanted[#wanted + 1] = id end
  eventsAfter[id] = math.min(eventsAfter[id] or math.huge, after or math.huge)
  depths[id] = math.max(depths[id] or 1, depth)
end

-- One pass over the hash: asking for every field by its name takes the server several times as long.
local function storedRun(id)
  local flat = redis.pcall('HGETALL', P .. 'run:' .. id)
  if flat.err then return nil end
  local stored = {}
  for n = 1, FIELDS do stored[n] = false end
  for n = 1, #flat, 2 do
    local place = PLACES[flat[n]]
    if place then stored[place] = flat[n + 1] end
  end
  local isWhole = stored[${placeOf("workflow")}] and stored[${placeOf("instance")}] and stored[${placeOf("place")}] and stored[${placeOf("status")}]
  return isWhole and stored or nil
end

local function currentId(workflow, instance) return ask('HGET', named('instance', workflow, instance), 'run') end

local function lookAtNames()
  for _ = 1, number() do
    local id, after = text(), number()
    want(id, after and 3 or 2, after)
  end
  for _ = 1, number() do
    local workflow, instance, least = text(), text(), number()
    local id = currentId(workflow, instance)
    if id and least then
      -- Where the buffer cannot become full, what is in it does not matter.
      local buffered = tonumber(ask('HGET', P .. 'run:' .. id, 'buffered') or nil) or 0
      want(id, 3, buffered >= least and 0 or nil)
    elseif id then
      want(id, 1)
    end
  end
end

-- All that it was the last to hold, those that are parked included, but no more than are decided at once.
local function unfinishedRuns(owner)
  local ids, count = ask('SMEMBERS', key('owner', owner)), 0
  table.sort(ids)
  for _, id in ipairs(ids) do
    if count < ${runsAtOnce} and storedRun(id) then
      count = count + 1
      want(id, 2)
    end
  end
end

-- Looks at all that anybody holds, which is little; what an owner has parked may be much.
local function heldRuns(owner, token)
  local workflows = ask('SMEMBERS', P .. 'workflows')
  table.sort(workflows)
  for _, workflow in ipairs(workflows) do
    for _, lane in ipairs({ 'held', 'heldPaused' }) do
      for _, name in ipairs(ask('ZRANGE', key('due:' .. lane, workflow), 0, -1)) do
        local id = runOfSerial(name)
        local stored = redis.pcall('HMGET', P .. 'run:' .. id, 'owner', 'token')
        if stored[1] == owner and (token == '' or stored[2] == token) then want(id, 2) end
      end
    end
  end
end

local function lookAtOwners()
  for _ = 1, number() do
    local owner, isForAll, token = text(), text() == '1', text()
    if isForAll then unfinishedRuns(owner) else heldRuns(owner, token) end
  end
end

-- Ids belong to their topic. Of those of earlier versions nobody knows the topic any more.
local function lookAtTopics()
  local found = {}
  for n = 1, number() do
    local topic, id = text(), text()
    local known = ask('HMGET', P .. 'publications', '~' .. #topic .. ':' .. topic .. ':' .. id, id)
    found[n] = known[1] or (string.sub(id, 1, 1) ~= '~' and known[2])
    if not found[n] then
      for _, name in ipairs(ask('ZRANGE', key('topic', topic), 0, -1)) do want(runOfSerial(string.sub(name, 1, 16)), 3, 0) end
    end
  end
  return found
end

local function lookForInstances()
  local found = {}
  for n = 1, number() do
    local workflow = text()
    local id = currentId(workflow, text())
    local stored = id and storedRun(id)
    found[n] = stored and { stored[${placeOf("status")}], stored[${placeOf("number")}] or '0' } or false
  end
  return found
end

local function lookForEvents()
  local found = {}
  for n = 1, number() do
    local workflow, instance, id = text(), text(), text()
    local ids = ask('HMGET', P .. 'event-ids', eventKey(workflow, instance, id), id)
    local run = ids[1] or (string.sub(id, 1, 1) ~= '~' and ids[2])
    local of = run and redis.pcall('HMGET', P .. 'run:' .. run, 'workflow', 'instance')
    found[n] = of and of[1] == workflow and of[2] == instance and run or false
  end
  return found
end

local function lookForChanges()
  local found = {}
  for n = 1, number() do
    local workflow, instance = text(), text()
    found[n] = ask('HGET', named('changes', workflow, instance), text())
  end
  return found
end

local function lookForHeard()
  local found = {}
  for n = 1, number() do
    local event = unpackEvent(ask('HGET', key('event-states', text()), text()))
    found[n] = event and event.id or false
  end
  return found
end

local function lookForSteps()
  local found = {}
  for n = 1, number() do found[n] = digits(ask('HEXISTS', key('steps', text()), text())) end
  return found
end

local function addEvent(rows, seq, event)
  rows[#rows + 1] = {
    seq, event.type or false, event.forStep or false, event.system and '1' or '0', digits(event.createdAt), event.consumedBy or false,
  }
end

-- Events that some steps have taken.
local function lookForTaken()
  local found = {}
  for n = 1, number() do
    local workflow, instance, keys, rows = text(), text(), {}, {}
    for _ = 1, number() do keys[text()] = true end
    local id = currentId(workflow, instance)
    local flat = id and ask('HGETALL', key('event-states', id)) or {}
    for at = 1, #flat, 2 do
      local event = unpackEvent(flat[at + 1])
      if event and event.consumedBy and keys[event.consumedBy] then addEvent(rows, flat[at], event) end
    end
    table.sort(rows, function(a, b) return a[1] < b[1] end)
    found[n] = { id or false, rows }
  end
  return found
end

local function openWaits(id, open)
  local rows = {}
  if (tonumber(open) or 0) == 0 then return rows end
  local flat = ask('HGETALL', key('waits', id))
  for n = 1, #flat, 2 do
    local wait = unpackWait(flat[n + 1])
    if wait and tonumber(flat[n]) then rows[#rows + 1] = { flat[n], digits(wait.wakeAt), wait.key, wait.type or false, wait.topic or false } end
  end
  table.sort(rows, function(a, b) return a[1] < b[1] end)
  return rows
end

local function unreadEvents(id, seq, after)
  local rows = {}
  if (tonumber(seq) or 0) <= after then return rows end
  for _, each in ipairs(ask('ZRANGEBYSCORE', key('unread', id), '(' .. digits(after), '+inf')) do
    local event = unpackEvent(ask('HGET', key('event-states', id), each))
    if event then addEvent(rows, each, event) end
  end
  return rows
end

local function lookAtRuns()
  local found = {}
  for _, id in ipairs(wanted) do
    local stored = storedRun(id)
    if stored then
      local retention = ask('HGET', named('instance', stored[${placeOf("workflow")}], stored[${placeOf("instance")}]), 'retention')
      found[#found + 1] = {
        id, retention, stored, openWaits(id, stored[${placeOf("open")}]), unreadEvents(id, stored[${placeOf("seq")}], eventsAfter[id]),
      }
    end
  end
  return found
end

-- Runs without what does not matter of them.
local function signOf(found, rows)
  local whole = {}
  for n, row in ipairs(rows) do
    local depth, stored = depths[row[1]], row[3]
    whole[n] = stored
    if depth < 3 then
      row[3] = {}
      for place = 1, FIELDS do row[3][place] = depth >= (DEPTHS[place] or 1) and stored[place] end
    end
  end
  local sign = redis.sha1hex(cmsgpack.pack(found))
  for n, row in ipairs(rows) do row[3] = whole[n] end
  return sign
end

local function look()
  lookAtNames()
  lookAtOwners()
  local found = { lookAtTopics(), lookForInstances(), lookForEvents(), lookForChanges(), lookForHeard(), lookForSteps(), lookForTaken() }
  found[#found + 1] = lookAtRuns()
  return found, signOf(found, found[#found])
end
`;
