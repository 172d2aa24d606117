/**
 * Numbers of new runs, taken for all of a batch at once. A server that lost its newest writes must not give out again what
 * it gave before, so there is a gap before them whose length follows from what is created. Needs `now`.
 */
export const runIds = `
local GAPS = 16384
local lastId, idsLeft = 0, 0

local function takeIds(count, seed)
  local gap = tonumber(string.sub(redis.sha1hex(digits(now) .. ' ' .. seed), 1, 8), 16) % GAPS
  idsLeft = count
  lastId = ask('HINCRBY', META, 'lastRun', digits(gap + count)) - count
  return lastId + 1
end

local function nextId(count, workflow, instance)
  if idsLeft == 0 then takeIds(math.max(1, count), workflow .. ' ' .. instance) end
  lastId = lastId + 1
  idsLeft = idsLeft - 1
  return digits(lastId)
end
`;
