/**
 * The hash of a run, and the indexes that follow from it. Verbs change the table; `saveRuns` writes what has changed,
 * after everything was decided. A run stands in one lane of its workflow, scored by its due time:
 *
 *   starting    -> held                claimed for the first time
 *   resuming    -> held                claimed again
 *   held        -> resuming            suspended, yielded, released, or put back after a crash
 *   held       <-> heldPaused          paused and resumed under a lease
 *   any         -> none                paused without a lease, or ended
 */
export const run = `
local TEXTS = { 'workflow', 'instance', 'place', 'status', 'lane', 'begun', 'owner', 'recorded', 'dead', 'retired' }
local COUNTS = { 'number', 'due', 'token', 'commit', 'seq', 'crashes', 'open', 'buffered' }
local TIMES = { 'waitingSince', 'startedAt', 'updatedAt', 'stepAt', 'pausedAt', 'endedAt', 'keepUntil' }
local STATUSES = { active = true, waiting = true, paused = true, complete = true, errored = true, terminated = true }
local TERMINAL = { complete = true, errored = true, terminated = true }

local FIELDS = {}
for _, fields in ipairs({ TEXTS, COUNTS, TIMES }) do
  for _, field in ipairs(fields) do FIELDS[#FIELDS + 1] = field end
end

local runs, unsavedRuns = {}, {}

-- 'was' is what is stored; a count that is not stored is 0.
local function newRun(id)
  local run = { id = id, was = {} }
  for _, field in ipairs(COUNTS) do
    run[field] = 0
    run.was[field] = 0
  end
  return run
end

-- To be written at the end of the request, if anything has changed by then.
local function unsaved(run)
  if run.isUnsaved then return run end
  run.isUnsaved = true
  unsavedRuns[#unsavedRuns + 1] = run
  return run
end

local function readRun(id)
  if runs[id] then return unsaved(runs[id]) end
  local flat = redis.pcall('HGETALL', key('run', id))
  if flat.err or #flat == 0 then return nil end
  local stored, run = {}, newRun(id)
  for n = 1, #flat, 2 do stored[flat[n]] = flat[n + 1] end
  for _, field in ipairs(TEXTS) do run[field] = stored[field] end
  for _, field in ipairs(COUNTS) do run[field] = tonumber(stored[field]) or 0 end
  for _, field in ipairs(TIMES) do run[field] = tonumber(stored[field]) end
  if not (run.workflow and run.instance and run.place and run.status) then return nil end
  for _, field in ipairs(FIELDS) do run.was[field] = run[field] end
  -- One that nobody knows was damaged; the next verb that saves the run heals it.
  if not STATUSES[run.status] then run.status = 'active' end
  runs[id] = run
  return unsaved(run)
end

local function currentRun(workflow, instance)
  local id = ask('HGET', named('instance', workflow, instance), 'run')
  return id and readRun(id)
end

-- The number of the instance is that of its first run.
local function serialOf(place) return string.sub(place, 18) end
local function runOfSerial(serial) return digits(tonumber(serial)) end

local function laneKey(lane, workflow) return key('due:' .. lane, workflow) end

-- Every instance is listed once, under the status of its current run.
local function classOf(run)
  if run.retired or not run.status then return nil end
  if run.dead then return 'dead' end
  return run.status
end

local function ownerOf(run) return not TERMINAL[run.status] and run.owner or nil end

local function moveLane(run, was)
  if was.lane and was.lane ~= run.lane then ask('ZREM', laneKey(was.lane, run.workflow), wide(run.id)) end
  if run.lane and (was.lane ~= run.lane or was.due ~= run.due) then
    ask('ZADD', laneKey(run.lane, run.workflow), digits(run.due), wide(run.id))
  end
end

local function moveClass(run, was)
  local before, now = classOf(was), classOf(run)
  if before == now then return end
  if before then ask('ZREM', key('status:' .. before, run.workflow), run.place) end
  if now then ask('ZADD', key('status:' .. now, run.workflow), 0, run.place) end
end

local function moveOwner(run, was)
  local before, now = ownerOf(was), ownerOf(run)
  if before == now then return end
  if before then ask('SREM', key('owner', before), run.id) end
  if now then ask('SADD', key('owner', now), run.id) end
end

local function movePrune(run, was)
  local before = not was.retired and was.keepUntil or nil
  local now = not run.retired and run.keepUntil or nil
  if before == now then return end
  if now then ask('ZADD', P .. 'prune', digits(now), serialOf(run.place))
  elseif before then ask('ZREM', P .. 'prune', serialOf(run.place)) end
end

local function moveThrough(run, was)
  moveLane(run, was)
  moveClass(run, was)
  moveOwner(run, was)
  movePrune(run, was)
end

local function saveRun(run)
  local was, set, gone = run.was, {}, {}
  for _, field in ipairs(FIELDS) do
    local value = run[field]
    if value == nil and was[field] ~= nil then gone[#gone + 1] = field
    elseif value ~= was[field] then
      set[#set + 1] = field
      set[#set + 1] = type(value) == 'number' and digits(value) or value
    end
  end
  if #set > 0 then ask('HSET', key('run', run.id), unpack(set)) end
  if #gone > 0 then ask('HDEL', key('run', run.id), unpack(gone)) end
  moveThrough(run, was)
  for _, field in ipairs(FIELDS) do was[field] = run[field] end
end

local function saveRuns()
  for _, run in ipairs(unsavedRuns) do
    run.isUnsaved = false
    saveRun(run)
  end
  unsavedRuns = {}
end
`;
