/**
 * Hands out due runs. Every workflow and lane is a sorted set of its own, read from its oldest entry: paused and ended
 * runs, sleepers and other workflows' runs are never looked at. The sets are merged by lane and due time.
 */
import { nudge, prelude, script } from "./prelude.lua.ts";
import { indexes, run, runSaving } from "./run.lua.ts";

const main = `
local owner, now, leaseUntil, limit, workMax = text(), number(), number(), number(), number()
local excusedFrom = number()
-- What becomes of every run that is handed out ('leased' in store/apply/moves.ts): fields to set, and fields that go.
local leased, gone = {}, {}
for n = 1, number() do leased[n] = text() end
for n = 1, number() do gone[n] = text() end

-- How many more runs of the workflow may be leased.
local function freePlaces(workflow, concurrency)
  if not concurrency then return math.huge end
  local after = '(' .. digits(now)
  return concurrency - ask('ZCOUNT', laneKey('held', workflow), after, '+inf')
    - ask('ZCOUNT', laneKey('heldPaused', workflow), after, '+inf')
end

-- Work under way and new starts, apart: a queue of starts of any length never delays a resume.
local groups = { {}, {} }
for _ = 1, number() do
  local workflow, concurrency = text(), number()
  local room = { workflow = workflow, free = freePlaces(workflow, concurrency) }
  local function add(group, lane)
    group[#group + 1] = { room = room, lane = lane, key = laneKey(lane, workflow), entries = {}, at = 1, isRead = false }
  end
  if room.free > 0 then
    add(groups[1], 'resuming')
    add(groups[1], 'held')
    add(groups[2], 'starting')
  end
end

-- What was read before has been moved away by now, so the next ones are again at the beginning.
local CHUNK = math.min(limit, 32)
local function first(stretch)
  if stretch.at > #stretch.entries and not stretch.isRead then
    saveIndexes()
    stretch.entries = ask('ZRANGEBYSCORE', stretch.key, '-inf', digits(now), 'WITHSCORES', 'LIMIT', 0, CHUNK)
    stretch.at = 1
    stretch.isRead = #stretch.entries < 2 * CHUNK
  end
  local name = stretch.entries[stretch.at]
  return name, name and tonumber(stretch.entries[stretch.at + 1])
end

local function firstOf(group)
  local found, foundName, foundDue
  for _, stretch in ipairs(group) do
    local name, due
    if stretch.room.free > 0 then name, due = first(stretch) end
    if name and (not found or due < foundDue or (due == foundDue and name < foundName)) then
      found, foundName, foundDue = stretch, name, due
    end
  end
  return found, foundName
end

local function firstDue()
  local stretch, name = firstOf(groups[1])
  if stretch then return stretch, name end
  return firstOf(groups[2])
end

-- 'crashesAfter' and 'provesCrash' in model/lease.ts.
local function crashesAfter(run)
  if excusedFrom and run.due >= excusedFrom then return run.crashes end
  if run.commit > 0 then return run.crashes + 1 end
  return math.max(run.crashes, 1)
end

local function readStored(id)
  local stored = redis.pcall('HMGET', P .. 'run:' .. id, 'lane', 'status', 'token', 'workflow', 'instance', 'place', 'owner',
    'number', 'startedAt', 'waitingSince', 'recorded', 'seq', 'begun', 'crashes', 'commit')
  if stored.err or not (stored[2] and stored[4] and stored[5] and stored[6]) then return nil end
  return stored
end

local picked = {}
local function pick(stretch, name)
  stretch.at = stretch.at + 2
  local id = runOfSerial(name)
  local stored = readStored(id)
  local instance = stored and ask('HMGET', named('instance', stored[4], stored[5]), 'params', 'marks', 'created', 'deadline')
  if not instance or not instance[1] or stored[1] ~= stretch.lane then
    -- Damaged: moved aside, so that it is not met again.
    ask('ZREM', stretch.key, name)
    return
  end
  local run = stretch.lane == 'held' and readRun(id) or nil
  index('due:' .. stretch.lane, stored[4], name, false)
  stretch.room.free = stretch.room.free - 1
  picked[#picked + 1] = { id = id, name = name, run = run, stored = stored, instance = instance }
end

-- For a run that was not leased before: nearly every claim, and without a table of the run.
local function leasePlainly(each)
  local id, stored = each.id, each.stored
  local key, status, workflow, place = P .. 'run:' .. id, stored[2], stored[4], stored[6]
  ask('HSET', key, unpack(leased))
  if not stored[9] then ask('HSET', key, 'startedAt', digits(now)) end
  if stored[10] then ask('HDEL', key, unpack(gone)) end
  index('due:held', workflow, each.name, digits(leaseUntil))
  if status ~= 'active' then
    index('status:' .. status, workflow, place, false)
    index('status:active', workflow, place, '0')
  end
  if stored[7] ~= owner then
    if stored[7] then index('owner', stored[7], id, false) end
    index('owner', owner, id, true)
  end
  return stored[14] or '0'
end

-- One whose lease ran out.
local function leaseAgain(run)
  run.was.lane = nil
  run.crashes = crashesAfter(run)
  for n = 1, #leased, 2 do run[leased[n]] = NUMBERS[leased[n]] and tonumber(leased[n + 1]) or leased[n + 1] end
  for _, name in ipairs(gone) do run[name] = nil end
  run.startedAt = run.startedAt or now
  saveRun(run)
  return digits(run.crashes)
end

local function take(each)
  local stored, instance = each.stored, each.instance
  local crashes = each.run and leaseAgain(each.run) or leasePlainly(each)
  return {
    each.id, stored[4], stored[5], stored[3] or '0', stored[8] or '0', instance[1], instance[2], instance[3],
    stored[9] or digits(now), instance[4], stored[10], stored[11] and '0' or '1', stored[12] or '0', stored[13], crashes,
    stored[15] or '0', each.run and '1' or '0',
  }
end

return savingIndexes(function()
  -- However many runs are damaged, one call moves no more than a few hundred of them aside.
  local work = 0
  while #picked < limit and work < workMax do
    local stretch, name = firstDue()
    if not stretch then break end
    pick(stretch, name)
    work = work + 1
  end

  local claims = {}
  for n, each in ipairs(picked) do claims[n] = take(each) end
  return claims
end)
`;

export const claimScript = script("claim", prelude, indexes, run, runSaving, main);

const held = `
local function heldRun()
  local id, token = text(), number()
  local run = readRun(id)
  return run and run.token == token and isLeased(run) and run or nil
end
`;

/** Renewal is not acquisition: it succeeds only while nobody else has claimed the run. */
const renew = `
local untilTime = number()
local function renew()
  local run, begun, commit, applied = heldRun(), text(), text(), number()
  if not run or run.commit < applied then return { 'lost' } end
  if commit == '' or tonumber(commit) == run.commit then
    run.begun = begun ~= '' and begun or nil
  end
  -- A lease only ever grows while it is held.
  run.due = math.max(run.due, untilTime)
  return { 'renewed', run.seq, run.status == 'paused' and '1' or '0' }
end

return savingIndexes(function()
  local answers = {}
  for n = 1, number() do
    answers[n] = renew()
    saveRuns()
  end
  return answers
end)
`;

/** What becomes of each run is in the arguments; a paused one wants no turn. */
const release = `
local now = number()
return savingIndexes(function()
  for _ = 1, number() do
    local run, lane, kind, due = heldRun(), text(), text(), number()
    if run then
      if run.status == 'paused' then run.lane = nil else run.lane = lane end
      run.kind, run.due, run.updatedAt = kind, due, now
      if due <= now then nudge.due = true end
    end
    saveRuns()
  end
  sendNudge()
  return 1
end)
`;

export const renewScript = script("renew", prelude, indexes, run, runSaving, held, renew);
export const releaseScript = script("release", prelude, nudge, indexes, run, runSaving, held, release);
