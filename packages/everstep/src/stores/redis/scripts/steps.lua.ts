/**
 * Steps are opaque texts by index. What an open wait waits for lies beside them, where scripts can read it; its end is
 * kept there only, because a resume may move it.
 */

/** As they stand among the arguments. */
export const givenSteps = `
local function readStep()
  local step = { index = text(), at = number(), record = text() }
  local waits = text()
  if waits == '1' then
    step.wait = { wakeAt = number(), key = text(), type = optional(), topic = optional() }
  end
  return step
end

local function readSteps()
  local steps = {}
  for n = 1, number() do steps[n] = readStep() end
  return steps
end

`;

export const steps = `
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

local function unpackWait(packed)
  local ok, wakeAt, name, eventType, topic = pcall(cmsgpack.unpack, packed)
  if not ok or type(wakeAt) ~= 'number' or type(name) ~= 'string' then return nil end
  return { wakeAt = wakeAt, key = name, type = eventType, topic = topic }
end

-- Open waits by index.
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
  ask('HSET', key('waits', run.id), index, cmsgpack.pack(wait.wakeAt, wait.key, wait.type, wait.topic))
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

local function stepSaved(run, step)
  run.stepAt = math.max(run.stepAt or step.at, step.at)
  if step.wait then putWait(run, step.index, step.wait) end
end

-- Whatever is there gives way.
local function putStep(run, step)
  dropWait(run, step.index)
  ask('HSET', key('steps', run.id), step.index, step.record)
  stepSaved(run, step)
end

-- A settled step is written once: its first record stays.
local function writeStep(run, step)
  if waitsOf(run)[step.index] then return putStep(run, step) end
  if ask('HSETNX', key('steps', run.id), step.index, step.record) == 1 then stepSaved(run, step) end
end

local function dropStep(run, index)
  dropWait(run, index)
  ask('HDEL', key('steps', run.id), index)
end
`;
