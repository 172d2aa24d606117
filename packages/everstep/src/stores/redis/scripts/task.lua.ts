export const task = `
local function readWake() return { run = text(), token = number() } end

local function wake(request, now)
  local run = readRun(request.run)
  if not run or run.token ~= request.token or isLeased(run) or not run.lane then return { 'ignored' } end
  makeDue(run, now)
  nudge.due = true
  return { 'woken' }
end

local function readAbandon()
  local request = { owner = text() }
  local fate = text()
  if fate == 'error' then request.ending = { status = 'errored', record = text() }
  elseif fate == 'release' then request.token = number() end
  return request
end

-- Runs that it was the last to hold, those that are parked included.
local function unfinishedRuns(owner)
  local found = {}
  for _, id in ipairs(ask('SMEMBERS', key('owner', owner))) do found[#found + 1] = readRun(id) end
  return found
end

-- Looks at all that anybody holds, which is little; what an owner has parked may be much.
local function heldRuns(owner, token)
  local found = {}
  for _, workflow in ipairs(ask('SMEMBERS', P .. 'workflows')) do
    for _, lane in ipairs({ 'held', 'heldPaused' }) do
      for _, name in ipairs(ask('ZRANGE', laneKey(lane, workflow), 0, -1)) do
        local id = runOfSerial(name)
        local stored = redis.pcall('HMGET', P .. 'run:' .. id, 'owner', 'token')
        local isWanted = stored[1] == owner and (not token or tonumber(stored[2]) == token)
        found[#found + 1] = isWanted and readRun(id) or nil
      end
    end
  end
  return found
end

local function abandon(request, now)
  local count = 0
  saveIndexes()
  for _, run in ipairs(request.ending and unfinishedRuns(request.owner) or heldRuns(request.owner, request.token)) do
    if request.ending then
      moveToken(run)
      endRun(run, request.ending, now)
      count = count + 1
    elseif isLeased(run) then
      -- An owner that is gone keeps its lease, so that the next claim counts a crash.
      if request.token then giveBack(run, 'resume', now) else makeDue(run, now) end
      nudge.due = true
      count = count + 1
    end
  end
  return { 'abandoned', tostring(count) }
end
`;
