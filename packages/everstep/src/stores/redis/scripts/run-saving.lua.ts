/** Writes what has changed of a run, and moves it through the indexes. */
import { runFields } from "../write/run-fields.ts";
import { isNumber } from "./run.lua.ts";

const gatherChanges = runFields
  .map(
    (name) => `value = run.${name}
  if value ~= was.${name} then
    if value == nil then
      gone = gone or {}
      gone[#gone + 1] = '${name}'
    else
      set[last + 1], set[last + 2] = '${name}', ${isNumber(name) ? "digits(value)" : "value"}
      last = last + 2
    end
  end`,
  )
  .join("\n  ");

export const runSaving = `
-- Every instance is listed once, under the status of its current run.
local function classOf(run)
  if run.retired or not run.status then return nil end
  if run.dead then return 'dead' end
  return run.status
end

local function ownerOf(run) return not TERMINAL[run.status] and run.owner or nil end

local function moveLane(run, was)
  local before, now = was.lane, run.lane
  if before == now and (not now or was.due == run.due) then return end
  local name = wide(run.id)
  if before and before ~= now then index('due:' .. before, run.workflow, name, false) end
  if now then index('due:' .. now, run.workflow, name, digits(run.due)) end
end

local function moveClass(run, was)
  local before, now = classOf(was), classOf(run)
  if before == now then return end
  if before then index('status:' .. before, run.workflow, run.place, false) end
  if now then index('status:' .. now, run.workflow, run.place, '0') end
end

local function moveOwner(run, was)
  local before, now = ownerOf(was), ownerOf(run)
  if before == now then return end
  if before then index('owner', before, run.id, false) end
  if now then index('owner', now, run.id, true) end
end

local function movePrune(run, was)
  local before = not was.retired and was.keepUntil or nil
  local now = not run.retired and run.keepUntil or nil
  if before ~= now then index('prune', false, serialOf(run.place), now and digits(now) or false) end
end

local function moveThrough(run, was)
  moveLane(run, was)
  moveClass(run, was)
  moveOwner(run, was)
  movePrune(run, was)
end

local function saveRun(run)
  local was, set, last, gone, value = run.was, {}, 0, nil, nil
  ${gatherChanges}
  if last > 0 then ask('HSET', run.key, unpack(set, 1, last)) end
  if gone then ask('HDEL', run.key, unpack(gone)) end
  moveThrough(run, was)
end

-- At the end of a request. The next one reads anew.
local function saveRuns()
  if unsavedCount == 0 then return end
  for n = 1, unsavedCount do saveRun(unsavedRuns[n]) end
  runs, unsavedCount = {}, 0
end
`;
