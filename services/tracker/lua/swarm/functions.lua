-- The functions that src/swarm/swarm.redis.ts calls. Each starts with `read_settings`. Those that free memory, or lead to
-- it, are carried out by a Redis that is full (`allow-oom`); it refuses the others before they begin.

local function register(name, flags, callback)
  redis.register_function({ function_name = name, flags = flags, callback = callback })
end

-- keys: {xx}:h:<info hash> of each announce; args: SETTINGS, the ANNOUNCEs one behind the other. Returns their RESULTs
-- likewise, then the pieces that belong to each: as many as its RESULT says.
local function announce_all(keys, args)
  read_settings(args[1])
  reply, replied = {}, 1
  local results, announces = {}, args[2]
  for i = 1, #keys do
    results[i] = announce(keys[i], announces, (i - 1) * ANNOUNCE_LENGTH + 1)
  end
  reply[1] = concat(results)
  return reply
end
register('announce_VERSION', {}, announce_all)
-- The same, for announces of peers that stop.
register('stop_VERSION', { 'allow-oom' }, announce_all)

-- keys: any of the swarms' server. Does nothing, where an announce would be carried out.
register('probe_VERSION', {}, function() return 1 end)

-- keys: {xx}:h:<info hash> of each swarm; args: SETTINGS, then the database's count of completions of each.
register('scrape_VERSION', { 'allow-oom' }, function(keys, args)
  read_settings(args[1])
  local results = {}
  for i = 1, #keys do
    local completed = tonumber(args[i + 1])
    local entry = open_to_count(keys[i], completed)
    if entry and s.folded < settings.minute and places() > 0 then
      fold()
      if counts_changed() and settings.keep_counters > 0 then call('SADD', key_of('dirty'), s.hash) end
      close(0)
    end
    results[i] = pack('>I4I4I4I4', s.complete, s.incomplete, s.paused, s.completed)
  end
  return results
end)

-- keys: {xx}:o; args: SETTINGS, a cursor of HSCAN. Removes expired peers of swarms that have no other. Returns the next
-- cursor, 0 at the end.
register('sweep_lone_VERSION', { 'allow-oom' }, function(keys, args)
  read_settings(args[1])
  local tag = sub(keys[1], 1, 5)
  if args[2] == '0' then
    local due = call('ZSCORE', tag .. 'x', '')
    if due and tonumber(due) > settings.now and tonumber(due) <= settings.now + LONE_SWEEP_EVERY then return '0' end
  end
  local found = call('HSCAN', keys[1], args[2], 'COUNT', LONE_STEPS)
  sweep_lone(tag, found[2])
  if found[1] == '0' then
    if call('EXISTS', keys[1]) == 1 then
      call('ZADD', tag .. 'x', settings.now + LONE_SWEEP_EVERY, '')
    else
      call('ZREM', tag .. 'x', '')
    end
  end
  return found[1]
end)

-- keys: {xx}:x; args: SETTINGS, how many records to look at. Removes expired peers of swarms in which nobody announces.
-- Returns 1 when there is more to do.
register('sweep_VERSION', { 'allow-oom' }, function(keys, args)
  read_settings(args[1])
  local steps = tonumber(args[2])
  local tag = sub(keys[1], 1, 5)
  for _, hash in ipairs(call('ZRANGEBYSCORE', keys[1], '-inf', settings.now, 'LIMIT', 0, 64)) do
    if steps <= 0 then return 1 end
    local entry = call('HGET', tag .. 'h:' .. hash, '#')
    open(tag .. 'h:' .. hash, entry, 0)
    if entry then
      fold()
      local expired = places() - s.complete - s.incomplete
      sweep(min(steps, places()))
      steps = steps - expired - 1
      if settings.keep_counters > 0 and counts_changed() then call('SADD', key_of('dirty'), hash) end
      if places() == 0 then s.completed = 0 end
      if places() == 0 or places() == s.complete + s.incomplete then
        call('ZADD', keys[1], settings.now + settings.ttl + MINUTE, hash)
      end
      close(0)
    else
      call('ZREM', keys[1], hash)
    end
  end
  return #call('ZRANGEBYSCORE', keys[1], '-inf', settings.now, 'LIMIT', 0, 1)
end)

-- keys: {xx}:m:<process>; args: SETTINGS, the process, how many sockets to look at. Ends what a process has left behind
-- that is gone: its peers expire now. Returns 1 when there is more to do.
register('evict_VERSION', { 'allow-oom' }, function(keys, args)
  read_settings(args[1])
  local process, steps = args[2], tonumber(args[3])
  local hash = call('SRANDMEMBER', keys[1])
  if not hash then return 0 end
  local key = sub(keys[1], 1, 5) .. 'h:' .. hash
  open_any(key, 0)
  fold()
  local clients = call('HRANDFIELD', sockets_of(process), steps)
  for i = 1, #clients do end_socket(process, clients[i]) end
  -- Counted by mistake, or noted without being counted: nothing of the process may stay.
  if #clients < steps then
    call('DEL', sockets_of(process))
    call('HDEL', key_of('n:') .. hash, process)
    call('SREM', keys[1], hash)
  end
  if settings.keep_counters > 0 and counts_changed() then call('SADD', key_of('dirty'), hash) end
  close(0)
  return call('EXISTS', keys[1])
end)

-- keys: {xx}:h:<info hash>; args: SETTINGS, the place of the first peer, how many. Returns how many places there are, then
-- the RECORDs of these, then their PEERs in the same order, some of which may have expired, then the time.
register('peers_VERSION', { 'no-writes' }, function(keys, args)
  read_settings(args[1])
  local entry = call('HGET', keys[1], '#')
  if not entry then return peers_of_lone(call('HGET', lone_key(keys[1]), sub(keys[1], 8)), tonumber(args[2])) end
  local seeders, others = read('>I4I4', entry)
  local sockets = #entry < SOCKETS_AT + 3 and 0 or read('>I4', entry, SOCKETS_AT)
  local total, first = seeders + others + sockets, tonumber(args[2])
  local count = min(tonumber(args[3]), total - first)
  if count <= 0 then return { total, '', '', settings.now } end
  local key = sub(keys[1], 1, 5) .. 'p:' .. sub(keys[1], 8)
  local records = call('GETRANGE', key, first * RECORD, (first + count) * RECORD - 1)
  local names = {}
  for i = 1, #records, RECORD do names[#names + 1] = sub(records, i, i + NAME - 1) end
  local values = call('HMGET', keys[1], spread(names))
  for i = 1, #names do values[i] = values[i] or rep('\0', ID_TO) end
  return { total, records, concat(values), settings.now }
end)

-- keys: {xx}:h:<info hash> of each swarm; args: SETTINGS, an owner. Ends the peers of the owner that announce over HTTP,
-- as if they had expired; sockets are closed by their process.
register('expel_VERSION', { 'allow-oom' }, function(keys, args)
  read_settings(args[1])
  for i = 1, #keys do
    if open_any(keys[i], 0) then
      fold()
      for slot = 0, settings.max_peers - 1 do expel(args[2] .. pack('>I2', slot)) end
      if settings.keep_counters > 0 and counts_changed() then call('SADD', key_of('dirty'), s.hash) end
      close(0)
    end
  end
  return 1
end)

-- keys: {xx}:x; args: SETTINGS. Drops the counters of those who have been away longest, unless something of this tag
-- still waits to be written to the database, which frees memory too. Returns 1 when it dropped some.
register('relieve_VERSION', { 'allow-oom' }, function(keys, args)
  read_settings(args[1])
  local tag = sub(keys[1], 1, 5)
  if call('EXISTS', tag .. 'flushing', tag .. 'du', tag .. 'dirty') > 0 then return 0 end
  for week = floor((settings.now - settings.keep_counters) / WEEK), floor(settings.now / WEEK) do
    if call('UNLINK', tag .. 'k:' .. week) == 1 then return 1 end
  end
  return 0
end)
