-- Swarms of one peer, as most are: a field of a hash that they share takes a third of what keys of their own take.
-- Regular announces and scrapes use it as it is; for all others the swarm is given keys of its own, and `close` puts it
-- back.
--
-- Releases from before know keys of their own only, and may run beside this one. What they write wins: a field that is
-- left beside such keys is dropped.

local function lone_key(key)
  return sub(key, 1, 5) .. 'o'
end

-- Whether a peer lives; one whose expiry is too far ahead was announced by a wrong clock, see FURTHEST_MINUTES.
local function lone_lives(expires)
  return expires >= settings.minute and expires <= settings.minute + FURTHEST_MINUTES + floor(settings.ttl / MINUTE)
end

-- Gives a swarm keys of its own. Returns its entry, or nil when no one-peer swarm has this key.
local function expand(key, value)
  if not value then return nil end
  local hash = sub(key, 8)
  local completed, owner, up, down, last, mix, expires, id, ipv4, ipv6 = read(LONE, value)
  call('HDEL', lone_key(key), hash)
  if expires >= settings.minute and not lone_lives(expires) then return nil end
  local name = owner .. '\0\0'
  local flags = mix % 16
  local seeds, pauses = has(flags, IS_SEEDER) and 1 or 0, has(flags, IS_PAUSED) and 1 or 0
  local folded = min(settings.minute, expires)
  local entry = pack(SWARM, seeds, 1 - seeds, seeds, 1 - seeds, pauses, completed, 0, folded, 0, 0, expires)
  call('HSET', key, '#', entry, minute_field(expires), pack(COUNTS, seeds, 1 - seeds, pauses),
    name, pack(PEER, 0, up, down, last, mix, expires % 65536, id))
  call('SET', sub(key, 1, 5) .. 'p:' .. hash, name .. ipv4 .. pack('>I3', expires) .. ipv6)
  call('ZADD', sub(key, 1, 5) .. 'x', EPOCH + (expires + 1) * MINUTE, hash)
  return entry
end

-- Opens the swarm of a key, whichever way it is stored. Returns its entry, nil where it has none.
local function open_any(key, completed)
  local entry = call('HGET', key, '#') or expand(key, call('HGET', lone_key(key), sub(key, 8)))
  open(key, entry, completed)
  return entry
end

-- Opens the swarm of a key for its counts, which are exact afterwards unless the entry returned has to be folded.
local function open_to_count(key, completed)
  local entry = call('HGET', key, '#')
  local value = not entry and call('HGET', lone_key(key), sub(key, 8))
  if not value then
    open(key, entry, completed)
    return entry
  end
  local mix, expires = read(LONE_LIFE, value, LONE_EXPIRY)
  if not lone_lives(expires) then
    entry = expand(key, value)
    open(key, entry, completed)
    return entry
  end
  s.complete, s.paused = has(mix, IS_SEEDER) and 1 or 0, has(mix, IS_PAUSED) and 1 or 0
  s.incomplete, s.completed = 1 - s.complete, max(completed, (read('>I4', value)))
  return nil
end

-- What `peers` returns of a swarm of one peer, from place `first` on; `value` is false where there is none.
local function peers_of_lone(value, first)
  if not value then return { 0, '', '', settings.now } end
  if first > 0 then return { 1, '', '', settings.now } end
  local _, owner, up, down, last, mix, expires, id, ipv4, ipv6 = read(LONE, value)
  return { 1, owner .. '\0\0' .. ipv4 .. pack('>I3', expires) .. ipv6,
    pack(PEER, 0, up, down, last, mix, expires % 65536, id), settings.now }
end

-- The value of a field that is still to be written, or was.
local function current(field)
  for i = 1, written, 2 do
    if writes[i] == field then return writes[i + 1] end
  end
  return call('HGET', s.h, field)
end

-- Writes the swarm back. `completed` is what the database knows of.
local function close(completed)
  if places() ~= 1 or s.sockets > 0 or s.complete + s.incomplete ~= 1 then return store(completed) end
  local bytes = record(0)
  local value = current(sub(bytes, 1, NAME))
  call('HSET', key_of('o'), s.hash, pack('>I4', s.completed) .. sub(bytes, 1, 8) .. sub(value, 4, 22)
    .. sub(bytes, 17, 19) .. sub(value, ID_FROM, ID_TO) .. sub(bytes, 11, 16) .. sub(bytes, 20, 37))
  call('DEL', s.h, s.p)
  call('ZREM', key_of('x'), s.hash)
end

-- Removes the expired among some values of {xx}:o, the fields and values of which alternate.
local function sweep_lone(tag, found)
  for i = 1, #found, 2 do
    local mix, expires = read(LONE_LIFE, found[i + 1], LONE_EXPIRY)
    if not lone_lives(expires) then
      s.h, s.hash = tag .. 'h:' .. found[i], found[i]
      call('HDEL', tag .. 'o', s.hash)
      if expires < settings.minute and call('EXISTS', s.h) == 0 then
        local _, owner, up, down, last, _, _, id = read(LONE, found[i + 1])
        remember(owner, id, up, down, last)
        if settings.keep_counters > 0 then call('SADD', tag .. 'dirty', s.hash) end
      end
    end
  end
end
