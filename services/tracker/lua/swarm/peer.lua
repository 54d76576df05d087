-- The announcing peer: its index entry, its counters, its timing and its record.

-- Finds the index entry of this client among those of its owner: its name and value, or only a free name.
local function find(first)
  local name = a.owner .. '\0\0'
  if first and sub(first, ID_FROM, ID_TO) == a.id then return name, first end
  local free = not first and name or nil
  if settings.max_peers > 1 then
    local names = {}
    for i = 1, settings.max_peers - 1 do names[i] = a.owner .. pack('>I2', i) end
    local values = call('HMGET', s.h, spread(names))
    for i = 1, #names do
      if not values[i] then
        free = free or names[i]
      elseif sub(values[i], ID_FROM, ID_TO) == a.id then
        return names[i], values[i]
      end
    end
  end
  return free
end

-- Frees an index entry of this owner: an expired one or, with EVICTS, the one with the oldest announce.
local function free_entry()
  local oldest, oldest_last
  for i = 0, settings.max_peers - 1 do
    local name = a.owner .. pack('>I2', i)
    local at, _, _, last4, last6, _, expires = read_peer(call('HGET', s.h, name))
    if expires < s.folded then
      forget(at, record(at))
      return name
    end
    if not oldest or max(last4, last6) < oldest_last then oldest, oldest_last = name, max(last4, last6) end
  end
  if not has(a.options, EVICTS) then return nil end
  local at, _, _, _, _, flags, expires = read_peer(call('HGET', s.h, oldest))
  recount(expires, flags, nil, 0)
  if written > 0 then call('HSET', s.h, spread(writes, 1, written)) end
  written = 0
  call('HDEL', s.h, oldest)
  vacate(at)
  return oldest
end

-- The counters of this peer from before it expired, unless they are older than they are kept. Removes them.
local function recall_counters()
  local field = s.hash .. a.owner .. a.id
  local week = floor(settings.now / WEEK)
  for i = week, floor((settings.now - settings.keep_counters) / WEEK), -1 do
    local key = key_of('k:') .. i
    local value = call('HGET', key, field)
    if value then
      call('HDEL', key, field)
      local up, down, last = read(REMEMBERED, value)
      if settings.now - last <= settings.keep_counters then return up, down, last end
      return nil
    end
  end
  return nil
end

-- Whether a time is further ahead than clocks that are set may differ: the clock went back since.
local function is_future(second)
  return second > settings.now + settings.repeat_window
end

-- Whether this announce comes from another address or port than the peer's last one, in each family that it names.
local function is_elsewhere(at, last4, last6)
  local bytes = record(at)
  if has(a.families, IPV4) and last4 > 0 and sub(bytes, 11, 16) == a.ipv4 then return false end
  if has(a.families, IPV6) and last6 > 0 and sub(bytes, 20, 37) == a.ipv6 then return false end
  return has(a.families, IPV4) and last4 > 0 or has(a.families, IPV6) and last6 > 0
end

-- Whether this announce repeats the last one, or comes before it should. One with a new address, family, role or event
-- is never too soon. Returns the second of the peer's previous announce with it.
local function check_timing(at, last4, last6, flags, seeder, paused)
  if a.event == STARTED or a.event == COMPLETED or a.state == STOPPED then return nil end
  if seeder ~= has(flags, IS_SEEDER) or paused ~= has(flags, IS_PAUSED) then return nil end
  local last = a.families == IPV4 and last4 or a.families == IPV6 and last6 or min(last4, last6)
  local interval = has(flags, IS_RECOVERING) and settings.recovery_interval or settings.min_interval
  local passed = settings.now - last
  if last == 0 or passed >= interval or passed < 0 and is_future(last) then return nil end
  local bytes = record(at)
  if has(a.families, IPV4) and sub(bytes, 11, 16) ~= a.ipv4 then return nil end
  if has(a.families, IPV6) and sub(bytes, 20, 37) ~= a.ipv6 then return nil end
  return passed <= settings.repeat_window and 'repeated' or 'too_soon', last
end

-- A share in per cent, fractions dropped: of hundreds and the rest apart, since the product of both may be more than a
-- number holds exactly.
local function share(bytes, percent)
  if percent == 100 then return bytes end
  local rest = bytes % 100
  return (bytes - rest) / 100 * percent + floor(rest * percent / 100)
end

-- Adds what the user transferred to what waits for the next flush.
local function account(up, down, seconds)
  local key = key_of('du')
  local value = call('HGET', key, a.account)
  local credited_up, credited_down, all_up, all_down, seeding, roles, completed_at, first =
    0, 0, 0, 0, 0, 0, 0, settings.now
  if value then
    local _
    credited_up, credited_down, all_up, all_down, seeding, _, _, roles, completed_at, first = read(DELTA, value)
    roles = roles - roles % LEECHED
  end
  if a.left > 0 and a.state ~= STOPPED and roles % SNATCHED < LEECHED then roles = roles + LEECHED end
  -- Whether one that nothing was left before is a snatch, the database knows: something may have been left earlier.
  if a.event == COMPLETED and a.state == SEEDER and not has(roles, SNATCHED) then
    if has(roles, LEECHED) then
      roles, completed_at = roles + SNATCHED, settings.now
    elseif completed_at == 0 then
      completed_at = settings.now
    end
  end
  call('HSET', key, a.account, pack(DELTA,
    credited_up + share(up, a.up_percent), credited_down + share(down, a.down_percent),
    all_up + up, all_down + down, seeding + seconds, settings.now, a.left, a.state + roles, completed_at, first))
end

-- Writes the record of the announcing peer, at its old place or a new one. An address of the other family is kept
-- until it was not confirmed for the time a peer lives.
local function write_record(name, value, at, part, expires, last4, last6)
  local ipv4, ipv6, minute = a.ipv4, a.ipv6, pack('>I3', expires)
  local keeps4 = not has(a.families, IPV4) and last4 > 0
  local keeps6 = not has(a.families, IPV6) and last6 > 0
  local stays = value and part_of(at) == part
  if stays and part == SOCKETS_ONLY then
    call('SETRANGE', s.p, decimal(at * RECORD + 16), minute)
    return at
  elseif stays and a.families > 0 then
    if keeps4 then
      call('SETRANGE', s.p, decimal(at * RECORD + 16), minute .. ipv6)
    elseif keeps6 then
      call('SETRANGE', s.p, decimal(at * RECORD + NAME), ipv4 .. minute)
    else
      call('SETRANGE', s.p, decimal(at * RECORD + NAME), ipv4 .. minute .. ipv6)
    end
    return at
  end
  if part == SOCKETS_ONLY then
    ipv4, ipv6 = NO_IPV4, NO_IPV6
  elseif value then
    local old = record(at)
    if keeps4 then ipv4 = sub(old, 11, 16) end
    if keeps6 then ipv6 = sub(old, 20, 37) end
  end
  if not stays then
    if value then vacate(at) end
    at = occupy(part)
  end
  call('SETRANGE', s.p, decimal(at * RECORD), name .. ipv4 .. minute .. ipv6)
  return at
end
