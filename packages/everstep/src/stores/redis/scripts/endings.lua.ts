/** How a run ends: it wants no turn any more, and what it ended with is kept apart from the hot fields. */
export const endings = `
local function retentionOf(run)
  return tonumber(ask('HGET', named('instance', run.workflow, run.instance), 'retention') or nil)
end

local function endRun(run, ending, now)
  local retention = retentionOf(run)
  run.status = ending.status
  run.dead = ending.dead
  run.lane = nil
  run.waitingSince = nil
  run.pausedAt = nil
  run.endedAt = now
  run.updatedAt = now
  run.keepUntil = retention and now + retention
  ask('SET', key('ending', run.id), ending.record)
  leaveTopics(run)
  nudge.ended = true
end
`;
