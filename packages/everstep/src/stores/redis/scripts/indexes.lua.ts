/**
 * The sets that lead to runs. Verbs say where a run stands now; what they said is written when the script ends, one
 * command per set, the last word about a run being the one that counts. So nothing may read these sets in between
 * without `saveIndexes` before it, and a script that fails half-way still saves what its earlier requests said.
 */
export const indexes = `
-- By kind, name (false where there is but one) and member: the score, or false for one that shall not be there.
local indexes = {}

local function index(kind, name, member, score)
  local names = indexes[kind]
  if not names then
    names = {}
    indexes[kind] = names
  end
  local members = names[name]
  if not members then
    members = {}
    names[name] = members
  end
  members[member] = score
end

-- In parts, of as many as a call takes with certainty. Gives the failure, if there is one.
local function askInParts(command, name, values)
  for first = 1, #values, 2000 do
    local reply = redis.pcall(command, name, unpack(values, first, math.min(first + 1999, #values)))
    if type(reply) == 'table' and reply.err then return reply end
  end
end

local function saveIndex(kind, name, members)
  local isScored = kind ~= 'owner'
  local there, gone, last, lastGone = {}, {}, 0, 0
  for member, score in pairs(members) do
    if not score then
      lastGone = lastGone + 1
      gone[lastGone] = member
    else
      if isScored then
        last = last + 1
        there[last] = score
      end
      last = last + 1
      there[last] = member
    end
  end
  return askInParts(isScored and 'ZREM' or 'SREM', name, gone) or askInParts(isScored and 'ZADD' or 'SADD', name, there)
end

-- All of them, also when one is damaged; what that one answered is the answer of the script.
local indexFailure
local function saveIndexes()
  local unsaved = indexes
  indexes = {}
  for kind, names in pairs(unsaved) do
    for name, members in pairs(names) do
      indexFailure = saveIndex(kind, name and P .. kind .. ':' .. name or P .. kind, members) or indexFailure
    end
  end
end

local function savingIndexes(act)
  local isDone, answer = pcall(act)
  saveIndexes()
  -- What a command answered: raised once more it would lose its first word, by which callers know it.
  if not isDone then return type(answer) == 'table' and answer or redis.error_reply(answer) end
  return indexFailure or answer
end
`;
