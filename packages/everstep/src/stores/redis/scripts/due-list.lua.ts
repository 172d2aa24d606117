/**
 * What wants a turn, soonest first. Every workflow and lane is a sorted set of its own, already in order; their beginnings
 * are merged.
 */
import { prelude } from "./prelude.lua.ts";
import { script } from "./script.ts";

const main = `
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

export const listDueScript = script("listDue", prelude, main);
