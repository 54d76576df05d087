-- The records: their places in the string of the swarm, and the removal of those that expired.

local function record(at)
  return call('GETRANGE', s.p, decimal(at * RECORD), decimal(at * RECORD + RECORD - 1))
end

local function place(at, bytes)
  local name = sub(bytes, 1, NAME)
  call('SETRANGE', s.p, decimal(at * RECORD), bytes)
  call('HSET', s.h, name, pack('>I3', at) .. sub(call('HGET', s.h, name), 4))
end

local function part_of(at)
  return at < s.seeders and SEEDERS or at < s.seeders + s.others and OTHERS or SOCKETS_ONLY
end

-- Closes a gap: the last of the same part moves into it, and the last of each part behind that into the next gap.
local function vacate(at)
  local part, others, last = part_of(at), s.seeders + s.others - 1, places() - 1
  if part == SEEDERS then
    local edge = s.seeders - 1
    if at ~= edge then place(at, record(edge)) end
    at, s.seeders = edge, edge
  elseif part == OTHERS then
    s.others = s.others - 1
  else
    s.sockets = s.sockets - 1
  end
  if part ~= SOCKETS_ONLY then
    if at ~= others then place(at, record(others)) end
    at = others
  end
  if at ~= last then place(at, record(last)) end
  local used = last * RECORD
  if last > 0 and call('STRLEN', s.p) > used * 2 + 1024 then
    call('SET', s.p, call('GETRANGE', s.p, '0', decimal(used - 1)))
  end
end

-- Makes room for one record. Redis would double a string that grows; up to SMALL places it grows by an eighth, so that
-- many small swarms do not hold half as much again in reserve.
local function occupy(part)
  local last = places()
  local used = last * RECORD
  if last > 0 and last < SMALL and call('STRLEN', s.p) <= used then
    call('SET', s.p, call('GETRANGE', s.p, '0', decimal(used - 1)) .. rep('\0', floor(last / 8 + 1) * RECORD))
  end
  if part == SOCKETS_ONLY then
    s.sockets = s.sockets + 1
    return last
  end
  if s.sockets > 0 then
    local edge = s.seeders + s.others
    place(last, record(edge))
    last = edge
  end
  if part == OTHERS then
    s.others = s.others + 1
    return last
  end
  if s.others > 0 then place(last, record(s.seeders)) end
  s.seeders = s.seeders + 1
  return s.seeders - 1
end

-- Keeps the counters of a peer of the open swarm that expired, so that it is credited what it transferred when it comes
-- back.
local function remember(owner, id, up, down, last)
  if settings.keep_counters == 0 then return end
  local week = key_of('k:') .. floor(settings.now / WEEK)
  call('HSET', week, s.hash .. owner .. id, pack(REMEMBERED, up, down, last))
  call('EXPIRE', week, settings.keep_counters + WEEK)
end

-- Removes an expired peer.
local function forget(at, bytes)
  local name = sub(bytes, 1, NAME)
  if settings.keep_counters > 0 then
    local value = call('HGET', s.h, name)
    local _, up, down, last4, last6 = read_peer(value)
    remember(sub(name, 1, 8), sub(value, ID_FROM, ID_TO), up, down, max(last4, last6))
  end
  call('HDEL', s.h, name)
  vacate(at)
end

-- Removes expired records, from the clock hand on, until there is none or the steps are used up.
local function sweep(steps)
  for _ = 1, steps do
    local total = places()
    if total <= s.complete + s.incomplete then return end
    if s.hand >= total then s.hand = 0 end
    local bytes = record(s.hand)
    if read('>I3', bytes, 17) < s.folded then forget(s.hand, bytes) else s.hand = s.hand + 1 end
  end
end
