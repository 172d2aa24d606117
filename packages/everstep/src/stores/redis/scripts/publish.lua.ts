export const publish = `
local function readPublish()
  return { id = text(), topic = text(), record = text(), createdAt = number() }
end

-- Waits that are registered, not over now and not spoken for; paused runs are among them, ended ones are not.
local function waitersOf(topic, now)
  local waiters = {}
  for _, name in ipairs(ask('ZRANGE', key('topic', topic), 0, -1)) do
    local run = readRun(runOfSerial(string.sub(name, 1, 16)))
    local index = digits(tonumber(string.sub(name, 17)))
    local wait = run and waitsOf(run)[index]
    if wait and wait.wakeAt >= now and not TERMINAL[run.status] and not isSpokenFor(run, wait.key) then
      waiters[#waiters + 1] = { run = run, index = index, key = wait.key }
    end
  end
  return waiters
end

-- One ordinary event for every wait on the topic, addressed to that wait, so that no other takes it.
local function publish(request, now)
  -- Ids belong to their topic. Of those of earlier versions nobody knows the topic any more.
  local name = '~' .. #request.topic .. ':' .. request.topic .. ':' .. request.id
  local known = ask('HMGET', P .. 'publications', name, request.id)
  local earlier = known[1] or (string.sub(request.id, 1, 1) ~= '~' and known[2])
  if earlier then return { 'published', earlier, '1' } end
  local ids, known = {}, {}
  local waiters = waitersOf(request.topic, now)
  for _, waiter in ipairs(waiters) do
    local run = waiter.run
    local event = {
      id = request.id .. ':' .. run.id .. ':' .. waiter.index, createdAt = request.createdAt, system = false,
      forStep = waiter.key,
    }
    acceptEvent(run, event, request.record, now)
    if not known[run.id] then ids[#ids + 1] = run.id end
    known[run.id] = true
  end
  local report = #waiters .. ':' .. table.concat(ids, ',')
  ask('HSET', P .. 'publications', name, report)
  ask('ZADD', P .. 'publication-ages', digits(request.createdAt), name)
  return { 'published', report, '0' }
end
`;
