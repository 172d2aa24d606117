/** What scripts have to know of waits and events lies beside their records, packed. What cannot be unpacked is not there. */
export const packing = `
local function packWait(wakeAt, name, eventType, topic) return cmsgpack.pack(wakeAt, name, eventType, topic) end

local function unpackWait(packed)
  local ok, wakeAt, name, eventType, topic = pcall(cmsgpack.unpack, packed)
  if not ok or type(wakeAt) ~= 'number' or type(name) ~= 'string' then return nil end
  return { wakeAt = wakeAt, key = name, type = eventType, topic = topic }
end

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
`;
