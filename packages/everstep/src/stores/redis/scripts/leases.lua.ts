import { indexes } from "./indexes.lua.ts";
import { nudge } from "./nudge.lua.ts";
import { prelude } from "./prelude.lua.ts";
import { run } from "./run.lua.ts";
import { runSaving } from "./run-saving.lua.ts";
import { script } from "./script.ts";

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
