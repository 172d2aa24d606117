/** What scripts have to know of waits and events lies beside their records, packed. What cannot be unpacked is not there. */
export const packing = `
local function isText(value) return value == nil or type(value) == 'string' end

local function packWait(wakeAt, name, eventType, topic) return cmsgpack.pack(wakeAt, name, eventType, topic) end

local function unpackWait(packed)
  local ok, wakeAt, name, eventType, topic = pcall(cmsgpack.unpack, packed)
  if not ok or type(wakeAt) ~= 'number' or type(name) ~= 'string' then return nil end
  if not (isText(eventType) and isText(topic)) then return nil end
  return { wakeAt = wakeAt, key = name, type = eventType, topic = topic }
end

local function packEvent(event)
  return cmsgpack.pack(event.id, event.createdAt, event.system, event.type, event.forStep, event.deliveredAt, event.consumedBy)
end

local function unpackEvent(packed)
  if not packed then return nil end
  local ok, id, createdAt, system, eventType, forStep, deliveredAt, consumedBy = pcall(cmsgpack.unpack, packed)
  if not ok or type(id) ~= 'string' or type(createdAt) ~= 'number' then return nil end
  if not (isText(eventType) and isText(forStep) and isText(consumedBy)) then return nil end
  return {
    id = id, createdAt = createdAt, system = system, type = eventType, forStep = forStep,
    deliveredAt = deliveredAt, consumedBy = consumedBy,
  }
end

-- Ids belong to their instance. Events of earlier versions are kept under their ids alone.
local function eventKey(workflow, instance, id)
  return '~' .. #workflow .. ':' .. workflow .. ':' .. #instance .. ':' .. instance .. ':' .. id
end
`;

/** Open waits of a run: what each waits for lies beside its record, and its end there only, because a resume may move it. */
export const waits = `
local function waiterName(run, index) return wide(run.id) .. wide(index) end

-- Topics that nobody waits on are not listed.
local function joinTopic(run, index, topic)
  ask('ZADD', key('topic', topic), 0, waiterName(run, index))
  ask('ZADD', P .. 'topics', 0, topic)
end

local function leaveTopic(run, index, topic)
  ask('ZREM', key('topic', topic), waiterName(run, index))
  if ask('EXISTS', key('topic', topic)) == 0 then ask('ZREM', P .. 'topics', topic) end
end

-- By index.
local function waitsOf(run)
  if run.waits then return run.waits end
  run.waits = {}
  if run.open == 0 then return run.waits end
  local flat = ask('HGETALL', key('waits', run.id))
  for n = 1, #flat, 2 do run.waits[flat[n]] = unpackWait(flat[n + 1]) end
  return run.waits
end

local function putWait(run, index, wait)
  local waits = waitsOf(run)
  if not waits[index] then run.open = run.open + 1 end
  waits[index] = wait
  ask('HSET', key('waits', run.id), index, packWait(wait.wakeAt, wait.key, wait.type, wait.topic))
  if wait.topic then joinTopic(run, index, wait.topic) end
end

local function dropWait(run, index)
  local wait = waitsOf(run)[index]
  if not wait then return end
  run.waits[index] = nil
  run.open = run.open - 1
  ask('HDEL', key('waits', run.id), index)
  if wait.topic then leaveTopic(run, index, wait.topic) end
end

-- What has ended waits for nothing, but its waits are kept: a retry opens them again.
local function leaveTopics(run)
  for index, wait in pairs(waitsOf(run)) do
    if wait.topic then leaveTopic(run, index, wait.topic) end
  end
end

local function joinTopics(run)
  for index, wait in pairs(waitsOf(run)) do
    if wait.topic then joinTopic(run, index, wait.topic) end
  end
end
`;

/** Events of a run by sequence: their records, what scripts read of them, and the set of those that were not delivered yet. */
export const events = `
local function readEvent(run, seq) return unpackEvent(ask('HGET', key('event-states', run.id), seq)) end

local function saveEvent(run, seq, event) ask('HSET', key('event-states', run.id), seq, packEvent(event)) end

local function countEvent(run, event, change)
  if not event.system then run.buffered = run.buffered + change end
end

local function addEvent(run, seq, record, event, isSent)
  ask('HSET', key('events', run.id), seq, record)
  saveEvent(run, seq, event)
  ask('ZADD', key('unread', run.id), seq, seq)
  countEvent(run, event, 1)
  if isSent then ask('HSET', P .. 'event-ids', eventKey(run.workflow, run.instance, event.id), run.id) end
end

local function deliverEvent(run, seq, consumer, now)
  local event = readEvent(run, seq)
  if not event or event.deliveredAt then return end
  event.deliveredAt = now
  event.consumedBy = consumer
  saveEvent(run, seq, event)
  ask('ZREM', key('unread', run.id), seq)
  countEvent(run, event, -1)
end

local function returnEvent(run, seq)
  local event = readEvent(run, seq)
  if not event or not event.deliveredAt then return end
  event.deliveredAt = nil
  event.consumedBy = nil
  saveEvent(run, seq, event)
  ask('ZADD', key('unread', run.id), seq, seq)
  countEvent(run, event, 1)
end
`;
