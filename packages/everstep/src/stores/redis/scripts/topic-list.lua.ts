import { prelude } from "./prelude.lua.ts";
import { script } from "./script.ts";

/** A topic and how many wait on it, one after the other. False where the list is not known to be complete. */
const listTopics = `
local isAscending, after, limit = text() == 'asc', optional(), number()
if ask('HEXISTS', META, 'topics') == 0 then return false end
local from = after and '(' .. after
local topics
if isAscending then
  topics = ask('ZRANGEBYLEX', P .. 'topics', from or '-', '+', 'LIMIT', 0, limit)
else
  topics = ask('ZREVRANGEBYLEX', P .. 'topics', from or '+', '-', 'LIMIT', 0, limit)
end
local rows = {}
for _, topic in ipairs(topics) do
  rows[#rows + 1] = topic
  rows[#rows + 1] = ask('ZCARD', key('topic', topic))
end
return rows
`;

/** Topics of a time when there was no list of them; the last call says that there are no others. */
const addTopics = `
local isLast = text() == '1'
for _ = 1, number() do
  local topic = text()
  if ask('EXISTS', key('topic', topic)) == 1 then ask('ZADD', P .. 'topics', 0, topic) end
end
if isLast then ask('HSET', META, 'topics', '1') end
return 1
`;

export const listTopicsScript = script("listTopics", prelude, listTopics);
export const addTopicsScript = script("listTopics", prelude, addTopics);
