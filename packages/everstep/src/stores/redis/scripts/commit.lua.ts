export const commit = `
local function readTimeouts()
  local timeouts = {}
  for n = 1, number() do
    timeouts[n] = {
      wait = { index = text(), key = text(), type = optional(), wakeAt = number() },
      settled = readStep(),
    }
  end
  return timeouts
end

local function readNext()
  local nextUp = { kind = text() }
  if nextUp.kind == 'suspend' then
    nextUp.due = number()
    nextUp.task = text()
  elseif nextUp.kind == 'yield' then
    nextUp.due = number()
  elseif nextUp.kind == 'end' then
    nextUp.status = text()
    nextUp.dead = text() == '1' and '1' or nil
    nextUp.record = text()
  end
  return nextUp
end

local function readConsumed()
  local consumed = {}
  for n = 1, number() do consumed[n] = { seq = text(), key = text() } end
  return consumed
end

local function readHeard()
  local heard = {}
  for n = 1, number() do heard[n] = { seq = text(), id = text() } end
  return heard
end

-- The store went back in time since the turn heard of an event; another one may have its number by now.
local function heardOfLost(run, request)
  for _, heard in ipairs(request.heard) do
    local event = readEvent(run, heard.seq)
    if not event or event.id ~= heard.id then return true end
  end
  return false
end

-- What to log, by the outcome of an event.
local function readUndelivered()
  local lines = {}
  for _ = 1, number() do
    local outcome = text()
    lines[outcome] = text()
  end
  return lines
end

local function readAlongside()
  local requests = {}
  for n = 1, number() do
    if text() == 'create' then requests[n] = { create = readCreate() }
    else requests[n] = { event = readSendEvent(), undelivered = readUndelivered() } end
  end
  return requests
end

local function readCommit()
  return {
    run = text(), token = number(), number = number(), after = number(), noProgress = text() == '1', steps = readSteps(), timeouts = readTimeouts(),
    consumed = readConsumed(), seen = number(), heard = readHeard(), logs = readLogs(), begun = text(), nextUp = readNext(),
    alongside = readAlongside(), mutations = readMutations(), announce = readAnnounced(), leaseUntil = number(),
  }
end

-- The answer to a number that was applied before. It must not promise more than is true: timeouts that were refused are
-- still open, in a paused run nothing more may begin, and an end that a pause dropped is no end.
local function repeated(run, request)
  local refused = '0'
  for _, timeout in ipairs(request.timeouts) do
    if waitsOf(run)[timeout.wait.index] then refused = '1' end
  end
  if run.status == 'paused' then return { 'paused', digits(run.seq), refused } end
  if request.nextUp.kind == 'end' and not TERMINAL[run.status] then return { 'superseded' } end
  return { 'committed', digits(run.seq), refused, '0' }
end

local function record(run, request, now)
  run.commit = request.number
  run.recorded = '1'
  if not request.noProgress then run.crashes = 0 end
  run.begun = request.begun ~= '' and request.begun or nil
  for _, step in ipairs(request.steps) do writeStep(run, step) end
  for _, consumed in ipairs(request.consumed) do deliverEvent(run, consumed.seq, consumed.key, now) end
  appendLogs(run, request.logs)
end

local function sendAlongside(run, request, now)
  for _, beside in ipairs(request.alongside) do
    if beside.create then createUnleased(beside.create, now)
    else
      local outcome = sendEvent(beside.event, now)
      appendLogs(run, { beside.undelivered[outcome[6] or outcome[1]] })
    end
  end
end

-- All of the boundary's timeouts, or none when an event the turn has not seen came in time.
local function settleTimeouts(run, request)
  local waits = {}
  for n, timeout in ipairs(request.timeouts) do waits[n] = timeout.wait end
  if isEventThere(run, waits, request.seen) then return false end
  for _, timeout in ipairs(request.timeouts) do writeStep(run, timeout.settled) end
  return true
end

-- A pause outlives whatever the turn wanted next; the wake time is kept, resume makes the run due anyway.
local function stayPaused(run, request)
  local nextUp = request.nextUp
  if nextUp.kind == 'continue' then extendLease(run, request.leaseUntil)
  elseif nextUp.kind == 'suspend' then giveBack(run, nextUp.task, nextUp.due)
  else giveBack(run, 'resume', run.due) end
end

-- Does what comes next; true when the run was to wait but is due now.
local function goOn(run, request, timeoutsRefused, now)
  local nextUp = request.nextUp
  if nextUp.kind == 'continue' then
    extendLease(run, request.leaseUntil)
  elseif nextUp.kind == 'suspend' then
    -- Registering a wait and looking for its event are one operation, so no wake-up is lost in between.
    local dueNow = timeoutsRefused or isEventThere(run, waitsOf(run), request.seen)
    run.status = 'waiting'
    run.waitingSince = now
    run.updatedAt = now
    giveBack(run, nextUp.task, dueNow and now or nextUp.due)
    if run.due <= now then nudge.due = true end
    return dueNow
  elseif nextUp.kind == 'yield' then
    run.updatedAt = now
    giveBack(run, 'resume', nextUp.due)
    if run.due <= now then nudge.due = true end
  else
    endRun(run, nextUp, now)
  end
  return false
end

local function commit(request, now)
  local run = readRun(request.run)
  -- The token alone decides, never the time.
  if not run or run.token ~= request.token then return { 'superseded' } end
  -- Before the lease is looked at: the commit that gave it back may be repeated too.
  if request.number == run.commit then return repeated(run, request) end
  if not isLeased(run) or TERMINAL[run.status] or request.after ~= run.commit then return { 'superseded' } end
  if heardOfLost(run, request) then return { 'superseded' } end

  local failed = runMutations(request.mutations)
  if failed then return failed end
  record(run, request, now)
  local timeoutsRefused = not settleTimeouts(run, request)
  sendAlongside(run, request, now)
  local refused = timeoutsRefused and '1' or '0'
  if run.status == 'paused' then
    stayPaused(run, request)
    return { 'paused', digits(run.seq), refused }
  end
  local dueNow = goOn(run, request, timeoutsRefused, now)
  if request.announce and TERMINAL[run.status] then createUnleased(request.announce, now) end
  return { 'committed', digits(run.seq), refused, dueNow and '1' or '0' }
end
`;
