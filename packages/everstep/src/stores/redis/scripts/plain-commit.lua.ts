/**
 * The shorter way of nearly every commit: steps under a lease, then more to come, a wait or the end. It reads only the
 * fields that decide and writes only those that change, without a table of the run. Whatever is not as it usually is
 * (another token, a repeat, a pause, a longer lease, an event that was not seen, a wait on a topic, a crash before) goes
 * the way of every commit; which way it goes is decided before the first write.
 */
export const plainCommit = `
-- Settled steps: index, time and record of each, one after the other. Gives where they begin and end.
local function skipSteps()
  local first, count = position + 2, tonumber(ARGV[position + 1])
  position = position + 1 + 3 * count
  return first, position - 2
end

local function stepsBetween(first, last)
  local steps = {}
  for n = first, last, 3 do
    steps[#steps + 1] = { index = ARGV[n], at = tonumber(ARGV[n + 1]), record = ARGV[n + 2] }
  end
  return steps
end

local NONE = {}
local function commitAtLength(id, token, number, begun, seen, steps, nextUp, leaseUntil)
  local _, commit = atLength().verb('commit')
  return commit({
    run = id, token = tonumber(token), number = tonumber(number), after = tonumber(number) - 1, steps = steps, timeouts = NONE, consumed = NONE,
    seen = seen, heard = NONE, logs = NONE, begun = begun, nextUp = nextUp, alongside = NONE, mutations = { kind = 'none' },
    leaseUntil = tonumber(leaseUntil) or 0,
  }, now)
end

local function isZero(count) return not count or count == '0' end
local function timeIn(stored) return tonumber(stored) and stored end

-- Of the first six fields that all ways ask for.
local function isUsual(stored, token, number, hasSteps)
  return not stored.err and stored[1] == token and stored[2] == 'held' and isZero(stored[6])
    and (tonumber(stored[3]) or 0) + 1 == tonumber(number) and (hasSteps or timeIn(stored[4]))
end

-- Gives the newest time of a step, which was 'stepAt' before. For a run without open waits.
local function writeSettled(id, first, last, stepAt)
  local key = P .. 'steps:' .. id
  for n = first, last, 3 do
    local isNew = ask('HSETNX', key, ARGV[n], ARGV[n + 2]) == 1
    if not stepAt or (isNew and tonumber(ARGV[n + 1]) > tonumber(stepAt)) then stepAt = ARGV[n + 1] end
  end
  return stepAt
end

-- Those of the steps that are open waits so far; nil when one of them is not as usual.
local function openWaits(id, steps, open)
  local waits = {}
  if isZero(open) then return waits end
  for _, step in ipairs(steps) do
    local packed = ask('HGET', P .. 'waits:' .. id, step.index)
    if packed then
      local isSound, wakeAt, name, _, topic = pcall(cmsgpack.unpack, packed)
      if not isSound or type(wakeAt) ~= 'number' or type(name) ~= 'string' or topic then return nil end
      waits[step.index] = true
    end
  end
  return waits
end

-- Gives how many waits are open then, and the newest time of a step.
local function writeSteps(id, steps, waits, open, stepAt)
  open = tonumber(open) or 0
  for _, step in ipairs(steps) do
    local wait, was = step.wait, waits[step.index]
    local isWritten = was or ask('HSETNX', P .. 'steps:' .. id, step.index, step.record) == 1
    if was then
      ask('HSET', P .. 'steps:' .. id, step.index, step.record)
      open = open - 1
      if not wait then ask('HDEL', P .. 'waits:' .. id, step.index) end
    end
    if isWritten and wait then
      ask('HSET', P .. 'waits:' .. id, step.index, cmsgpack.pack(wait.wakeAt, wait.key, wait.type, nil))
      open = open + 1
    end
    if isWritten then waits[step.index] = wait and true or nil end
    if not stepAt or (isWritten and step.at > tonumber(stepAt)) then stepAt = digits(step.at) end
  end
  return digits(open), stepAt
end

-- The lease shall last longer than it does.
local function isLonger(key, leaseUntil)
  return leaseUntil ~= '0' and tonumber(leaseUntil) > (tonumber(ask('HGET', key, 'due') or nil) or 0)
end

local function goOnPlainly()
  local id, token, number, begun, leaseUntil = text(), text(), text(), text(), text()
  local first, last = skipSteps()
  local key = P .. 'run:' .. id
  local stored = redis.pcall('HMGET', key, 'token', 'lane', 'commit', 'stepAt', 'seq', 'crashes', 'open')
  local open, stepAt = stored[7], timeIn(stored[4])
  local isPlain = isUsual(stored, token, number, first <= last) and not isLonger(key, leaseUntil)
  if isPlain and isZero(open) then
    stepAt = writeSettled(id, first, last, stepAt)
  else
    local steps = stepsBetween(first, last)
    local waits = isPlain and openWaits(id, steps, open)
    if not waits then return commitAtLength(id, token, number, begun, 0, steps, { kind = 'continue' }, leaseUntil) end
    local before = open
    open, stepAt = writeSteps(id, steps, waits, open, stepAt)
    if open ~= before then ask('HSET', key, 'open', open) end
  end
  if begun == '' then
    ask('HSET', key, 'commit', number, 'stepAt', stepAt, 'recorded', '1')
    ask('HDEL', key, 'begun')
  elseif number == '1' then
    ask('HSET', key, 'commit', number, 'stepAt', stepAt, 'begun', begun, 'recorded', '1')
  else
    ask('HSET', key, 'commit', number, 'stepAt', stepAt, 'begun', begun)
  end
  return tonumber(stored[5]) or 0
end

local function suspendPlainly()
  local id, token, number, begun, seen, due, task = text(), text(), text(), text(), number(), text(), text()
  local steps = readSteps()
  local key = P .. 'run:' .. id
  local stored = redis.pcall('HMGET', key, 'token', 'lane', 'commit', 'stepAt', 'seq', 'crashes', 'open', 'status',
    'workflow', 'place')
  local seq, workflow, place = tonumber(stored[5]) or 0, stored[9], stored[10]
  local isPlain = isUsual(stored, token, number, #steps > 0) and seq <= seen and stored[8] == 'active' and workflow and place
  local waits = isPlain and openWaits(id, steps, stored[7])
  if not waits then
    return commitAtLength(id, token, number, begun, seen, steps, { kind = 'suspend', due = tonumber(due), task = task })
  end
  local open, stepAt = writeSteps(id, steps, waits, stored[7], timeIn(stored[4]))
  local nowText, lane = digits(now), task == 'run' and 'starting' or 'resuming'
  ask('HSET', key, 'lane', lane, 'kind', task, 'status', 'waiting', 'due', due, 'commit', number, 'stepAt', stepAt, 'recorded', '1',
    'open', open, 'waitingSince', nowText, 'updatedAt', nowText)
  if begun == '' then ask('HDEL', key, 'begun') else ask('HSET', key, 'begun', begun) end
  index('due:held', workflow, wide(id), false)
  index('due:' .. lane, workflow, wide(id), due)
  index('status:active', workflow, place, false)
  index('status:waiting', workflow, place, '0')
  if tonumber(due) <= now then nudge.due = true end
  return seq
end

local function endPlainly()
  local id, token, number, begun = text(), text(), text(), text()
  local first, last = skipSteps()
  local status, dead, record = text(), text() == '1' and '1' or nil, text()
  local key = P .. 'run:' .. id
  local stored = redis.pcall('HMGET', key, 'token', 'lane', 'commit', 'stepAt', 'seq', 'crashes', 'open', 'status',
    'workflow', 'instance', 'place', 'owner')
  local workflow, instance, place, owner = stored[9], stored[10], stored[11], stored[12]
  if not isUsual(stored, token, number, first <= last) or not isZero(stored[7]) or stored[8] ~= 'active'
    or not (workflow and instance and place and owner) then
    local ending = { kind = 'end', status = status, dead = dead, record = record }
    return commitAtLength(id, token, number, begun, 0, stepsBetween(first, last), ending)
  end
  local retention = tonumber(ask('HGET', named('instance', workflow, instance), 'retention') or nil)
  local stepAt = writeSettled(id, first, last, timeIn(stored[4]))
  ask('SET', P .. 'ending:' .. id, record)
  ask('HSET', key, 'status', status, 'commit', number, 'stepAt', stepAt, 'recorded', '1', 'endedAt', digits(now),
    'updatedAt', digits(now))
  if begun == '' then ask('HDEL', key, 'lane', 'begun') else
    ask('HDEL', key, 'lane')
    ask('HSET', key, 'begun', begun)
  end
  if dead then ask('HSET', key, 'dead', dead) end
  if retention then
    ask('HSET', key, 'keepUntil', digits(now + retention))
    index('prune', false, serialOf(place), digits(now + retention))
  end
  index('due:held', workflow, wide(id), false)
  index('status:active', workflow, place, false)
  index(dead and 'status:dead' or 'status:' .. status, workflow, place, '0')
  index('owner', owner, id, false)
  nudge.ended = true
  return tonumber(stored[5]) or 0
end
`;
