/** The events and publications of the quick script (quick.lua.ts): who waits for them, and what becomes of those who do. */
export const sending = `
-- As much of a run as an event has to do with; nil for one that is damaged.
local function readListener(id)
  local stored = redis.pcall('HMGET', P .. 'run:' .. id, 'lane', 'status', 'due', 'crashes', 'open', 'seq', 'buffered', 'workflow',
    'instance', 'place')
  if stored.err or not (stored[2] and stored[8] and stored[9] and stored[10]) then return nil end
  return {
    id = id, lane = stored[1], status = stored[2], due = tonumber(stored[3]) or 0, crashes = tonumber(stored[4]) or 0,
    open = tonumber(stored[5]) or 0, seq = tonumber(stored[6]) or 0, buffered = tonumber(stored[7]) or 0, workflow = stored[8],
  }
end

local GOING_ON = { active = true, waiting = true, paused = true }
local ENDED = { complete = true, errored = true, terminated = true }

-- 'canBeWoken' in store/apply/moves.ts.
local function canBeWoken(run)
  return run.lane and run.lane ~= 'held' and run.lane ~= 'heldPaused' and not (run.status == 'active' and run.crashes > 0)
end

local function isAwaited(run, event)
  if run.open == 0 then return false end
  for _, packed in ipairs(ask('HVALS', P .. 'waits:' .. run.id)) do
    local wait = unpackWait(packed)
    if wait and endsWait(event, wait) then return true end
  end
  return false
end

-- What becomes of a run that wakes: the lane it is in then, when it is due unless it has been for longer, and its fields.
local function readWake()
  local lane, due = text(), number()
  return lane, due, skip()
end

local function accept(run, event, record, isWoken, wakeLane, wakeDue, set, setEnd)
  run.seq = run.seq + 1
  local key, seq = P .. 'run:' .. run.id, digits(run.seq)
  ask('HSET', P .. 'event-states:' .. run.id, seq, packEvent(event))
  ask('HSET', P .. 'events:' .. run.id, seq, record)
  ask('ZADD', P .. 'unread:' .. run.id, seq, seq)
  if not event.system then run.buffered = run.buffered + 1 end
  ask('HSET', key, 'seq', seq, 'buffered', digits(run.buffered))
  nudge.due = true
  if not isWoken then return end
  local lane = run.lane
  run.lane, run.due = wakeLane, math.min(run.due, wakeDue)
  ask('HSET', key, 'due', digits(run.due), unpack(ARGV, set, setEnd))
  if lane ~= wakeLane then index('due:' .. lane, run.workflow, wide(run.id), false) end
  index('due:' .. wakeLane, run.workflow, wide(run.id), digits(run.due))
end

local function sendPlainly()
  local workflow, instance, id, eventType, forStep, system = text(), text(), text(), optional(), optional(), text() == '1'
  local createdAt, bufferMax, record = number(), number(), text()
  local wakeLane, wakeDue, set, setEnd = readWake()
  local name = named('instance', workflow, instance)
  if left and (isAllLeft or left[name]) then return leave(name) end
  local current = ask('HGET', name, 'run')
  local run = current and readListener(current)
  if not run or not GOING_ON[run.status] or (not system and run.buffered >= bufferMax) then return leave(name) end
  local eventName = eventKey(workflow, instance, id)
  local known = ask('HMGET', P .. 'event-ids', eventName, id)
  if known[1] or known[2] then return leave(name) end
  local event = { id = id, createdAt = createdAt, system = system, type = eventType, forStep = forStep }
  local woke = canBeWoken(run) and isAwaited(run, event)
  ask('HSET', P .. 'event-ids', eventName, current)
  accept(run, event, record, woke, wakeLane, wakeDue, set, setEnd)
  return { current, run.status, woke and '1' or '0' }
end

-- By the key of the step they are for.
local function spokenFor(run)
  local keys = {}
  if run.seq == 0 then return keys end
  for _, seq in ipairs(ask('ZRANGE', P .. 'unread:' .. run.id, 0, -1)) do
    local event = unpackEvent(ask('HGET', P .. 'event-states:' .. run.id, seq))
    if event and event.forStep then keys[event.forStep] = true end
  end
  return keys
end

-- 'waitersOf' in store/apply/apply-events.ts; nil when one of them is not as usual.
local function waitersOf(topic)
  local runs, waiters = {}, {}
  for _, name in ipairs(ask('ZRANGE', P .. 'topic:' .. topic, 0, -1)) do
    local id, step = runOfSerial(string.sub(name, 1, 16)), digits(tonumber(string.sub(name, 17)))
    local run = runs[id] or readListener(id)
    if run and not (GOING_ON[run.status] or ENDED[run.status]) then return nil end
    runs[id] = run
    local wait = run and GOING_ON[run.status] and unpackWait(ask('HGET', P .. 'waits:' .. id, step) or '')
    if wait and wait.wakeAt >= now then
      run.spokenFor = run.spokenFor or spokenFor(run)
      if not run.spokenFor[wait.key] then waiters[#waiters + 1] = { run = run, step = step, wait = wait } end
    end
  end
  return waiters
end

-- However many wait on a topic, some of them change all the time: the long way would decide again and again.
local function publishPlainly()
  local topic, id, createdAt, record = text(), text(), number(), text()
  local wakeLane, wakeDue, set, setEnd = readWake()
  local name = '~' .. #topic .. ':' .. topic .. ':' .. id
  local known = ask('HMGET', P .. 'publications', name, id)
  local waiters = not left and not known[1] and not known[2] and waitersOf(topic)
  if not waiters then return leaveAll() end
  local ids, told = {}, {}
  for _, waiter in ipairs(waiters) do
    local run, wait = waiter.run, waiter.wait
    local event = { id = id .. ':' .. run.id .. ':' .. waiter.step, createdAt = createdAt, system = false, forStep = wait.key }
    local woke = canBeWoken(run) and endsWait(event, wait)
    accept(run, event, record, woke, wakeLane, wakeDue, set, setEnd)
    if not told[run.id] then ids[#ids + 1] = run.id end
    told[run.id] = true
  end
  local report = #waiters .. ':' .. table.concat(ids, ',')
  ask('HSET', P .. 'publications', name, report)
  ask('ZADD', P .. 'publication-ages', digits(createdAt), name)
  return { report }
end
`;
