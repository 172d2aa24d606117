/** Who runs, and how much gets done. */
import { prelude, script } from "./prelude.lua.ts";

/** The letter of each count before the name of its workflow. */
const letters = "cetsf";

const counts = `
local LETTERS = '${letters}'
local function tallyKey(minute) return key('tally', minute) end
`;

/** What is forgotten comes first: that needs no memory. */
const beat = `
local forgetBefore, limit = '(' .. text(), number()
for _, owner in ipairs(ask('ZRANGEBYSCORE', P .. 'runners-seen', '-inf', forgetBefore, 'LIMIT', 0, limit)) do
  ask('HDEL', P .. 'runners', owner)
  ask('ZREM', P .. 'runners-seen', owner)
end
for _, minute in ipairs(ask('ZRANGEBYSCORE', P .. 'tally-minutes', '-inf', forgetBefore, 'LIMIT', 0, limit)) do
  ask('UNLINK', tallyKey(minute))
  ask('ZREM', P .. 'tally-minutes', minute)
end
local owner, seenAt, facts = text(), text(), text()
ask('HSET', P .. 'runners', owner, facts)
ask('ZADD', P .. 'runners-seen', seenAt, owner)
for _ = 1, number() do
  local minute, workflow = text(), text()
  ask('ZADD', P .. 'tally-minutes', minute, minute)
  for n = 1, #LETTERS do
    local count = text()
    if count ~= '0' then ask('HINCRBY', tallyKey(minute), string.sub(LETTERS, n, n) .. workflow, count) end
  end
end
return 1
`;

/** Of those seen at the same moment the order is for the caller to make. */
const listRunners = `
local owners = ask('ZREVRANGE', P .. 'runners-seen', 0, number() - 1)
if #owners == 0 then return owners end
return ask('HMGET', P .. 'runners', unpack(owners))
`;

/** A minute and its counts, flat; at most `limit` minutes. */
const readTallies = `
local from, to, limit = text(), '(' .. text(), number()
local workflow = optional()
local found = {}
for _, minute in ipairs(ask('ZRANGEBYSCORE', P .. 'tally-minutes', from, to, 'LIMIT', 0, limit)) do
  local sums = {}
  for n = 1, #LETTERS do sums[n] = 0 end
  local seen = false
  local function add(n, count)
    seen = true
    sums[n] = sums[n] + tonumber(count)
  end
  if workflow then
    for n = 1, #LETTERS do
      local count = ask('HGET', tallyKey(minute), string.sub(LETTERS, n, n) .. workflow)
      if count then add(n, count) end
    end
  else
    local pairs = ask('HGETALL', tallyKey(minute))
    for place = 1, #pairs, 2 do
      local n = string.find(LETTERS, string.sub(pairs[place], 1, 1), 1, true)
      if n then add(n, pairs[place + 1]) end
    end
  end
  local row = { minute, seen and '1' or '0' }
  for n = 1, #LETTERS do row[n + 2] = digits(sums[n]) end
  found[#found + 1] = row
end
return found
`;

export const beatScript = script("beat", prelude, counts, beat);
export const listRunnersScript = script("listRunners", prelude, counts, listRunners);
export const readTalliesScript = script("readTallies", prelude, counts, readTallies);
