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
