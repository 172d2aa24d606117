export const sendEvent = `
local function readSendEvent()
  return {
    workflow = text(), instance = text(), id = text(), type = optional(), forStep = optional(),
    system = text() == '1', record = text(), createdAt = number(), bufferMax = number(), logs = readLogs(),
  }
end

local function earlierOf(run, id)
  local ids = ask('HMGET', P .. 'event-ids', eventKey(run.workflow, run.instance, id), id)
  local earlierId = ids[1] or (string.sub(id, 1, 1) ~= '~' and ids[2])
  local earlier = earlierId and readRun(earlierId)
  return earlier and earlier.workflow == run.workflow and earlier.instance == run.instance and earlier or nil
end

local function sendEvent(request, now)
  local run = currentRun(request.workflow, request.instance)
  if not run then return { 'not-found' } end
  local earlier = earlierOf(run, request.id)
  if earlier then
    -- Before anything else: a repeat is answered alike, even when the run has ended or its buffer is full by now.
    return { 'accepted', earlier.id, run.status, '1', '0', earlier.id ~= run.id and 'of-earlier-run' or nil }
  end
  if TERMINAL[run.status] then return { 'terminal', run.status } end
  if not request.system and run.buffered >= request.bufferMax then return { 'buffer-full' } end
  local event = {
    id = request.id, createdAt = request.createdAt, system = request.system, type = request.type, forStep = request.forStep,
  }
  ask('HSET', P .. 'event-ids', eventKey(run.workflow, run.instance, request.id), run.id)
  local woke = acceptEvent(run, event, request.record, now)
  appendLogs(run, request.logs)
  return { 'accepted', run.id, run.status, '0', woke and '1' or '0' }
end
`;
