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
  if text() == 'error' then request.ending = { status = 'errored', record = text() } end
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
    elseif run and isLeased(run) then
      -- Still leased, so that the next claim counts a crash.
      makeDue(run, now)
      nudge.due = true
      count = count + 1
    end
  end
  return { 'abandoned', tostring(count) }
end
`;
