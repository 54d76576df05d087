-- The functions that src/swarm/swarm.redis.ts calls. Each starts with `read_settings`. A full Redis runs those that
-- free memory, or lead to it (`allow-oom`), and refuses the others before they start.

local function register(name, flags, callback)
  redis.register_function({ function_name = name, flags = flags, callback = callback })
end

-- Runs a function on a swarm. A damaged swarm must not affect others in the call, so it is discarded, and the function
-- runs again on an empty one.
local function healed(swarm, carry_out, ...)
  local pieces = replied
  local ok, result = pcall(carry_out, ...)
  if ok then return result end
  for i = pieces + 1, replied do reply[i] = nil end
  replied = pieces
  discard(swarm)
  return carry_out(...)
end

-- Opens a swarm without an announce. Returns whether it exists.
local function open_swarm(key)
  local header = call('HGET', key, '#')
  open(key, header, 0)
  sweep_small()
  return header
end

-- Counts the peers of a swarm for a scrape. Returns a RESULT with the paused peers in place of the last announce.
local function scrape(bytes, position)
  if open_swarm(sub(bytes, position, position + KEY_LENGTH - 1)) then close(0) end
  local complete, paused = size[SEEDERS] + size[SEEDERS + SOCKETS_ONLY], size[PAUSED] + size[PAUSED + SOCKETS_ONLY]
  local known_completed = read('>I4', bytes, position + COMPLETED_AT)
  return pack(RESULT, ACCEPTED, 0, complete, total - complete, max(completed, known_completed), paused, NOWHERE, now, 0)
end

-- keys: {xx}:s:<info hash> of the first announce; args: SETTINGS, the concatenated ANNOUNCEs, all of one Cluster slot.
-- Returns their concatenated RESULTs, then the pieces of each, whose number is in its RESULT. Over HTTP, these are the
-- positions of the owner's other peers among the picked (WITH_SIBLINGS), the picked IPv4 endpoints, as many IPv6
-- endpoints (WITH_IPV6), and the peer ids if requested. Over a socket, they are the SOCKETS of every process, or the
-- process that has the peer's socket (HELD).
local function announce_all(_, args)
  read_settings(args[1])
  reply, replied = {}, 1
  local results, announces = {}, args[2]
  for position = 1, #announces, ANNOUNCE_LENGTH do
    local carry_out = string.byte(announces, position + PURPOSE_AT) == SCRAPES and scrape or announce
    results[#results + 1] = healed(sub(announces, position, position + KEY_LENGTH - 1), carry_out, announces, position)
  end
  reply[1] = concat(results)
  return reply
end
register('announce_VERSION', {}, announce_all)
-- The same for scrapes and announces of stopping peers.
register('stop_VERSION', { 'allow-oom' }, announce_all)

-- keys: any on the server of a swarm. Does nothing, and succeeds if an announce could run.
register('probe_VERSION', {}, function() return 1 end)

-- Continues the sweep of a swarm: '~' contains the next cursor and the earliest expiry so far. Returns the number of
-- peers before.
local function sweep_swarm(swarm)
  local found = call('HMGET', swarm, '#', '~')
  open(swarm, found[1], 0)
  local before = total
  if not found[1] then
    call('ZREM', tag .. 'x', hash)
    -- Until 2027-06: leftovers of the previous layout.
    call('UNLINK', tag .. 'h:' .. hash, tag .. 'p:' .. hash, tag .. 'o')
    return before
  end
  local cursor, earliest = '0', now + ttl + 1
  if found[2] then cursor, earliest = string.match(found[2], '(%d+) (%d+)') end
  cursor, earliest = sweep_step(cursor, tonumber(earliest))
  if cursor == '0' then
    if found[2] then call('HDEL', key, '~') end
    if total == 0 then completed = 0 end
    -- This keeps sweeps of large swarms a small share of the load on Redis.
    set_next(max(earliest, now + max(SWEEP_EVERY, floor(total / SWEPT_A_SECOND))))
  else
    call('HSET', key, '~', cursor .. ' ' .. earliest)
  end
  close(0)
  return before
end

-- keys: {xx}:x; args: SETTINGS. Removes expired peers from swarms that are due: some small ones, or a part of a large
-- one. Returns 1 if there are more.
register('sweep_VERSION', { 'allow-oom' }, function(keys, args)
  read_settings(args[1])
  local due = call('ZRANGEBYSCORE', keys[1], '-inf', now, 'LIMIT', 0, STEP / SWARM_COST)
  -- Removes what wrong clocks have written.
  if #due == 0 then due = call('ZRANGEBYSCORE', keys[1], now + ttl + FURTHEST, '+inf', 'LIMIT', 0, STEP / SWARM_COST) end
  local seen = 0
  for i = 1, #due do
    if seen >= STEP then return 1 end
    local swarm = sub(keys[1], 1, 5) .. 's:' .. due[i]
    seen = seen + SWARM_COST + healed(swarm, sweep_swarm, swarm)
  end
  return seen >= STEP and 1 or 0
end)

-- keys: {xx}:s:<info hash> of a swarm; args: SETTINGS, a stopped process, a cursor. Expires the peers of the process in
-- the swarm, unless they also announce over HTTP. Returns the next cursor, '0' at the end.
register('evict_VERSION', { 'allow-oom' }, function(keys, args)
  read_settings(args[1])
  local process, cursor = args[2], '0'
  if open_swarm(keys[1]) then
    cursor = visit(args[3], function(name)
      if p_process ~= process then return end
      if p_last4 + p_last6 == 0 then remove(name, true) else store(name, p_flags, p_last4, p_last6, nil, nil, nil) end
    end)
    close(0)
  end
  if cursor == '0' then
    call('HDEL', tag .. 'n:' .. hash, process)
    call('SREM', tag .. 'm:' .. process, hash)
    -- Until 2027-06: leftovers of the previous layout.
    call('UNLINK', tag .. 'w:' .. hash .. process)
  end
  return cursor
end)

-- keys: {xx}:s:<info hash> of each swarm; args: SETTINGS, an owner. Expires the peers of the owner that announce over
-- HTTP. Their process closes sockets.
register('expel_VERSION', { 'allow-oom' }, function(keys, args)
  read_settings(args[1])
  for i = 1, #keys do
    if open_swarm(keys[i]) then
      for slot = 0, max_peers - 1 do
        local name = name_of(args[2], slot)
        local value = call('HGET', keys[i], name)
        if value then read_peer(value) end
        if value and p_last4 + p_last6 > 0 then remove(name, true) end
      end
      close(0)
    end
  end
  return 1
end)

-- keys: {xx}:s:<info hash>; args: SETTINGS, the first place, a count. Returns the number of all places, the time, the
-- concatenated names and IPv6 endpoints of these places, and the PEER of each.
register('peers_VERSION', { 'no-writes' }, function(keys, args)
  read_settings(args[1])
  open(keys[1], call('HGET', keys[1], '#'), 0)
  local first = tonumber(args[2])
  local stop = min(first + tonumber(args[3]), total)
  if first >= stop then return { total, now, '', '' } end
  local names, values = peers_between(first, stop)
  local endpoints = has_ipv6 and read_column(SIX, first, stop) or rep(NO_IPV6, stop - first)
  return { total, now, concat(names), endpoints, spread(values) }
end)

-- keys: {xx}:x; args: SETTINGS. Drops the oldest counters of expired peers, unless this tag has data for the database,
-- whose flush also frees memory. Returns 1 if it dropped some.
register('relieve_VERSION', { 'allow-oom' }, function(keys, args)
  read_settings(args[1])
  local tag = sub(keys[1], 1, 5)
  if call('EXISTS', tag .. 'flushing', tag .. 'du', tag .. 'dirty') > 0 then return 0 end
  for week = floor((now - keep_counters) / WEEK), floor(now / WEEK) do
    if call('UNLINK', tag .. 'k:' .. week) == 1 then return 1 end
  end
  return 0
end)
