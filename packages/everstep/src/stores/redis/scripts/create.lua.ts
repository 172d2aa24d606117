export const create = `
local function readCreate()
  local request = {
    workflow = text(), instance = text(), params = text(), marks = optional(), order = text(),
    created = text(), due = number(), deadline = text(), retention = text(), parent = optional(),
    history = readSteps(), owner = optional(),
  }
  request.leaseUntil = number()
  return request
end

-- Behind the instance's last run: pending, due now or later, beginning with its history.
local function addRun(facts, now)
  local id = digits(ask('HINCRBY', META, 'lastRun', 1))
  local run = newRun(id)
  run.workflow, run.instance, run.number = facts.workflow, facts.instance, facts.number
  run.place = facts.place or (facts.order .. wide(id))
  run.status, run.lane, run.due, run.token = 'active', 'starting', facts.due, facts.token
  run.recorded = #facts.history > 0 and '1' or nil
  run.updatedAt = now
  runs[id] = run
  unsaved(run)
  ask('HSET', named('instance', run.workflow, run.instance), 'run', id, 'runs', run.number, 'run:' .. run.number, id)
  for _, step in ipairs(facts.history) do putStep(run, step) end
  return run
end

local function create(request, now)
  local there = currentRun(request.workflow, request.instance)
  if there then return { 'exists', there.status, digits(there.number) } end
  local run = addRun({
    workflow = request.workflow, instance = request.instance, order = request.order, number = 1,
    due = request.due, token = 0, history = request.history,
  }, now)
  local fields = { 'params', request.params, 'created', request.created }
  local function keep(field, value)
    if not value or value == '' then return end
    fields[#fields + 1] = field
    fields[#fields + 1] = value
  end
  if request.marks then
    fields[#fields + 1] = 'marks'
    fields[#fields + 1] = request.marks
  end
  keep('deadline', request.deadline)
  keep('retention', request.retention)
  keep('parent', request.parent)
  ask('HSET', named('instance', request.workflow, request.instance), unpack(fields))
  ask('SADD', P .. 'workflows', request.workflow)
  if request.owner then lease(run, request.owner, request.leaseUntil, now)
  elseif run.due <= now then nudge.due = true end
  return { 'created', run.id, digits(run.token) }
end

-- Nobody would hear of a lease handed out here.
local function createUnleased(request, now)
  request.owner = nil
  create(request, now)
end
`;
