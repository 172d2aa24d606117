/** The moves of a run between its states. They change the table only. */
export const moves = `
local function isLeased(run) return run.lane == 'held' or run.lane == 'heldPaused' end
local function isLeaseInForce(run, now) return isLeased(run) and run.due > now end

-- Without a lease; one that is paused or has ended wants no turn.
local function park(run, lane)
  if run.status == 'paused' or TERMINAL[run.status] then run.lane = nil else run.lane = lane end
end

local function moveToken(run) run.token = run.token + 1 end

local function lease(run, owner, token, untilTime, now)
  run.status = 'active'
  run.lane = 'held'
  run.owner = owner
  run.due = untilTime
  run.token = token
  run.commit = 0
  run.waitingSince = nil
  run.startedAt = run.startedAt or now
  run.updatedAt = now
end

-- A lease only ever grows while it is held.
local function extendLease(run, untilTime) run.due = math.max(run.due, untilTime) end

-- For a turn of this kind.
local function giveBack(run, kind, due)
  run.due = due
  run.kind = kind
  park(run, kind == 'run' and 'starting' or 'resuming')
end

-- Due now, unless it has been due for longer already. A lease stays one, which then has run out.
local function makeDue(run, now)
  run.due = math.min(run.due, now)
  if isLeased(run) then return end
  run.kind = 'wake'
  park(run, 'resuming')
end
`;
