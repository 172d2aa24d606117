/**
 * What every script begins with. KEYS[1] is the namespace's `meta` key; every other key has the same prefix, and with it
 * the same hash tag, so that all of them lie in one slot. Arguments are flat and read in order.
 */
export const prelude = `
local META = KEYS[1]
local P = string.sub(META, 1, -5)
local ask = redis.call

local position = 0
local function text()
  position = position + 1
  return ARGV[position]
end
-- nil for an empty text
local function number() return tonumber(text()) end
-- '-' is nil, '+...' is a text, so that the empty text is one too
local function optional()
  local given = text()
  if given == '-' then return nil end
  return string.sub(given, 2)
end

-- tostring would give 1.75e+12
local function digits(n) return string.format('%.0f', n) end
local function wide(n) return string.format('%016.0f', n) end

local function key(kind, name) return P .. kind .. ':' .. name end
-- Names may contain anything: the length of the first says where the second begins.
local function named(kind, workflow, instance)
  return P .. kind .. ':' .. #workflow .. ':' .. workflow .. ':' .. instance
end

local state = redis.pcall('HMGET', META, 'epoch', 'floor')
if state.err or state[1] ~= text() then
  return redis.error_reply('EVERSTEPGONE the data of this namespace was removed or replaced')
end
-- The smallest token that may be given out: above every one that was given before the server lost its last writes.
local tokenFloor = tonumber(state[2]) or 0
-- Whom nudges come from.
local sender = text()
`;
