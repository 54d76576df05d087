-- The functions that a client of Redis calls.

local function read_settings(bytes)
  if not call then
    call, sub, rep, floor, max, min = redis.call, string.sub, string.rep, math.floor, math.max, math.min
    concat, spread, pack, read = table.concat, unpack, struct.pack, struct.unpack
  end
  settings.now, settings.ttl, settings.min_interval, settings.repeat_window, settings.recovery_interval,
    settings.max_peers, settings.keep_counters, settings.max_rate = read(SETTINGS, bytes)
  settings.minute = floor((settings.now - EPOCH) / MINUTE)
end

-- keys: {xx}:h:<info hash> of each announce; args: SETTINGS, the ANNOUNCEs one behind the other. Returns their RESULTs
-- likewise, each behind its length: one long string costs a client far less to read than many short ones.
redis.register_function('announce_VERSION', function(keys, args)
  read_settings(args[1])
  local results, announces = {}, args[2]
  for i = 1, #keys do
    local result = announce(keys[i], sub(announces, (i - 1) * ANNOUNCE_LENGTH + 1, i * ANNOUNCE_LENGTH))
    results[i * 2 - 1], results[i * 2] = pack('>I4', #result), result
  end
  return concat(results)
end)

-- keys: {xx}:h:<info hash> of each swarm; args: SETTINGS, then the database's count of completions of each.
redis.register_function('scrape_VERSION', function(keys, args)
  read_settings(args[1])
  local results = {}
  for i = 1, #keys do
    local entry = call('HGET', keys[i], '#')
    local completed = tonumber(args[i + 1])
    open(keys[i], entry, completed)
    if entry and s.folded < settings.minute and places() > 0 then
      fold()
      if counts_changed() and settings.keep_counters > 0 then call('SADD', key_of('dirty'), s.hash) end
      close(0)
    end
    results[i] = pack('>I4I4I4I4', s.complete, s.incomplete, s.paused, s.completed)
  end
  return results
end)

-- keys: {xx}:x; args: SETTINGS, how many records to look at. Removes expired peers of swarms in which nobody announces.
-- Returns 1 when there is more to do.
redis.register_function('sweep_VERSION', function(keys, args)
  read_settings(args[1])
  local steps = tonumber(args[2])
  local tag = sub(keys[1], 1, 5)
  for _, hash in ipairs(call('ZRANGEBYSCORE', keys[1], '-inf', settings.now, 'LIMIT', 0, 64)) do
    if steps <= 0 then return 1 end
    local entry = call('HGET', tag .. 'h:' .. hash, '#')
    open(tag .. 'h:' .. hash, entry, 0)
    if entry then
      fold()
      local expired = s.seeders + s.others - s.complete - s.incomplete
      sweep(min(steps, expired + s.complete + s.incomplete))
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
redis.register_function('evict_VERSION', function(keys, args)
  read_settings(args[1])
  local process, steps = args[2], tonumber(args[3])
  local hash = call('SRANDMEMBER', keys[1])
  if not hash then return 0 end
  local key = sub(keys[1], 1, 5) .. 'h:' .. hash
  open(key, call('HGET', key, '#'), 0)
  fold()
  local clients = call('HRANDFIELD', sockets_of(process), steps)
  for i = 1, #clients do
    a.owner, a.id = sub(clients[i], 1, 8), sub(clients[i], 9)
    note_socket(process, noted_role(process), nil)
    local name, value = find(call('HGET', key, a.owner .. '\0\0'))
    local at, _, _, _, _, flags, expires = 0, nil, nil, nil, nil, 0, nil
    if value then at, _, _, _, _, flags, expires = read_peer(value) end
    if name and value and part_of(at) == SOCKETS_ONLY then
      recount(expires, flags, nil, 0)
      if written > 0 then call('HSET', key, spread(writes, 1, written)) end
      written = 0
      forget(at, record(at))
    end
  end
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
