/** An instance with the facts of one of its runs, as a flat list in the order that `instance-record.ts` reads. */
export const record = `
local INSTANCE = { 'params', 'marks', 'created', 'deadline', 'retention', 'parent' }
-- No instance has the first two.
local BRIEF = { '-', '-', 'created', 'deadline', 'retention', 'parent' }

local function timeText(value) return value and digits(value) or false end

-- In brief without params and output, which may be large: a record that has only an output is not read at all.
local function recordOf(run, isBrief)
  local instance = ask('HMGET', named('instance', run.workflow, run.instance), unpack(isBrief and BRIEF or INSTANCE))
  if isBrief then instance[1] = 'null' end
  local updatedAt = math.max(run.updatedAt or 0, run.stepAt or 0)
  local record = {
    run.workflow, run.instance, run.id, digits(run.number), run.status, run.lane or false, digits(run.due),
    digits(run.token), digits(run.crashes), run.begun or false, run.dead or false, timeText(run.startedAt),
    digits(updatedAt), timeText(run.pausedAt), timeText(run.endedAt), timeText(run.keepUntil),
    not (isBrief and run.status == 'complete') and ask('GET', key('ending', run.id)),
  }
  for n = 1, #INSTANCE do record[#record + 1] = instance[n] end
  record[#record + 1] = isUnlisted(run) and '1' or '0'
  return record
end
`;
