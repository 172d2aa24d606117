/**
 * Events of a run by sequence: an opaque text with the payload, the state that scripts read, and the set of those that
 * were not delivered yet.
 */
export const events = `
local function packEvent(event)
  return cmsgpack.pack(event.id, event.createdAt, event.system, event.type, event.forStep, event.deliveredAt, event.consumedBy)
end

local function unpackEvent(packed)
  if not packed then return nil end
  local ok, id, createdAt, system, eventType, forStep, deliveredAt, consumedBy = pcall(cmsgpack.unpack, packed)
  if not ok or type(id) ~= 'string' or type(createdAt) ~= 'number' then return nil end
  return {
    id = id, createdAt = createdAt, system = system, type = eventType, forStep = forStep,
    deliveredAt = deliveredAt, consumedBy = consumedBy,
  }
end

-- Ids belong to their instance. Events of earlier versions are kept under their ids alone.
local function eventKey(workflow, instance, id)
  return '~' .. #workflow .. ':' .. workflow .. ':' .. #instance .. ':' .. instance .. ':' .. id
end

local function readEvent(run, seq) return unpackEvent(ask('HGET', key('event-states', run.id), seq)) end

local function saveEvent(run, seq, event) ask('HSET', key('event-states', run.id), seq, packEvent(event)) end

-- States of the undelivered events above a sequence.
local function unreadEvents(run, seen)
  if run.seq <= seen then return {} end
  local seqs = ask('ZRANGEBYSCORE', key('unread', run.id), '(' .. digits(seen), '+inf')
  local events = {}
  for _, seq in ipairs(seqs) do events[#events + 1] = readEvent(run, seq) end
  return events
end

-- Which event may end which wait. One that was created after the wait was over comes too late for it.
local function endsWait(event, wait)
  if event.createdAt > wait.wakeAt then return false end
  if event.forStep then return event.forStep == wait.key end
  return event.type ~= nil and event.type == wait.type
end

-- An undelivered event above the sequence seen is there for one of the waits.
local function isEventThere(run, waits, seen)
  if next(waits) == nil then return false end
  for _, event in ipairs(unreadEvents(run, seen)) do
    for _, wait in pairs(waits) do
      if endsWait(event, wait) then return true end
    end
  end
  return false
end

local function isAwaited(run, event)
  for _, wait in pairs(waitsOf(run)) do
    if endsWait(event, wait) then return true end
  end
  return false
end

-- The wait has its event already, though nobody has resumed it yet.
local function isSpokenFor(run, name)
  for _, event in ipairs(unreadEvents(run, 0)) do
    if event.forStep == name then return true end
  end
  return false
end

-- True when the run was waiting for the event and is due now.
local function acceptEvent(run, event, record, now)
  run.seq = run.seq + 1
  local seq = digits(run.seq)
  ask('HSET', key('events', run.id), seq, record)
  saveEvent(run, seq, event)
  ask('ZADD', key('unread', run.id), seq, seq)
  if not event.system then run.buffered = run.buffered + 1 end
  nudge.due = true
  -- A leased run keeps its due time, which is the end of its lease: the turn's own suspend finds the event.
  -- One that waits out a crash ('waitsOutCrash' in model/lease.ts) is tried again when its time has come.
  if isLeased(run) or run.status == 'paused' or (run.status == 'active' and run.crashes > 0) then return false end
  if not isAwaited(run, event) then return false end
  makeDue(run, now)
  return true
end

local function deliverEvent(run, seq, consumer, now)
  local event = readEvent(run, seq)
  if not event or event.deliveredAt then return end
  event.deliveredAt = now
  event.consumedBy = consumer
  saveEvent(run, seq, event)
  ask('ZREM', key('unread', run.id), seq)
  if not event.system then run.buffered = run.buffered - 1 end
end

local function returnEvent(run, seq, event)
  event.deliveredAt = nil
  event.consumedBy = nil
  saveEvent(run, seq, event)
  ask('ZADD', key('unread', run.id), seq, seq)
  if not event.system then run.buffered = run.buffered + 1 end
end
`;
