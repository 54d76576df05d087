-- The records: their places in the string of the swarm, and the removal of those that expired.

local function record(at)
  return call('GETRANGE', s.p, at * RECORD, at * RECORD + RECORD - 1)
end

local function place(at, bytes)
  local name = sub(bytes, 1, NAME)
  call('SETRANGE', s.p, at * RECORD, bytes)
  call('HSET', s.h, name, pack('>I3', at) .. sub(call('HGET', s.h, name), 4))
end

-- Closes a gap: the last of the same role moves into it, and the last of all behind that one.
local function vacate(at)
  local last = s.seeders + s.others - 1
  if at < s.seeders then
    local edge = s.seeders - 1
    if at ~= edge then place(at, record(edge)) end
    if edge ~= last then place(edge, record(last)) end
    s.seeders = edge
  else
    if at ~= last then place(at, record(last)) end
    s.others = s.others - 1
  end
  local used = last * RECORD
  if last > 0 and call('STRLEN', s.p) > used * 2 + 1024 then call('SET', s.p, call('GETRANGE', s.p, 0, used - 1)) end
end

-- Makes room for one record. Redis would double a string that grows; up to SMALL places it grows by an eighth, so that
-- many small swarms do not hold half as much again in reserve.
local function occupy(seeder)
  local last = s.seeders + s.others
  local used = last * RECORD
  if last > 0 and last < SMALL and call('STRLEN', s.p) <= used then
    call('SET', s.p, call('GETRANGE', s.p, 0, used - 1) .. rep('\0', floor(last / 8 + 1) * RECORD))
  end
  if not seeder then
    s.others = s.others + 1
    return last
  end
  if s.others > 0 then place(last, record(s.seeders)) end
  s.seeders = s.seeders + 1
  return s.seeders - 1
end

-- Removes an expired peer. Its counters are kept, so that it is credited what it transferred when it comes back.
local function forget(at, bytes)
  local name = sub(bytes, 1, NAME)
  if settings.keep_counters > 0 then
    local value = call('HGET', s.h, name)
    local _, up, down, last4, last6 = read_peer(value)
    local week = key_of('k:') .. floor(settings.now / WEEK)
    call('HSET', week, s.hash .. sub(name, 1, 8) .. sub(value, ID_FROM, ID_TO), pack(REMEMBERED, up, down, max(last4, last6)))
    call('EXPIRE', week, settings.keep_counters + WEEK)
  end
  call('HDEL', s.h, name)
  vacate(at)
end

-- Removes expired records, from the clock hand on, until there is none or the steps are used up.
local function sweep(steps)
  for _ = 1, steps do
    local places = s.seeders + s.others
    if places <= s.complete + s.incomplete then return end
    if s.hand >= places then s.hand = 0 end
    local bytes = record(s.hand)
    if read('>I3', bytes, 17) < s.folded then forget(s.hand, bytes) else s.hand = s.hand + 1 end
  end
end
