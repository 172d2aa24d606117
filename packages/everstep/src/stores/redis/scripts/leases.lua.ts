import { moves } from "./moves.lua.ts";
import { nudge } from "./nudge.lua.ts";
import { prelude } from "./prelude.lua.ts";
import { run } from "./run.lua.ts";
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
local answers = {}
for n = 1, number() do
  local run, begun, commit = heldRun(), text(), text()
  if run then
    if commit == '' or tonumber(commit) == run.commit then
      run.begun = begun ~= '' and begun or nil
    end
    extendLease(run, untilTime)
    answers[n] = { 'renewed', digits(run.seq), run.status == 'paused' and '1' or '0' }
  else
    answers[n] = { 'lost' }
  end
end
saveRuns()
return answers
`;

const release = `
local now = number()
for _ = 1, number() do
  local run = heldRun()
  if run then
    giveBack(run, 'resuming', now)
    nudge.due = true
  end
end
saveRuns()
sendNudge()
return 1
`;

export const renewScript = script("renew", prelude, run, moves, held, renew);
export const releaseScript = script("release", prelude, nudge, run, moves, held, release);
