import { prelude, script } from "./prelude.lua.ts";
import { run } from "./run.lua.ts";

/** An instance with the facts of one of its runs, as a flat list in the order that `reads/instances.ts` reads. */
export const record = `
local INSTANCE = { 'params', 'marks', 'created', 'deadline', 'retention', 'parent' }
-- No instance has the first two.
local BRIEF = { '-', '-', 'created', 'deadline', 'retention', 'parent' }

local function timeText(value) return value and digits(value) or false end

-- In brief without params and output, which may be large: a record that has only an output is not read at all.
local function recordOf(run, isBrief)
  local instance = ask('HMGET', named('instance', run.workflow, run.instance), unpack(isBrief and BRIEF or INSTANCE))
  if isBrief then instance[1] = 'null' end
  local updatedAt = math.max(run.updatedAt or 0, run.stepAt or 0)
  local record = {
    run.workflow, run.instance, run.id, digits(run.number), run.status, run.lane or false, digits(run.due),
    digits(run.token), digits(run.crashes), run.begun or false, run.dead or false, timeText(run.startedAt),
    digits(updatedAt), timeText(run.pausedAt), timeText(run.endedAt), timeText(run.keepUntil),
    not (isBrief and run.status == 'complete') and ask('GET', key('ending', run.id)),
  }
  for n = 1, #INSTANCE do record[#record + 1] = instance[n] end
  record[#record + 1] = isUnlisted(run) and '1' or '0'
  return record
end
`;

const get = `
local workflow, instance, wanted = text(), text(), text()
local id = ask('HGET', named('instance', workflow, instance), wanted == '' and 'run' or 'run:' .. wanted)
local run = id and readRun(id)
return run and recordOf(run) or false
`;

const getAll = `
local records = {}
for n = 1, number() do
  local workflow, instance = text(), text()
  local id = ask('HGET', named('instance', workflow, instance), 'run')
  local run = id and readRun(id)
  records[n] = run and recordOf(run) or false
end
return records
`;

const statuses = `
local statuses = {}
for n = 1, number() do
  local workflow, instance = text(), text()
  local id = ask('HGET', named('instance', workflow, instance), 'run')
  statuses[n] = id and ask('HGET', key('run', id), 'status') or false
end
return statuses
`;

/** Every write that anybody can see moves one of the fields, or adds a line to the log. */
const marks = `
local marks = {}
for n = 1, number() do
  local workflow, instance = text(), text()
  local id = ask('HGET', named('instance', workflow, instance), 'run')
  if id then
    local fields = ask('HMGET', key('run', id), 'status', 'token', 'commit', 'seq', 'due', 'lane', 'updatedAt', 'stepAt')
    for at = 1, 8 do fields[at] = fields[at] or '-' end
    marks[n] = id .. ' ' .. table.concat(fields, ' ') .. ' ' .. ask('LLEN', key('logs', id))
  else
    marks[n] = false
  end
end
return marks
`;

/** Newest first. */
const listRuns = `
local workflow, instance, limit, isBrief = text(), text(), number(), text() == '1'
local name = named('instance', workflow, instance)
local newest = tonumber(ask('HGET', name, 'runs') or 0)
local records = {}
for number = newest, math.max(1, newest - limit + 1), -1 do
  local id = ask('HGET', name, 'run:' .. number)
  local run = id and readRun(id)
  if run then records[#records + 1] = recordOf(run, isBrief) end
end
return records
`;

const count = `
local workflows = { optional() }
if #workflows == 0 then workflows = ask('SMEMBERS', P .. 'workflows') end
local counts = {}
for n = 1, number() do
  local class = text()
  counts[n] = 0
  for _, workflow in ipairs(workflows) do counts[n] = counts[n] + ask('ZCARD', key('status:' .. class, workflow)) end
end
return counts
`;

/** Leases in force included; those of paused runs are not in these lanes. */
const nextDue = `
local nearest
for _ = 1, number() do
  local workflow = text()
  for _, lane in ipairs({ 'resuming', 'held', 'starting' }) do
    local entry = ask('ZRANGE', laneKey(lane, workflow), 0, 0, 'WITHSCORES')
    local due = tonumber(entry[2])
    if due and (not nearest or due < nearest) then nearest = due end
  end
end
return nearest and digits(nearest) or false
`;

export const getInstanceScript = script("getInstance", prelude, run, record, get);
export const getInstancesScript = script("getInstances", prelude, run, record, getAll);
export const getStatusesScript = script("getStatuses", prelude, statuses);
export const getMarksScript = script("getMarks", prelude, marks);
export const listRunsScript = script("listRuns", prelude, run, record, listRuns);
export const countScript = script("countByStatus", prelude, count);
export const nextDueScript = script("nextDueAt", prelude, run, nextDue);

/**
 * A page of instances. Each workflow and status is a sorted set of places (creation, then number), so a page begins at
 * its cursor wherever that is; the sets that were asked for are merged. Gives what was found; and, where an id is looked
 * for and the page is not full, the last place that was looked at before it stopped.
 */

const listInstances = `
local isAscending, isBrief, after, upTo, limit, prefix = text() == 'asc', text() == '1', text(), text(), number(), optional()
local workflows = { optional() }
if #workflows == 0 then workflows = ask('SMEMBERS', P .. 'workflows') end
local stretches = {}
for _ = 1, number() do
  local class = text()
  for _, workflow in ipairs(workflows) do
    stretches[#stretches + 1] = { key = key('status:' .. class, workflow), entries = {}, at = 1, last = after, isRead = false }
  end
end

-- Every place is compared with those of the other sets, so many sets allow fewer of them.
local LOOK = prefix and math.max(100, math.min(2000, math.floor(20000 / math.max(1, #stretches)))) or math.huge
local CHUNK = math.max(1, math.ceil((prefix and LOOK or 2 * limit) / math.max(1, #stretches)))
local to = upTo == '' and (isAscending and '+' or '-') or '[' .. upTo
local function readOn(stretch)
  local from = stretch.last == '' and (isAscending and '-' or '+') or '(' .. stretch.last
  if isAscending then
    stretch.entries = ask('ZRANGEBYLEX', stretch.key, from, to, 'LIMIT', 0, CHUNK)
  else
    stretch.entries = ask('ZREVRANGEBYLEX', stretch.key, from, to, 'LIMIT', 0, CHUNK)
  end
  stretch.at = 1
  stretch.last = stretch.entries[#stretch.entries]
  stretch.isRead = #stretch.entries < CHUNK
end

local function first(stretch)
  if stretch.at > #stretch.entries and not stretch.isRead then readOn(stretch) end
  return stretch.entries[stretch.at]
end

local function firstOfAll()
  local found, foundPlace
  for _, stretch in ipairs(stretches) do
    local place = first(stretch)
    if place and (not found or (isAscending and place < foundPlace) or (not isAscending and place > foundPlace)) then
      found, foundPlace = stretch, place
    end
  end
  if found then found.at = found.at + 1 end
  return foundPlace
end

local function isMeant(names)
  return names[1] and names[2] and (not prefix or string.sub(names[2], 1, #prefix) == prefix)
end

local records, looked, last = {}, 0, false
while #records < limit and looked < LOOK do
  last = firstOfAll()
  if not last then break end
  looked = looked + 1
  local names = ask('HMGET', key('run', runOfSerial(serialOf(last))), 'workflow', 'instance')
  local run = isMeant(names) and currentRun(names[1], names[2])
  if run then records[#records + 1] = { last, recordOf(run, isBrief) } end
end
return { records, #records < limit and last or false }
`;

export const listInstancesScript = script("listInstances", prelude, run, record, listInstances);

/**
 * What wants a turn, soonest first. Every workflow and lane is a sorted set of its own, already in order; their beginnings
 * are merged.
 */

const listDue = `
local before, limit = digits(number()), number()
local found = {}
for _, workflow in ipairs(ask('SMEMBERS', P .. 'workflows')) do
  for _, lane in ipairs({ 'resuming', 'starting' }) do
    local entries = ask('ZRANGEBYSCORE', key('due:' .. lane, workflow), '-inf', before, 'WITHSCORES', 'LIMIT', 0, limit)
    for n = 1, #entries, 2 do
      found[#found + 1] = { name = entries[n], due = tonumber(entries[n + 1]), lane = lane }
    end
  end
end
table.sort(found, function(a, b)
  if a.due ~= b.due then return a.due < b.due end
  return a.name < b.name
end)
local rows = {}
for n = 1, math.min(limit, #found) do
  local each = found[n]
  local stored = redis.pcall('HMGET', key('run', runOfSerial(each.name)), 'workflow', 'instance', 'number', 'kind')
  if not stored.err and stored[1] and stored[2] then
    local kind = each.lane == 'starting' and 'run' or stored[4] or 'resume'
    rows[#rows + 1] = { stored[1], stored[2], stored[3] or '0', kind, digits(each.due) }
  end
end
return rows
`;

export const listDueScript = script("listDue", prelude, listDue);
