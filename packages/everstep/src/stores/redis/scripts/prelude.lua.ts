import { createHash } from "node:crypto";

/** A Lua text and the name under which the server keeps it. */
export interface Script {
  /** The verb it serves, for messages. */
  readonly name: string;
  readonly lua: string;
  readonly sha: string;
}

/** Puts a script together from its parts, each of which may use those before it. */
export function script(name: string, ...parts: readonly string[]): Script {
  const lua = parts.join("");
  return { name, lua, sha: createHash("sha1").update(lua).digest("hex") };
}

/**
 * What every script begins with. KEYS[1] is the namespace's `meta` key; every other key has the same prefix, and with it
 * the same hash tag, so that all of them lie in one slot of a cluster. KEYS[2] is `never`, which keeps scripts from running
 * while that slot moves (`scriptKeys` in server/connection.ts). Arguments are flat and read in order.
 *
 * The keys, behind `{namespace}:`. What users name stands last, or has its length before it; no key has a time to live.
 *
 *   meta                       hash    version, oldest, epoch, server; number of the last run; waited (quick.lua.ts)
 *   never                      none    must not be there
 *   workflows                  set     names of workflows that have instances
 *   instance:<n>:<wf>:<id>     hash    params, times, parent; `run` the current one, `run:<number>` each (n: bytes of wf)
 *   changes:<n>:<wf>:<id>      hash    change id -> what was answered
 *   run:<run>                  hash    the hot fields (records/run-fields.ts)
 *   steps:<run>                hash    index -> record
 *   waits:<run>                hash    index -> end, key, type and topic of an open wait
 *   events:<run>               hash    sequence -> topic and payload
 *   event-states:<run>         hash    sequence -> id, type, addressee, delivery
 *   unread:<run>               zset    sequences of undelivered events
 *   logs:<run>                 list    lines, the first is 1
 *   ending:<run>               string  output, error or reason
 *   due:<lane>:<wf>            zset    runs by due time; one set per lane (run.lua.ts)
 *   status:<class>:<wf>        zset    places of instances (creation time, number), ordered as texts; dead letters apart
 *   owner:<owner>              set     unfinished runs it was the last to hold
 *   topic:<topic>              zset    open waits (run, index), ordered as texts
 *   topics                     zset    topics with open waits, ordered as texts; complete where meta has the field `topics`
 *   prune                      zset    numbers of ended instances by the end of their retention
 *   event-ids                  hash    instance and event id -> run
 *   publications               hash    topic and publication id -> whom it reached
 *   publication-ages           zset    the same by creation
 *   runners                    hash    owner -> facts, as JSON
 *   runners-seen               zset    owners by when they were seen last
 *   tally:<minute>             hash    a letter of the count, then the workflow -> how many (beats.lua.ts)
 *   tally-minutes              zset    minutes that have a tally
 *   nudge                      channel
 *
 * The epoch names the data: it is made with the namespace and never changes. A process that finds another one, or none,
 * has been put before other data than it began with, and writes nothing.
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

-- Numbers as texts; tostring would give 1.75e+12. Times are the same in request after request, so they are kept.
local texts = {}
local function digits(n)
  local known = texts[n]
  if known then return known end
  known = string.format('%.0f', n)
  texts[n] = known
  return known
end
-- Of a number in digits.
local function wide(n) return string.sub('000000000000000' .. n, -16) end
-- The number of an instance is that of its first run; it stands behind the time in its place.
local function serialOf(place) return string.sub(place, 18) end
local function runOfSerial(serial) return string.match(serial, '^0*(%d+)$') or serial end

local function key(kind, name) return P .. kind .. ':' .. name end
-- Names may contain anything: the length of the first says where the second begins.
local function named(kind, workflow, instance)
  return P .. kind .. ':' .. #workflow .. ':' .. workflow .. ':' .. instance
end

local epoch = redis.pcall('HGET', META, 'epoch')
if epoch ~= text() then
  return redis.error_reply('EVERSTEPGONE the data of this namespace was removed or replaced')
end
-- Whom nudges come from.
local sender = text()
`;

/** One hint per script for the other processes: who it comes from, and what there is to look for. It may get lost. */
export const nudge = `
local nudge = { due = false, changed = false, ended = false }

local function sendNudge()
  local kinds = (nudge.due and 'd' or '') .. (nudge.changed and 'c' or '') .. (nudge.ended and 'e' or '')
  if kinds == '' then return end
  redis.pcall('PUBLISH', P .. 'nudge', sender .. ' ' .. kinds)
end
`;

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
