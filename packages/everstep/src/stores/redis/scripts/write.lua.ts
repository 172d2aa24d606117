/** One mixed, ordered batch. Each request is read whole, decided, and then written. */
import { change } from "./change.lua.ts";
import { commit } from "./commit.lua.ts";
import { create } from "./create.lua.ts";
import { endings } from "./endings.lua.ts";
import { events } from "./events.lua.ts";
import { moves } from "./moves.lua.ts";
import { mutations } from "./mutations.lua.ts";
import { nudge } from "./nudge.lua.ts";
import { prelude } from "./prelude.lua.ts";
import { publish } from "./publish.lua.ts";
import { run } from "./run.lua.ts";
import { script } from "./script.ts";
import { sendEvent } from "./send-event.lua.ts";
import { steps } from "./steps.lua.ts";
import { task } from "./task.lua.ts";

const main = `
local verbs = {
  create = { readCreate, create },
  commit = { readCommit, commit },
  sendEvent = { readSendEvent, sendEvent },
  publish = { readPublish, publish },
  change = { readChange, change },
  wake = { readWake, wake },
  abandon = { readAbandon, abandon },
}

local now = number()
local outcomes = {}
for n = 1, number() do
  local verb = verbs[text()]
  outcomes[n] = verb[2](verb[1](), now)
  -- Trouble of the server in the author's commands, before anything of the engine's was written.
  if outcomes[n].err then return outcomes[n] end
  saveRuns()
end
sendNudge()
return outcomes
`;

export const writeScript = script(
  "write",
  prelude,
  nudge,
  run,
  moves,
  steps,
  events,
  endings,
  create,
  sendEvent,
  publish,
  mutations,
  commit,
  change,
  task,
  main,
);
