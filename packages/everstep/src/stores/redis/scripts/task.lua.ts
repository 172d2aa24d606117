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

local function abandon(request, now)
  local count = 0
  saveIndexes()
  for _, id in ipairs(ask('SMEMBERS', key('owner', request.owner))) do
    local run = readRun(id)
    if run and request.ending then
      moveToken(run)
      endRun(run, request.ending, now)
      count = count + 1
    elseif run and isLeased(run) and (not request.token or request.token == run.token) then
      -- An owner that is gone keeps its lease, so that the next claim counts a crash.
      if request.token then giveBack(run, 'resume', now) else makeDue(run, now) end
      nudge.due = true
      count = count + 1
    end
  end
  return { 'abandoned', tostring(count) }
end
`;
