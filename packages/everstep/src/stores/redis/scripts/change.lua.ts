export const change = `
local function readRetryStep()
  local made = { drop = {}, release = {} }
  if text() == '1' then made.reopen = readStep() end
  for n = 1, number() do made.drop[n] = text() end
  for _ = 1, number() do made.release[text()] = true end
  made.due = number()
  return made
end

local function readChange()
  local request = { workflow = text(), instance = text(), id = text(), statuses = {} }
  for _ = 1, number() do request.statuses[text()] = true end
  request.number = number()
  request.token = number()
  request.kind = text()
  if request.kind == 'resume' then request.made = { shifts = text() == '1' }
  elseif request.kind == 'terminate' then request.made = { status = 'terminated', record = text() }
  elseif request.kind == 'restart' then request.made = { status = 'terminated', record = text(), history = readSteps() }
  elseif request.kind == 'retryStep' then request.made = readRetryStep() end
  request.announce = readAnnounced()
  request.logs = readLogs()
  return request
end

-- Each gives the run that is current afterwards.
local changes = {}

function changes.pause(run, _, now)
  run.status = 'paused'
  run.pausedAt = now
  run.updatedAt = now
  run.lane = isLeased(run) and 'heldPaused' or nil
  return run
end

function changes.resume(run, made, now)
  local pausedMs = math.max(0, now - (run.pausedAt or now))
  run.status = 'active'
  run.pausedAt = nil
  run.updatedAt = now
  if made.shifts then
    for index, wait in pairs(waitsOf(run)) do
      wait.wakeAt = wait.wakeAt + pausedMs
      putWait(run, index, wait)
    end
  end
  if isLeaseInForce(run, now) then
    run.lane = 'held'
    return run
  end
  -- Waits were moved: a turn that some runner kept in memory must not go on with the old ones.
  if made.shifts then moveToken(run) end
  -- A lease that ran out meanwhile was never given back: it stays one that ran out, and its claim counts a crash.
  run.lane = isLeased(run) and 'held' or 'resuming'
  run.kind = 'resume'
  run.due = now
  return run
end

function changes.terminate(run, made, now)
  moveToken(run)
  endRun(run, made, now)
  return run
end

function changes.restart(run, made, now)
  -- The old run moves to it too, so that not even a repeat of its last commit is taken for success any more.
  local token = run.token + 1
  if not TERMINAL[run.status] then
    run.token = token
    endRun(run, made, now)
  end
  run.retired = '1'
  -- It leaves its place in the lists before the next run takes it.
  saveRuns()
  local id, number = nextId(run.workflow, run.instance), digits(run.number + 1)
  addRun(id, {
    workflow = run.workflow, instance = run.instance, place = run.place, number = number, due = digits(now),
    token = digits(token),
  }, now)
  addHistory(id, made.history)
  ask('HSET', named('instance', run.workflow, run.instance), 'run', id, 'runs', number, 'run:' .. number, id)
  return readRun(id)
end

function changes.retryStep(run, made, now)
  for _, index in ipairs(made.drop) do dropStep(run, index) end
  if made.reopen then putStep(run, made.reopen) end
  joinTopics(run)
  if next(made.release) ~= nil then
    local flat = ask('HGETALL', key('event-states', run.id))
    for n = 1, #flat, 2 do
      local event = unpackEvent(flat[n + 1])
      if event and event.consumedBy and made.release[event.consumedBy] then returnEvent(run, flat[n], event) end
    end
  end
  ask('DEL', key('ending', run.id))
  run.status = 'active'
  moveToken(run)
  run.commit = 0
  run.dead = nil
  run.endedAt = nil
  run.keepUntil = nil
  run.crashes = 0
  run.begun = nil
  run.updatedAt = now
  giveBack(run, 'retry', made.due)
  return run
end

local function change(request, now)
  local run = currentRun(request.workflow, request.instance)
  if not run then return { 'not-found' } end
  local made = named('changes', request.workflow, request.instance)
  local earlier = ask('HGET', made, request.id)
  if earlier then return { 'changed', earlier } end
  local meant = (not request.number or request.number == run.number) and (not request.token or request.token == run.token)
  if not meant or not request.statuses[run.status] then
    return { 'refused', run.status, digits(run.number) }
  end
  local leased = isLeaseInForce(run, now)
  local after = changes[request.kind](run, request.made, now)
  appendLogs(after, request.logs)
  if request.announce then createUnleased(request.announce, now) end
  nudge.changed = true
  if after.lane and after.due <= now then nudge.due = true end
  local report = table.concat({ after.id, after.status, digits(after.number), leased and '1' or '0' }, ' ')
  ask('HSET', made, request.id, report)
  return { 'changed', report }
end
`;
