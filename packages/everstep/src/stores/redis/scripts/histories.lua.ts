/** Steps, events and log lines of runs, as flat lists in the order that the readers expect. */
import { prelude, script } from "./prelude.lua.ts";
import { run } from "./run.lua.ts";
import { events, packing, waits } from "./waits-and-events.lua.ts";

const rows = `
-- The end of an open wait is kept beside its record.
local function addStep(rows, run, index, record)
  local wait = waitsOf(run)[index]
  rows[#rows + 1] = record
  rows[#rows + 1] = wait and digits(wait.wakeAt) or false
end

local function addEvent(rows, run, seq, event)
  local function add(value) rows[#rows + 1] = value or false end
  add(seq)
  add(ask('HGET', key('events', run.id), seq))
  add(event.id)
  add(event.type)
  add(event.forStep)
  add(event.system and '1' or '0')
  add(digits(event.createdAt))
  add(event.deliveredAt and digits(event.deliveredAt))
  add(event.consumedBy)
end
`;

const read = `
local maxBytes, bytes = number() or math.huge, 0

local function count(rows)
  for _, text in ipairs(rows) do if text then bytes = bytes + #text end end
end

-- Of the run only what a history needs: this is read at every resume. Of one that is too much for this time, its id.
local function historyOf(id, withSteps, after)
  if bytes >= maxBytes then return { id } end
  local stored = redis.pcall('HMGET', P .. 'run:' .. id, 'status', 'begun', 'open', 'seq', 'workflow', 'instance', 'place')
  if stored.err or not (stored[1] and stored[5] and stored[6] and stored[7]) then return nil end
  local run = { id = id, open = tonumber(stored[3]) or 0, seq = tonumber(stored[4]) or 0 }
  local steps, events = {}, {}
  if withSteps then
    local flat = ask('HGETALL', key('steps', id))
    for n = 1, #flat, 2 do addStep(steps, run, flat[n], flat[n + 1]) end
  end
  local seqs = run.seq > after and ask('ZRANGEBYSCORE', key('unread', id), '(' .. digits(after), '+inf') or {}
  for _, seq in ipairs(seqs) do
    local event = readEvent(run, seq)
    addEvent(events, run, seq, event or { id = false, createdAt = 0 })
  end
  count(steps)
  count(events)
  return { id, stored[1], stored[2], steps, events }
end

local histories = {}
for _ = 1, number() do histories[#histories + 1] = historyOf(text(), text() == '1', number()) end
return histories
`;

const page = `
local id, isAscending, after, limit = text(), text() == 'asc', number(), number()
local run = readRun(id)
if not run then return {} end
local rows = {}
`;

const listSteps = `
-- In brief without its result, which stands behind the first line break and may be large.
local isBrief = text() == '1'
local function shown(record)
  local lineBreak = isBrief and record and string.find(record, '\\n', 1, true)
  return lineBreak and string.sub(record, 1, lineBreak) .. 'null' or record
end
local indices = {}
for _, index in ipairs(ask('HKEYS', key('steps', run.id))) do
  local n = tonumber(index)
  if not after or (isAscending and n > after) or (not isAscending and n < after) then indices[#indices + 1] = n end
end
table.sort(indices, function(a, b)
  if isAscending then return a < b end
  return a > b
end)
for n = 1, math.min(limit, #indices) do
  local index = digits(indices[n])
  addStep(rows, run, index, shown(ask('HGET', key('steps', run.id), index)))
end
return rows
`;

/** Sequences have no gaps. Events of the engine itself are left out. */
const listEvents = `
local seq, last, step = after and after + 1 or 1, run.seq, 1
if not isAscending then seq, last, step = after and math.min(after - 1, run.seq) or run.seq, 1, -1 end
local count = 0
while count < limit and (last - seq) * step >= 0 do
  local event = readEvent(run, digits(seq))
  if event and not event.system then
    addEvent(rows, run, digits(seq), event)
    count = count + 1
  end
  seq = seq + step
end
return rows
`;

/** Looks at a bounded number of lines; the last answer says where to go on, if the page is not full. */
const listLogs = `
local level, category = optional(), optional()
local function isWanted(line)
  if level and string.sub(line, 1, 1) ~= level then return false end
  return not category or string.sub(line, 2, 1 + #category) == category
end
local LINES = 2000
local length = ask('LLEN', key('logs', run.id))
local from = isAscending and (after or 0) + 1 or math.min((after or length + 1) - 1, length)
local to = isAscending and math.min(from + LINES - 1, length) or math.max(from - LINES + 1, 1)
if from < 1 or from > length then return { rows, false } end
local lines = ask('LRANGE', key('logs', run.id), math.min(from, to) - 1, math.max(from, to) - 1)
local step = isAscending and 1 or -1
for seq = from, to, step do
  local line = lines[isAscending and seq - from + 1 or seq - to + 1]
  if isWanted(line) then
    rows[#rows + 1] = digits(seq)
    rows[#rows + 1] = line
    if #rows == 2 * limit then return { rows, false } end
  end
end
local isOver = (isAscending and to == length) or (not isAscending and to == 1)
return { rows, not isOver and digits(to) or false }
`;

const listWaiters = `
-- The wait has its event already, though nobody has resumed it yet.
local function isSpokenFor(run, name)
  for _, seq in ipairs(ask('ZRANGE', key('unread', run.id), 0, -1)) do
    local event = readEvent(run, seq)
    if event and event.forStep == name then return true end
  end
  return false
end

local topic, isAscending, after, limit = text(), text() == 'asc', text(), number()
local names
if isAscending then
  names = ask('ZRANGEBYLEX', key('topic', topic), after == '' and '-' or '(' .. after, '+', 'LIMIT', 0, limit)
else
  names = ask('ZREVRANGEBYLEX', key('topic', topic), after == '' and '+' or '(' .. after, '-', 'LIMIT', 0, limit)
end
local rows = {}
for n, name in ipairs(names) do
  local id, index = runOfSerial(string.sub(name, 1, 16)), digits(tonumber(string.sub(name, 17)))
  local run = readRun(id)
  local wait = run and waitsOf(run)[index]
  rows[n] = wait
    and { id, index, run.workflow, run.instance, digits(run.number), wait.key, digits(wait.wakeAt),
      isSpokenFor(run, wait.key) and '1' or '0' }
    or { id, index }
end
return rows
`;

const parts = [prelude, packing, run, waits, events, rows];

export const readRunsScript = script("readRuns", ...parts, read);
export const listStepsScript = script("listSteps", ...parts, page, listSteps);
export const listEventsScript = script("listEvents", ...parts, page, listEvents);
export const listLogsScript = script("listLogs", ...parts, page, listLogs);
export const listWaitersScript = script("listWaiters", ...parts, listWaiters);

/** A topic and how many wait on it, one after the other. False where the list is not known to be complete. */
const listTopics = `
local isAscending, after, limit = text() == 'asc', optional(), number()
if ask('HEXISTS', META, 'topics') == 0 then return false end
local from = after and '(' .. after
local topics
if isAscending then
  topics = ask('ZRANGEBYLEX', P .. 'topics', from or '-', '+', 'LIMIT', 0, limit)
else
  topics = ask('ZREVRANGEBYLEX', P .. 'topics', from or '+', '-', 'LIMIT', 0, limit)
end
local rows = {}
for _, topic in ipairs(topics) do
  rows[#rows + 1] = topic
  rows[#rows + 1] = ask('ZCARD', key('topic', topic))
end
return rows
`;

/** Topics of a time when there was no list of them; the last call says that there are no others. */
const addTopics = `
local isLast = text() == '1'
for _ = 1, number() do
  local topic = text()
  if ask('EXISTS', key('topic', topic)) == 1 then ask('ZADD', P .. 'topics', 0, topic) end
end
if isLast then ask('HSET', META, 'topics', '1') end
return 1
`;

export const listTopicsScript = script("listTopics", prelude, listTopics);
export const addTopicsScript = script("listTopics", prelude, addTopics);
