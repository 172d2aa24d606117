/**
 * The author's commands, run before the engine's own writes. Redis takes nothing back by itself, so what the commands
 * will touch is kept aside first; when one of them fails, everything is put back as it was. A key too large to be kept
 * aside in passing is the exception, and the answer names it.
 */
export const mutations = `
local KEPT_ITEMS_MAX, KEPT_BYTES_MAX = 10000, 1048576
local SIZES = { hash = 'HLEN', list = 'LLEN', set = 'SCARD', zset = 'ZCARD', stream = 'XLEN' }

local function readMutations()
  local mutations = { kind = text() }
  if mutations.kind ~= 'commands' then return mutations end
  for n = 1, number() do
    local command = { isInsert = text() == 'insert' }
    for m = 1, number() do command[m] = text() end
    mutations[n] = command
  end
  return mutations
end

local function refuse(command, reason) return { 'mutation-failed', 'refused', string.upper(command[1]), reason } end

-- Also finds unknown commands and wrong numbers of arguments.
local function keysOf(command)
  local keys = redis.pcall('COMMAND', 'GETKEYS', unpack(command))
  if not keys.err then return keys end
  if string.upper(command[1]) == 'PUBLISH' then return {} end
  return nil, keys.err
end

-- Of all keys before anything is written. On a cluster the node has only those that lie beside the store's own.
local function findFault(commands)
  local written = {}
  for _, command in ipairs(commands) do
    local keys, reason = keysOf(command)
    if not keys then return refuse(command, reason) end
    command.keys = keys
    for _, name in ipairs(keys) do
      if string.sub(name, 1, #P) == P then
        return refuse(command, 'keys that begin with "' .. P .. '" belong to everstep')
      end
      local there = redis.pcall('EXISTS', name)
      if type(there) == 'table' then
        return refuse(command, 'the key ' .. name .. ' cannot be reached from here; commands.key(name) gives one that can. '
          .. there.err)
      end
      if command.isInsert and there == 1 and not written[name] then return { 'mutation-failed', 'taken', name } end
    end
    for _, name in ipairs(keys) do written[name] = true end
  end
end

local function isTooLarge(name, kind)
  if kind == 'string' then return ask('STRLEN', name) > KEPT_BYTES_MAX end
  return SIZES[kind] ~= nil and ask(SIZES[kind], name) > KEPT_ITEMS_MAX
end

local function keepAside(kept, name)
  if kept[name] then return end
  local kind = ask('TYPE', name).ok
  if kind == 'none' then kept[name] = {}
  elseif isTooLarge(name, kind) then kept[name] = { lost = true }
  else kept[name] = { dump = ask('DUMP', name), ttl = math.max(0, ask('PTTL', name)) } end
end

-- Gives the names of those that could not be put back.
local function putBack(kept)
  local lost = {}
  for name, before in pairs(kept) do
    if before.lost then lost[#lost + 1] = name
    else
      redis.pcall('DEL', name)
      if before.dump then redis.pcall('RESTORE', name, before.ttl, before.dump) end
    end
  end
  return lost
end

-- The server's own trouble is no refusal of the author's command.
local function isTrouble(reason)
  for _, word in ipairs({ 'OOM', 'MISCONF', 'READONLY', 'NOREPLICAS' }) do
    if string.find(reason, word .. ' ', 1, true) then return true end
  end
  return false
end

local function runMutations(mutations)
  if mutations.kind == 'none' then return nil end
  local fault = findFault(mutations)
  if fault then return fault end
  local kept = {}
  for n, command in ipairs(mutations) do
    -- A command that fails changes nothing, so the last one needs no way back.
    if n < #mutations then
      for _, name in ipairs(command.keys) do keepAside(kept, name) end
    end
    local reply = redis.pcall(unpack(command))
    local isTaken = command.isInsert and not reply
    if isTaken or (type(reply) == 'table' and reply.err) then
      local lost = putBack(kept)
      if not isTaken and isTrouble(reply.err) then return redis.error_reply(reply.err) end
      local failed = isTaken and { 'mutation-failed', 'taken', command.keys[1] } or refuse(command, reply.err)
      for _, name in ipairs(lost) do failed[#failed + 1] = name end
      return failed
    end
  end
end
`;
