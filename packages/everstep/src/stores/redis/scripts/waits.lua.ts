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
