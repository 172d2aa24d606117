/**
 * Hands out due runs. Every workflow and lane is a sorted set of its own, read from its oldest entry: paused and ended
 * runs, sleepers and other workflows' runs are never looked at. The sets are merged by lane and due time.
 */
import { moves } from "./moves.lua.ts";
import { prelude } from "./prelude.lua.ts";
import { run } from "./run.lua.ts";
import { script } from "./script.ts";

const main = `
local owner, now, leaseUntil, limit, workMax = text(), number(), number(), number(), number()
local delays = {}
for n = 1, number() do delays[n] = number() end

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

-- A lease that ran out is a crash: counted here, and answered with the delay before the next try.
local function countCrash(run)
  run.crashes = run.crashes + 1
  return delays[math.min(run.crashes, #delays)] or 0
end

local picked = {}
local function pick(stretch, name)
  stretch.at = stretch.at + 2
  local run = readRun(digits(tonumber(name)))
  local instance = run and ask('HMGET', named('instance', run.workflow, run.instance), 'params', 'marks', 'created', 'deadline')
  if not instance or not instance[1] or run.lane ~= stretch.lane then
    -- Damaged: moved aside, so that it is not met again.
    ask('ZREM', stretch.key, name)
    return
  end
  local delay = run.lane == 'held' and countCrash(run) or 0
  if delay > 0 then
    giveBack(run, 'resuming', now + delay)
    saveRun(run)
  else
    ask('ZREM', stretch.key, name)
    run.was.lane = nil
    stretch.room.free = stretch.room.free - 1
    picked[#picked + 1] = { run = run, instance = instance }
  end
end

-- However many leases ran out at once, one call puts back no more than a few hundred of them.
local work = 0
while #picked < limit and work < workMax do
  local stretch, name = firstDue()
  if not stretch then break end
  pick(stretch, name)
  work = work + 1
end

local claims = {}
for n, each in ipairs(picked) do
  local run, instance = each.run, each.instance
  local waitingSince = run.waitingSince
  lease(run, owner, leaseUntil, now)
  saveRun(run)
  claims[n] = {
    run.id, run.workflow, run.instance, digits(run.token), digits(run.number), instance[1], instance[2], instance[3],
    digits(run.startedAt), instance[4], waitingSince and digits(waitingSince) or false, run.recorded and '0' or '1',
    digits(run.seq), run.begun or false, digits(run.crashes),
  }
end
return claims
`;

export const claimScript = script("claim", prelude, run, moves, main);
