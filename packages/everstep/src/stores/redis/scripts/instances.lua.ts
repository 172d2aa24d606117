import { prelude } from "./prelude.lua.ts";
import { record } from "./record.lua.ts";
import { run } from "./run.lua.ts";
import { script } from "./script.ts";

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
