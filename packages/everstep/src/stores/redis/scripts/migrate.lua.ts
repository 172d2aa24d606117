/** What runs before the namespace's epoch is known: looking at what is there, and making it what it should be. */
import { script } from "./prelude.lua.ts";

const common = `
local META = KEYS[1]
local kind = redis.call('TYPE', META).ok
local found = { false, false, false }
if kind == 'hash' then found = redis.call('HMGET', META, 'version', 'oldest', 'epoch') end
if kind ~= 'none' and not (found[1] and found[2] and found[3]) then
  return redis.error_reply('EVERSTEPFOREIGN the key ' .. META .. ' is not one of everstep')
end
local info = redis.pcall('INFO', 'server')
local server = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
`;

/** The first thing on every connection. */
const greet = "return { found[1], found[2], found[3], server }";

const migrate = `
local version, oldest, known = ARGV[1], ARGV[2], ARGV[3]
local epoch = found[3]
if known ~= '' and known ~= epoch then
  return redis.error_reply('EVERSTEPGONE the data of this namespace was removed or replaced')
end
local from = tonumber(found[1] or 0)
if from >= tonumber(version) then return { found[1], found[1], epoch, found[2] } end
if not epoch then
  local time = redis.call('TIME')
  epoch = redis.sha1hex(META .. server .. time[1] .. ' ' .. time[2])
  -- There are no topics yet that its list could lack.
  redis.call('HSET', META, 'topics', '1')
end
redis.call('HSET', META, 'version', version, 'oldest', oldest, 'epoch', epoch, 'server', server)
return { string.format('%.0f', from), version, epoch, oldest }
`;

export const greetScript = script("connect", common, greet);
export const migrateScript = script("migrate", common, migrate);
