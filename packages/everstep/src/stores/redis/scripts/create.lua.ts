export const create = `
local function readCreate()
  return {
    workflow = text(), instance = text(), params = text(), marks = optional(), order = text(),
    created = text(), due = text(), deadline = text(), retention = text(), parent = optional(),
    history = readSteps(), owner = optional(), token = text(), leaseUntil = text(),
  }
end

local function readAnnounced() return text() == '1' and readCreate() or nil end

-- A new run, pending or already leased, of which nothing is stored yet.
local function addRun(id, facts, now)
  local key, workflow, place, due = P .. 'run:' .. id, facts.workflow, facts.place, facts.due
  local nowText = digits(now)
  if facts.owner then
    ask('HSET', key, 'token', facts.token, 'lane', 'held', 'status', 'active', 'due', due, 'workflow', workflow,
      'instance', facts.instance, 'place', place, 'number', facts.number, 'owner', facts.owner, 'startedAt', nowText,
      'updatedAt', nowText)
    index('owner', facts.owner, id, true)
  else
    ask('HSET', key, 'token', facts.token, 'lane', 'starting', 'status', 'active', 'due', due, 'workflow', workflow,
      'instance', facts.instance, 'place', place, 'number', facts.number, 'updatedAt', nowText)
  end
  index(facts.owner and 'due:held' or 'due:starting', workflow, wide(id), due)
  index('status:active', workflow, place, '0')
end

-- Steps of another run, as the beginning of this one.
local function addHistory(id, history)
  if #history == 0 then return end
  local run = atLength().readRun(id)
  run.recorded = '1'
  for _, step in ipairs(history) do atLength().putStep(run, step) end
end

-- Numbers for all creations of the batch are taken at once, by the first of them. A server that lost its newest writes
-- must not give out again what it gave before, so there is a gap before them whose length follows from what is created.
local GAPS = 16384
local lastId, idsLeft = 0, 0
local function nextId(workflow, instance)
  if idsLeft == 0 then
    idsLeft = math.max(1, creations)
    creations = 0
    local hash = redis.sha1hex(digits(now) .. ' ' .. workflow .. ' ' .. instance)
    local gap = tonumber(string.sub(hash, 1, 8), 16) % GAPS
    lastId = ask('HINCRBY', META, 'lastRun', digits(gap + idsLeft)) - idsLeft
  end
  lastId = lastId + 1
  idsLeft = idsLeft - 1
  return digits(lastId)
end

-- Workflows that are known by now.
local workflows = {}

local function create(request, now)
  local name, workflow = named('instance', request.workflow, request.instance), request.workflow
  local there = ask('HGET', name, 'run')
  there = there and atLength().readRun(there)
  if there then return { 'exists', there.status, digits(there.number) } end
  local id = nextId(workflow, request.instance)
  addRun(id, {
    workflow = workflow, instance = request.instance, place = request.order .. wide(id), number = '1', owner = request.owner,
    due = request.owner and request.leaseUntil or request.due, token = request.owner and request.token or '0',
  }, now)
  addHistory(id, request.history)
  ask('HSET', name, 'run', id, 'runs', '1', 'run:1', id, 'params', request.params, 'created', request.created)
  if request.marks then ask('HSET', name, 'marks', request.marks) end
  if request.deadline ~= '' then ask('HSET', name, 'deadline', request.deadline) end
  if request.retention ~= '' then ask('HSET', name, 'retention', request.retention) end
  if request.parent then ask('HSET', name, 'parent', request.parent) end
  if not workflows[workflow] then
    workflows[workflow] = true
    ask('SADD', P .. 'workflows', workflow)
  end
  if not request.owner and tonumber(request.due) <= now then nudge.due = true end
  return { 'created', id }
end

-- Nobody would hear of a lease handed out here.
local function createUnleased(request, now)
  request.owner = nil
  create(request, now)
end
`;
