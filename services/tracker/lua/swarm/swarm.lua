-- Swarms: their peers, the peers in the reply to an announce, and the transfer of each user. A call changes one or more
-- swarms, each atomically, and an announce costs the same in a swarm of 10 peers and of 100,000. The layouts
-- SETTINGS, ANNOUNCE, RESULT, PEER, SOCKET, SOCKETS and DELTA are shared with src/swarm/wire.ts: change both together.
--
-- The files of this folder become one library, in the order swarm, announce, functions. A file sees the local names of
-- the files before it.
--
-- Keys, where xx is the first byte of the info hash, so that all keys of a call share a Cluster slot:
--   {xx}:s:<info hash>  hash: '#' the HEADER of the swarm, a PEER by owner and slot, and '~' an unfinished sweep
--   {xx}:4:<info hash>, {xx}:6:<info hash>, {xx}:i:<info hash>  strings, the columns: IPv4 endpoints, IPv6 endpoints and
--                       names, in the order of the places. A small swarm has its endpoints after its header instead,
--                       and no names
--   {xx}:n:<info hash>  hash: the number of SOCKETS by process
--   {xx}:m:<process>    set: info hashes of the swarms in which the process has sockets
--   {xx}:x              sorted set: all swarms, by the time in seconds at which their next peer may expire
--   {xx}:k:<week>       hash: last counters of expired peers
--   {xx}:du             hash: the transfer since the last flush, a DELTA by user and torrent
--   {xx}:dirty          set: info hashes whose counts changed since the last flush

-- Lua's own functions are not available while a library is loaded, see `read_settings`.
local call, sub, rep, floor, max, min, concat, spread, pack, read

local WEEK = 604800
-- Name of a peer: owner 8 bytes, slot 2 bytes.
local NAME = 10
-- The number of places by part, completed, the time in seconds from which a peer may expire, form (1: large, 2: with
-- IPv6). In a small swarm, the columns follow.
local HEADER, HEADER_LENGTH = '>I3I3I3I3I3I3I4I4I1', 27
-- With a header of up to 64 bytes, Redis stores a small hash as one listpack (hash-max-listpack-value). That is enough
-- for six endpoints, or one with IPv6.
local SMALL, SMALL_WITH_IPV6 = 6, 1
-- Place, uploaded, downloaded, last announce over IPv4 (0: none), flags, IPv4 endpoint, peer id, last announce over
-- IPv6. The process and the last announce over a socket follow if there is one. Both together are 63 bytes, see above.
local PEER, PEER_LENGTH, FLAGS_AT, ID_FROM, ID_TO = '>I3I7I6I4I1c6c20I4', 51, 21, 28, 47
local SOCKET = '>c8I4'
-- Seeders, others.
local SOCKETS = '>I4I4'
-- Credited up and down, actual up and down, seed seconds, last seen, left, state and roles, completed at, first seen.
local DELTA = '>I7I7I7I7I5I4I7I1I4I4'
local REMEMBERED = '>I7I7I4'
local ANNOUNCE, ANNOUNCE_LENGTH = '>c27c10c20I1c6c18I1I1I7I6I7I1I4I2I2I4I4I1I1I1c32c8I1', 165
-- The positions of the key, completions and purpose in an ANNOUNCE, which are all that a scrape needs.
local KEY_LENGTH, COMPLETED_AT, PURPOSE_AT = 27, 113, 123
local SETTINGS = '>I4I4I4I4I4I2I4I6I1'
-- Status, notes, complete, incomplete, completed, last announce, position of the announcing peer among the picked,
-- time, number of pieces of the reply.
local RESULT = '>I1I1I4I4I4I4I2I4I1'

local REGULAR, STARTED, COMPLETED = 0, 1, 2
local STOPPED, LEECHER, SEEDER = 0, 1, 2
-- The purposes of announces over sockets. Over HTTP, the purpose is 0.
local HTTP, TAKES_OVER, CLOSES, SCRAPES = 0, 2, 3, 4
-- The admission of an announce over the limit of its user, which is otherwise 0: of the clients in the swarm, or of all.
local KNOWN_ONLY = 1
-- The lowest flags of a peer are its role, which is its state minus one. The peer in slot 0 has HAS_SIBLINGS if its
-- owner has had peers in other slots.
local ROLES, IS_RECOVERING, HAS_SIBLINGS = 4, 4, 8
local ACCEPTED, UNKNOWN_STOPPED, TOO_SOON, SLOTS_FULL, HELD, NOT_ADMITTED = 0, 1, 2, 3, 4, 5
-- Notes of a result.
local REJOINED, IMPLAUSIBLE, RECOVERING, ELSEWHERE, WITH_IPV6, WITH_SIBLINGS = 1, 2, 4, 8, 16, 32
-- Roles of a delta: something was left in an announce of the user; they completed after one.
local LEECHED, SNATCHED = 16, 32
-- Places are in the order of these parts. A peer that only has a socket has no address, and only its process introduces
-- it to others. PART_OF_ROLE is indexed by leechers, seeders and paused peers.
local SEEDERS, LEECHERS, PAUSED, SOCKETS_ONLY, PARTS = 1, 2, 3, 3, 6
local PART_OF_ROLE = { [0] = LEECHERS, SEEDERS, PAUSED }

-- A peer whose last announce is this far in the future was stored with a wrong clock, and does not live until then.
local FURTHEST = 86400
-- Number of entries per step of a sweep, and the minimum time between two sweeps of one swarm.
local STEP, SWEEP_EVERY, SWEPT_A_SECOND = 500, 30, 1000
-- The cost of a swarm in a call of the sweep, in entries, in addition to its peers.
local SWARM_COST = 10
local NO_IPV4, NOWHERE = '\0\0\0\0\0\0', 65535
local NO_IPV6 = NO_IPV4 .. NO_IPV4 .. NO_IPV4
local EMPTY = NO_IPV6 .. NO_IPV4 .. '\0\0\0'

-- The state of a call is in variables of the library, which take a third of the time of fields. The settings:
local now, ttl, min_interval, repeat_window, recovery_interval, max_peers, keep_counters, max_rate, evicts
-- The open swarm. `size` is by part.
local key, tag, hash, header, opened_with, total, completed, next_sweep, is_large, has_ipv6, changed, counted
local size = {}
-- The current peer as stored. `p_seen` is the last announce over any transport.
local p_place, p_up, p_down, p_last4, p_flags, p_ipv4, p_id, p_last6, p_process, p_beat, p_seen
-- The result of the call: [1] becomes the concatenated results, and the pieces of each follow.
local reply, replied = {}, 1

-- Redis formats numbers with 17 digits, which takes longer than a command. Offsets in columns of up to 4,000 peers are
-- formatted once and cached.
local decimals = {}

local function decimal(number)
  if number >= 40000 then return number end
  local text = decimals[number]
  if not text then
    text = number .. ''
    decimals[number] = text
  end
  return text
end

-- Creating a Lua string costs time per byte, so pieces are never concatenated.
local function reply_with(piece)
  if piece == '' then return end
  replied = replied + 1
  reply[replied] = piece
end

local function read_settings(bytes)
  if not call then
    call, sub, rep, floor, max, min = redis.call, string.sub, string.rep, math.floor, math.max, math.min
    concat, spread, pack, read = table.concat, unpack, struct.pack, struct.unpack
  end
  now, ttl, min_interval, repeat_window, recovery_interval, max_peers, keep_counters, max_rate, evicts =
    read(SETTINGS, bytes)
  -- The clock of this server is the same for every process. Only tests pass a time.
  if now == 0 then now = tonumber(call('TIME')[1]) end
end

local function read_peer(value)
  p_place, p_up, p_down, p_last4, p_flags, p_ipv4, p_id, p_last6 = read(PEER, value)
  p_process, p_beat = nil, 0
  if #value > PEER_LENGTH then p_process, p_beat = read(SOCKET, value, PEER_LENGTH + 1) end
  p_seen = max(p_last4, p_last6, p_beat)
end

local function forget_peer()
  p_place, p_up, p_down, p_ipv4, p_id, p_process = nil, nil, nil, nil, nil, nil
  p_last4, p_flags, p_last6, p_beat, p_seen = 0, 0, 0, 0, 0
end

local function write_peer(name)
  local value = pack(PEER, p_place, p_up, p_down, p_last4, p_flags, p_ipv4, p_id, p_last6)
  if p_process then value = value .. pack(SOCKET, p_process, p_beat) end
  call('HSET', key, name, value)
end

local function lives()
  return p_seen + ttl >= now and p_seen <= now + FURTHEST
end

-- The columns ---------------------------------------------------------------------------------------------------------

-- In a large swarm, a column is a separate string. In a small one, it is in `text`, and there are no names.
local NAMES, FOUR, SIX = { kind = 'i:', width = NAME }, { kind = '4:', width = 6 }, { kind = '6:', width = 18 }

local function column_key(column)
  return tag .. column.kind .. hash
end

-- The bytes of a column from one place to another (exclusive).
local function read_column(column, first, stop)
  local from, to, found = first * column.width, stop * column.width, nil
  if is_large then found = call('GETRANGE', column_key(column), decimal(from), decimal(to - 1))
  else found = sub(column.text, from + 1, to) end
  -- A column of IPv6 endpoints ends with the last peer that has one.
  return #found == to - from and found or found .. rep('\0', to - from - #found)
end

local function write_column(column, at, piece)
  local from, text = at * column.width, column.text
  if is_large then return call('SETRANGE', column_key(column), decimal(from), piece) end
  column.text, changed = sub(text, 1, from) .. piece .. sub(text, from + column.width + 1), true
end

-- The names and entries of the peers from one place to another.
local function peers_between(first, stop)
  local names, values = {}, {}
  if is_large then
    local text = read_column(NAMES, first, stop)
    for i = 1, stop - first do names[i] = sub(text, (i - 1) * NAME + 1, i * NAME) end
    return names, call('HMGET', key, spread(names))
  end
  local found = call('HGETALL', key)
  for i = 1, #found, 2 do
    local at = #found[i] == NAME and read('>I3', found[i + 1]) or -1
    if at >= first and at < stop then names[at - first + 1], values[at - first + 1] = found[i], found[i + 1] end
  end
  return names, values
end

local function ipv6_at(at)
  return has_ipv6 and read_column(SIX, at, at + 1) or NO_IPV6
end

-- Writes the name and the endpoints of a place.
local function put(at, name, ipv4, ipv6)
  if ipv6 ~= NO_IPV6 and not has_ipv6 then has_ipv6, changed, SIX.text = true, true, rep(NO_IPV6, total) end
  if is_large then write_column(NAMES, at, name) end
  write_column(FOUR, at, ipv4)
  if has_ipv6 then write_column(SIX, at, ipv6) end
end

local function move(from, to)
  local names, values = peers_between(from, from + 1)
  put(to, names[1], read_column(FOUR, from, from + 1), ipv6_at(from))
  call('HSET', key, names[1], pack('>I3', to) .. sub(values[1], 4))
end

local function part_of(at)
  for part = 1, PARTS do
    at = at - size[part]
    if at < 0 then return part end
  end
end

-- Closes the gap at a place: the last peer of its part moves into it, and the last one of each later part into the next
-- gap. The removed peer must no longer be in the hash.
local function leave(at)
  local own, stop = part_of(at), 0
  for part = 1, PARTS do
    stop = stop + size[part]
    if part >= own then
      if at < stop - 1 then move(stop - 1, at) end
      at = stop - 1
    end
  end
  size[own], total, changed, counted = size[own] - 1, total - 1, true, true
end

-- Makes room for a peer at the end of a part: the first peer of each later part moves to the end of that part. Returns
-- the place.
local function join(part)
  local gap = total
  for behind = PARTS, part + 1, -1 do
    if size[behind] > 0 then
      move(gap - size[behind], gap)
      gap = gap - size[behind]
    end
  end
  size[part], total, changed, counted = size[part] + 1, total + 1, true, true
  return gap
end

-- The swarm -----------------------------------------------------------------------------------------------------------

-- Adds a socket of a process to the counts, or removes it. Partial seeds count as seeders, because they only receive
-- leechers.
local function count_socket(process, flags, by)
  local sockets, set = tag .. 'n:' .. hash, tag .. 'm:' .. process
  local found = call('HGET', sockets, process)
  local seeders, others = 0, 0
  if found then seeders, others = read(SOCKETS, found) end
  if flags % ROLES > 0 then seeders = max(0, seeders + by) else others = max(0, others + by) end
  if seeders + others == 0 then
    call('HDEL', sockets, process)
    call('SREM', set, hash)
  else
    call('HSET', sockets, process, pack(SOCKETS, seeders, others))
    if not found then call('SADD', set, hash) end
  end
end

-- Stores the current peer, which is new if it has no place, with these changes and those of its counters. `ipv4` and
-- `ipv6` are nil if they have not changed.
local function store(name, flags, last4, last6, ipv4, ipv6, process)
  local part = PART_OF_ROLE[flags % ROLES] + (last4 + last6 == 0 and SOCKETS_ONLY or 0)
  local had6 = p_last6 > 0 and ipv6_at(p_place) or NO_IPV6
  ipv4 = last4 == 0 and NO_IPV4 or ipv4 or p_ipv4
  ipv6 = last6 == 0 and NO_IPV6 or ipv6 or had6
  if not p_place or part ~= part_of(p_place) then
    if p_place then
      call('HDEL', key, name)
      leave(p_place)
    end
    p_place = join(part)
    put(p_place, name, ipv4, ipv6)
  elseif ipv4 ~= p_ipv4 or ipv6 ~= had6 then
    put(p_place, name, ipv4, ipv6)
  end
  if process ~= p_process or flags % ROLES ~= p_flags % ROLES then
    if p_process then count_socket(p_process, p_flags, -1) end
    if process then count_socket(process, flags, 1) end
  end
  p_flags, p_last4, p_last6, p_ipv4, p_process = flags, last4, last6, ipv4, process
  write_peer(name)
end

-- Removes the current peer. Its counters may be kept, so that its transfer is credited when it returns.
local function remove(name, keeps)
  if keeps and keep_counters > 0 then
    local week = tag .. 'k:' .. floor(now / WEEK)
    call('HSET', week, hash .. sub(name, 1, 8) .. p_id, pack(REMEMBERED, p_up, p_down, p_seen))
    call('EXPIRE', week, keep_counters + WEEK)
  end
  call('HDEL', key, name)
  if p_process then count_socket(p_process, p_flags, -1) end
  leave(p_place)
end

-- Visits some of the peers, each as the current peer. Returns the next cursor, '0' at the end.
local function visit(cursor, visitor)
  local found, before = call('HSCAN', key, cursor, 'COUNT', STEP), total
  for i = 1, #found[2], 2 do
    local name = found[2][i]
    -- Removing a peer may have moved later ones.
    local value = #name == NAME and (total == before and found[2][i + 1] or call('HGET', key, name))
    if value then
      read_peer(value)
      visitor(name)
    end
  end
  return found[1]
end

-- Sets the time of the next sweep of the swarm.
local function set_next(second)
  next_sweep, changed = second, true
  call('ZADD', tag .. 'x', second, hash)
end

-- Deletes an unreadable swarm, for example after one of its keys was deleted. Its peers will announce again.
local function discard(key_of_swarm)
  local prefix, name = sub(key_of_swarm, 1, 5), sub(key_of_swarm, 8)
  redis.log(redis.LOG_WARNING, 'discarded a damaged swarm of the tracker')
  call('UNLINK', key_of_swarm, prefix .. 'i:' .. name, prefix .. '4:' .. name, prefix .. '6:' .. name)
  call('ZREM', prefix .. 'x', name)
end

-- One step of a sweep: removes expired peers among some. Returns the next cursor, '0' at the end, and the earliest time
-- in seconds at which one of the visited peers may expire.
local function sweep_step(cursor, earliest)
  cursor = visit(cursor, function(name)
    if lives() then earliest = min(earliest, p_seen + ttl + 1) else remove(name, true) end
  end)
  return cursor, earliest
end

-- Opens the swarm of a key by its header. `known` is the database's count of completions, the minimum for the swarm's.
local function open(key_of_swarm, header_found, known)
  key, tag, hash, header = key_of_swarm, sub(key_of_swarm, 1, 5), sub(key_of_swarm, 8), header_found
  changed, counted = false, false
  local form, value = nil, header or EMPTY
  size[1], size[2], size[3], size[4], size[5], size[6], completed, next_sweep, form = read(HEADER, value)
  total = size[1] + size[2] + size[3] + size[4] + size[5] + size[6]
  opened_with = total
  is_large, has_ipv6 = form % 2 == 1, form >= 2
  if not is_large then
    local ends = HEADER_LENGTH + total * FOUR.width
    FOUR.text, SIX.text = sub(value, HEADER_LENGTH + 1, ends), sub(value, ends + 1)
  end
  if completed < known then completed = known end
end

-- Sweeps the open swarm immediately if it is small, so its counts are always exact. Large ones are swept in the
-- background.
local function sweep_small()
  if is_large or total == 0 or now < next_sweep and next_sweep <= now + ttl + FURTHEST then return end
  local _, earliest = sweep_step('0', now + ttl + 1)
  set_next(earliest)
end

-- Writes the columns as separate strings of minimum length.
local function write_columns()
  if not is_large then NAMES.text = concat((peers_between(0, total))) end
  for _, column in ipairs({ NAMES, FOUR, has_ipv6 and SIX or nil }) do
    call('SET', column_key(column), read_column(column, 0, total))
  end
  is_large = true
end

-- Whether the columns of a large swarm take twice the necessary memory, because strings do not shrink by themselves. It
-- is checked whenever the size falls below a power of two.
local function wastes()
  local _, exponent = math.frexp(total)
  local _, exponent_before = math.frexp(opened_with)
  return exponent < exponent_before and call('STRLEN', column_key(FOUR)) >= 2 * FOUR.width * total
end

-- Writes the swarm back. A swarm without peers is deleted, unless it counts completions that may not be in the
-- database.
local function close(known)
  if counted and keep_counters > 0 then call('SADD', tag .. 'dirty', hash) end
  if total == 0 then
    if is_large then call('DEL', column_key(NAMES), column_key(FOUR), column_key(SIX)) end
    is_large, has_ipv6 = false, false
  elseif is_large and total < opened_with and wastes()
    or not is_large and total > (has_ipv6 and SMALL_WITH_IPV6 or SMALL) then
    write_columns()
  end
  if total == 0 and completed <= known then
    if not header then return end
    call('DEL', key)
    call('ZREM', tag .. 'x', hash)
  elseif changed then
    if next_sweep == 0 then set_next(now + ttl + 1) end
    -- Until 2027-06: leftovers of the previous layout.
    if not header then call('UNLINK', tag .. 'h:' .. hash, tag .. 'p:' .. hash) end
    local form = (is_large and 1 or 0) + (has_ipv6 and 2 or 0)
    local value = pack(HEADER, size[1], size[2], size[3], size[4], size[5], size[6], completed, next_sweep, form)
    if not is_large and total > 0 then
      value = value .. read_column(FOUR, 0, total) .. (has_ipv6 and read_column(SIX, 0, total) or '')
    end
    call('HSET', key, '#', value)
  end
end
