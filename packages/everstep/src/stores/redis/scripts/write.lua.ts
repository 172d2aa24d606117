/** One mixed, ordered batch. Each request is read whole, decided, and then written. */
import { change } from "./change.lua.ts";
import { commit } from "./commit.lua.ts";
import { create } from "./create.lua.ts";
import { endings } from "./endings.lua.ts";
import { events } from "./events.lua.ts";
import { indexes } from "./indexes.lua.ts";
import { logs } from "./logs.lua.ts";
import { moves } from "./moves.lua.ts";
import { mutations } from "./mutations.lua.ts";
import { nudge } from "./nudge.lua.ts";
import { plainCommit } from "./plain-commit.lua.ts";
import { prelude } from "./prelude.lua.ts";
import { publish } from "./publish.lua.ts";
import { run } from "./run.lua.ts";
import { runSaving } from "./run-saving.lua.ts";
import { script } from "./script.ts";
import { sendEvent } from "./send-event.lua.ts";
import { givenSteps, steps } from "./steps.lua.ts";
import { task } from "./task.lua.ts";

/**
 * Making a function takes time too, every time a script runs, and there are many: with all of them a single plain commit
 * takes several times as long. So what nearly every request can do without is made when the first one needs it.
 */
const verbs = {
  commit: [endings, logs, sendEvent, mutations, commit, "return readCommit, commit"],
  sendEvent: [logs, sendEvent, "return readSendEvent, sendEvent"],
  publish: [publish, "return readPublish, publish"],
  change: [endings, logs, change, "return readChange, change"],
  wake: [endings, task, "return readWake, wake"],
  abandon: [endings, task, "return readAbandon, abandon"],
};

const makers = Object.entries(verbs).map(
  ([kind, parts]) => `${kind} = function()\n${parts.join("")}\nend,\n`,
);

const atLength = `
local made
atLength = function()
  if made then return made end
  ${[run, runSaving, moves, steps, events].join("")}
  local makers = { ${makers.join("")} }
  made = { readRun = readRun, saveRuns = saveRuns, putStep = putStep, verbs = {} }
  function made.verb(kind)
    local verb = made.verbs[kind]
    if not verb then
      verb = { makers[kind]() }
      made.verbs[kind] = verb
    end
    return verb[1], verb[2]
  end
  return made
end
`;

/** What parts that come first need of those behind them. */
const header = `
local now, creations, isWaitedFor = number(), number(), text() == '1'
local atLength
`;

const main = `
local plain = {
  goOn = goOnPlainly,
  suspend = suspendPlainly,
  ['end'] = endPlainly,
  create = function() return create(readCreate(), now) end,
}

local function apply(kind)
  if plain[kind] then return plain[kind]() end
  local read, act = atLength().verb(kind)
  return act(read(), now)
end

return savingIndexes(function()
  local outcomes = {}
  for n = 1, number() do
    local outcome = apply(text())
    -- Trouble of the server in the author's commands, before anything of the engine's was written.
    if type(outcome) == 'table' and outcome.err then return outcome end
    outcomes[n] = outcome
    if made then made.saveRuns() end
  end
  sendNudge()
  -- Replicas are waited for up to the last write of a connection, and a repeat of what another one has done writes nothing.
  if isWaitedFor then ask('HSET', META, 'waited', '1') end
  return outcomes
end)
`;

export const writeScript = script(
  "write",
  prelude,
  nudge,
  indexes,
  header,
  givenSteps,
  create,
  plainCommit,
  atLength,
  main,
);
