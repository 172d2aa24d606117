export const logs = `
local function readLogs()
  local lines = {}
  for n = 1, number() do lines[n] = text() end
  return lines
end

local function appendLogs(run, lines)
  for first = 1, #lines, 1000 do
    ask('RPUSH', key('logs', run.id), unpack(lines, first, math.min(first + 999, #lines)))
  end
end
`;
