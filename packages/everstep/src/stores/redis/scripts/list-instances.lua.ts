/**
 * A page of instances. Each workflow and status is a sorted set of places (creation, then number), so a page begins at
 * its cursor wherever that is; the sets that were asked for are merged. Gives what was found; and, where an id is looked
 * for and the page is not full, the last place that was looked at before it stopped.
 */
import { prelude } from "./prelude.lua.ts";
import { record } from "./record.lua.ts";
import { run } from "./run.lua.ts";
import { script } from "./script.ts";

const main = `
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

export const listInstancesScript = script("listInstances", prelude, run, record, main);
