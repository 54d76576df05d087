-- Swarms: their peers, which peers an announce is answered with, and what each user transferred. One call changes one
-- or more swarms, each atomically; every step costs the same in a swarm of ten and of a hundred thousand. The binary
-- layouts SETTINGS, ANNOUNCE, RESULT, RECORD and DELTA below are shared with src/swarm/wire.ts: change both together.
--
-- Keys, where xx is the first byte of the info hash, so that all keys of a call share a Cluster slot:
--   {xx}:h:<info hash>  hash: '#' the swarm itself, 'b<minute>' how many peers expire then, <owner 8><slot 2> a peer
--   {xx}:p:<info hash>  string: one RECORD per peer without gaps: seeders, then others, then those with a socket only
--   {xx}:n:<info hash>  hash: how many SOCKETS each process has in the swarm
--   {xx}:w:<info hash><process>  hash: the role of each of them, by owner and peer id
--   {xx}:m:<process>    set: info hashes of the swarms in which the process has sockets
--   {xx}:x              sorted set: swarms by the second at which to sweep them if nobody announces
--   {xx}:k:<week>       hash: last counters of expired peers
--   {xx}:du             hash: what users transferred since the last flush, a DELTA by user and torrent
--   {xx}:dirty          set: info hashes whose counts changed since the last flush

-- A library sees Lua's own functions only once it is called; see `read_settings`.
local call, sub, rep, floor, max, min, concat, spread, pack, read

-- Minutes of expiry count from 2020 and fit three bytes until 2051.
local EPOCH, MINUTE, WEEK = 1577836800, 60, 604800
-- RECORD: name 10 (owner and slot, as in the index), IPv4 and port 6, minute of expiry 3, IPv6 and port 18
local RECORD, NAME = 37, 10
-- place, uploaded, downloaded, last announce, minutes since the last one of the other family and flags, minute of
-- expiry without its upper bits, peer id: 44 bytes, which with Redis's own fill an allocation of 48
local PEER, ID_FROM, ID_TO = '>I3I7I6I4I2I2c20', 25, 44
local MOST_DOWN, NEVER = 281474976710655, 4095
-- places of seeders, of others; living seeders, others, paused; completed; clock hand; minute folded; next refresh;
-- places of peers that have a socket only
local SWARM, SWARM_LENGTH = '>I4I4I4I4I4I4I4I3I4I4', 39
-- seeders, others
local SOCKETS = '>I4I4'
local COUNTS = '>I4I4I4'
local NO_COUNTS = '\0\0\0\0\0\0\0\0\0\0\0\0'
-- credited up and down, actual up and down, seed seconds, last seen, left, state, completed at, first seen
local DELTA = '>I7I7I7I7I5I4I7I1I4I4'
local REMEMBERED = '>I7I7I4'
local ANNOUNCE, ANNOUNCE_LENGTH = '>c8c20I1c6c18I1I1I7I7I7I1I4I2I2I4I4I1c32c8', 134
local SETTINGS = '>I4I4I4I4I4I2I4I6'
local RESULT = '>I1I1I4I4I4I4I2'

local STARTED, COMPLETED = 1, 2
local STOPPED, LEECHER, SEEDER, PAUSED = 0, 1, 2, 3
local IPV4, IPV6 = 1, 2
local IS_SEEDER, IS_PAUSED, IS_RECOVERING, WAS_IPV6 = 1, 2, 4, 8
local IS_ACCOUNTED, WANTS_IDS, EVICTS, OVER_SOCKET, TAKES_OVER, CLOSES = 1, 2, 4, 8, 16, 32
local ACCEPTED, UNKNOWN_STOPPED, TOO_SOON, SLOTS_FULL, HELD = 0, 1, 2, 3, 4
local REJOINED, IMPLAUSIBLE, RECOVERING = 1, 2, 4

-- An announce removes expired records, and looks at no more than this many for it.
local STEPS_PER_ANNOUNCE = 8
-- Longer than counters are kept, so that a swarm unchanged for so long holds no peer and nothing that is needed again;
-- short enough for the lower 16 bits of an expiry.
local OLDEST_MINUTES = 30500
-- How far ahead of this clock another process's may be. A swarm from further in the future was written by a wrong
-- clock, and would keep its peers until then.
local FURTHEST_MINUTES = 1440
local SMALL = 2000
local NO_IPV4, NO_IPV6 = '\0\0\0\0\0\0', '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
-- Where a peer's record lies. One of SOCKETS_ONLY has no address, and is handed out by its process alone.
local SEEDERS, OTHERS, SOCKETS_ONLY = 1, 2, 3

-- The settings of the call, the current swarm and the current announce: one table each for all calls.
local settings, s, a = {}, {}, {}
-- Fields of the swarm's hash that the announce changes, written at its end in one command.
local writes, written = {}, 0

local function has(flags, bit)
  return flags % (bit * 2) >= bit
end

local function write(field, value)
  writes[written + 1], writes[written + 2] = field, value
  written = written + 2
end

local function key_of(kind)
  return sub(s.h, 1, 5) .. kind
end

-- The swarm -------------------------------------------------------------------------------------------------------

-- Opens the swarm of a key. `completed` is the database's count, and the swarm's never falls below it.
local function open(key, entry, completed)
  s.h, s.hash = key, sub(key, 8)
  s.p = key_of('p:') .. s.hash
  if entry then
    if #entry < SWARM_LENGTH then entry = entry .. '\0\0\0\0' end
    s.seeders, s.others, s.complete, s.incomplete, s.paused, s.completed, s.hand, s.folded, s.refresh, s.sockets =
      read(SWARM, entry)
    if settings.minute - s.folded > OLDEST_MINUTES or s.folded - settings.minute > FURTHEST_MINUTES then
      call('DEL', s.h, s.p)
      entry = nil
    end
  end
  if not entry then
    s.seeders, s.others, s.complete, s.incomplete, s.paused, s.completed, s.hand, s.folded, s.refresh, s.sockets =
      0, 0, 0, 0, 0, 0, 0, settings.minute, 0, 0
  end
  s.completed = max(s.completed, completed)
  s.was_complete, s.was_incomplete, s.was_completed = s.complete, s.incomplete, s.completed
  written = 0
end

local function places()
  return s.seeders + s.others + s.sockets
end

-- Subtracts from the counts every peer that expired until now. Their records are removed later, by `sweep`.
local function fold()
  while s.folded < settings.minute do
    local upto = min(settings.minute, s.folded + 128)
    local fields, gone = {}, {}
    for i = s.folded, upto - 1 do fields[#fields + 1] = 'b' .. i end
    local values = call('HMGET', s.h, spread(fields))
    for i = 1, #fields do
      if values[i] then
        local complete, incomplete, paused = read(COUNTS, values[i])
        s.complete, s.incomplete, s.paused = s.complete - complete, s.incomplete - incomplete, s.paused - paused
        gone[#gone + 1] = fields[i]
      end
    end
    if #gone > 0 then call('HDEL', s.h, spread(gone)) end
    s.folded = upto
  end
end

local function count(flags, by)
  if has(flags, IS_SEEDER) then s.complete = s.complete + by else s.incomplete = s.incomplete + by end
  if has(flags, IS_PAUSED) then s.paused = s.paused + by end
end

local function counts_with(counts, flags, by)
  local complete, incomplete, paused = read(COUNTS, counts or NO_COUNTS)
  local seeder, pausing = has(flags, IS_SEEDER), has(flags, IS_PAUSED)
  return pack(COUNTS, complete + (seeder and by or 0), incomplete + (seeder and 0 or by), paused + (pausing and by or 0))
end

-- Moves a peer from one minute of expiry to another; nil for a peer that joins, or leaves.
local function recount(from, from_flags, to, to_flags)
  if from and from < s.folded then from = nil end
  if from then count(from_flags, -1) end
  if to then count(to_flags, 1) end
  if from == to then
    if not from then return end
    local counts = call('HGET', s.h, 'b' .. from)
    write('b' .. from, counts_with(counts_with(counts, from_flags, -1), to_flags, 1))
  elseif from and to then
    local counts = call('HMGET', s.h, 'b' .. from, 'b' .. to)
    write('b' .. from, counts_with(counts[1], from_flags, -1))
    write('b' .. to, counts_with(counts[2], to_flags, 1))
  elseif from then
    write('b' .. from, counts_with(call('HGET', s.h, 'b' .. from), from_flags, -1))
  else
    write('b' .. to, counts_with(call('HGET', s.h, 'b' .. to), to_flags, 1))
  end
end

-- Writes the swarm back. One without peers is deleted, unless it counts completions the database may not know.
local function close(completed)
  if places() == 0 and s.completed <= completed then
    call('DEL', s.h, s.p)
    call('ZREM', key_of('x'), s.hash)
  else
    write('#', pack(SWARM, s.seeders, s.others, s.complete, s.incomplete, s.paused, s.completed, s.hand, s.folded,
      s.refresh, s.sockets))
    call('HSET', s.h, spread(writes, 1, written))
  end
end

local function counts_changed()
  return s.complete ~= s.was_complete or s.incomplete ~= s.was_incomplete or s.completed ~= s.was_completed
end

-- The index ---------------------------------------------------------------------------------------------------------

-- Returns place, uploaded, downloaded, last announce over IPv4 and over IPv6, flags, minute of expiry. The earlier one
-- of the two times is exact to a minute.
local function read_peer(value)
  local at, up, down, last, mix, expires = read(PEER, value)
  local flags, minutes = mix % 16, floor(mix / 16)
  local other = minutes == NEVER and 0 or last - minutes * MINUTE
  local ahead = (expires - s.folded) % 65536
  expires = s.folded + (ahead < 32768 and ahead or ahead - 65536)
  if has(flags, WAS_IPV6) then return at, up, down, other, last, flags - WAS_IPV6, expires end
  return at, up, down, last, other, flags, expires
end

local function pack_peer(at, last4, last6, flags, expires)
  local last, other = last4, last6
  if last6 > last4 then last, other, flags = last6, last4, flags + WAS_IPV6 end
  local minutes = other == 0 and NEVER or min(NEVER, floor((last - other) / MINUTE))
  return pack(PEER, at, a.up, a.down, last, minutes * 16 + flags, expires % 65536, a.id)
end

-- The records ------------------------------------------------------------------------------------------------------

local function record(at)
  return call('GETRANGE', s.p, at * RECORD, at * RECORD + RECORD - 1)
end

local function place(at, bytes)
  local name = sub(bytes, 1, NAME)
  call('SETRANGE', s.p, at * RECORD, bytes)
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
  if last > 0 and call('STRLEN', s.p) > used * 2 + 1024 then call('SET', s.p, call('GETRANGE', s.p, 0, used - 1)) end
end

-- Makes room for one record. Redis would double a string that grows; up to SMALL places it grows by an eighth, so that
-- many small swarms do not hold half as much again in reserve.
local function occupy(part)
  local last = places()
  local used = last * RECORD
  if last > 0 and last < SMALL and call('STRLEN', s.p) <= used then
    call('SET', s.p, call('GETRANGE', s.p, 0, used - 1) .. rep('\0', floor(last / 8 + 1) * RECORD))
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
    local total = places()
    if total <= s.complete + s.incomplete then return end
    if s.hand >= total then s.hand = 0 end
    local bytes = record(s.hand)
    if read('>I3', bytes, 17) < s.folded then forget(s.hand, bytes) else s.hand = s.hand + 1 end
  end
end

-- A contiguous run of records out of `size` from `first` on, starting anywhere and wrapping round.
local function run_of(first, size, want)
  if want <= 0 or size == 0 then return '' end
  if want >= size then return call('GETRANGE', s.p, first * RECORD, (first + size) * RECORD - 1) end
  local start = a.random % size
  local head = min(want, size - start)
  local bytes = call('GETRANGE', s.p, (first + start) * RECORD, (first + start + head) * RECORD - 1)
  if head == want then return bytes end
  return bytes .. call('GETRANGE', s.p, first * RECORD, (first + want - head) * RECORD - 1)
end

-- A seeder or partial seed gets leechers only; a leecher gets seeders for one half, or more where leechers are few.
local function pick(want, leechers_only)
  if want == 0 then return '' end
  local reachable = s.seeders + s.others
  -- Some of the records picked may have expired; selection.ts leaves them out.
  want = want + min(want, places() - s.complete - s.incomplete)
  if leechers_only then return run_of(s.seeders, s.others, want) end
  if want >= reachable then return run_of(0, reachable, want) end
  local seeders = min(s.seeders, max(floor((want + 1) / 2), want - s.others))
  return run_of(0, s.seeders, seeders) .. run_of(s.seeders, s.others, want - seeders)
end

local function ids_of(records)
  local ids = {}
  for i = 1, #records, RECORD do ids[#ids + 1] = sub(records, i, i + NAME - 1) end
  if #ids == 0 then return '' end
  local values = call('HMGET', s.h, spread(ids))
  for i = 1, #ids do ids[i] = sub(values[i], ID_FROM, ID_TO) end
  return concat(ids)
end

-- The announcing peer ----------------------------------------------------------------------------------------------

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
  call('HSET', s.h, spread(writes, 1, written))
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

-- Whether this announce repeats the last one, or comes before it should. One with a new address, family, role or event
-- is never too soon. Returns the second of the peer's previous announce with it.
local function check_timing(at, last4, last6, flags, seeder, paused)
  if a.event == STARTED or a.event == COMPLETED or a.state == STOPPED then return nil end
  if seeder ~= has(flags, IS_SEEDER) or paused ~= has(flags, IS_PAUSED) then return nil end
  local last = a.families == IPV4 and last4 or a.families == IPV6 and last6 or min(last4, last6)
  local interval = has(flags, IS_RECOVERING) and settings.recovery_interval or settings.min_interval
  if last == 0 or settings.now - last >= interval then return nil end
  local bytes = record(at)
  if has(a.families, IPV4) and sub(bytes, 11, 16) ~= a.ipv4 then return nil end
  if has(a.families, IPV6) and sub(bytes, 20, 37) ~= a.ipv6 then return nil end
  return settings.now - last <= settings.repeat_window and 'repeated' or 'too_soon', last
end

-- A share in per cent, fractions dropped: of hundreds and the rest apart, since the product of both may be more than a
-- number holds exactly.
local function share(bytes, percent)
  local rest = bytes % 100
  return (bytes - rest) / 100 * percent + floor(rest * percent / 100)
end

-- Adds what the user transferred to what waits for the next flush.
local function account(up, down, seconds)
  local key = key_of('du')
  local value = call('HGET', key, a.account)
  local credited_up, credited_down, all_up, all_down, seeding, completed_at, first = 0, 0, 0, 0, 0, 0, settings.now
  if value then
    local _
    credited_up, credited_down, all_up, all_down, seeding, _, _, _, completed_at, first = read(DELTA, value)
  end
  if a.event == COMPLETED and a.state == SEEDER and completed_at == 0 then completed_at = settings.now end
  call('HSET', key, a.account, pack(DELTA,
    credited_up + share(up, a.up_percent), credited_down + share(down, a.down_percent),
    all_up + up, all_down + down, seeding + seconds, settings.now, a.left, a.state, completed_at, first))
end

-- Writes the record of the announcing peer, at its old place or a new one. An address of the other family is kept
-- until it was not confirmed for the time a peer lives.
local function write_record(name, value, at, part, expires, last4, last6)
  local ipv4, ipv6, minute = a.ipv4, a.ipv6, pack('>I3', expires)
  local keeps4 = not has(a.families, IPV4) and last4 > 0
  local keeps6 = not has(a.families, IPV6) and last6 > 0
  local stays = value and part_of(at) == part
  if stays and part == SOCKETS_ONLY then
    call('SETRANGE', s.p, at * RECORD + 16, minute)
    return at
  elseif stays and a.families > 0 then
    if keeps4 then
      call('SETRANGE', s.p, at * RECORD + 16, minute .. ipv6)
    elseif keeps6 then
      call('SETRANGE', s.p, at * RECORD + NAME, ipv4 .. minute)
    else
      call('SETRANGE', s.p, at * RECORD + NAME, ipv4 .. minute .. ipv6)
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
  call('SETRANGE', s.p, at * RECORD, name .. ipv4 .. minute .. ipv6)
  return at
end

-- Sockets -----------------------------------------------------------------------------------------------------------

-- A socket lives in one process; who has which is noted beside the swarm, and by role, since seeders are given leechers.

local function sockets_of(process)
  return key_of('w:') .. s.hash .. process
end

local function count_sockets(process, seeders, others)
  local key, hash = key_of('n:') .. s.hash, s.hash
  local value = call('HGET', key, process)
  local had_seeders, had_others = 0, 0
  if value then had_seeders, had_others = read(SOCKETS, value) end
  seeders, others = max(0, had_seeders + seeders), max(0, had_others + others)
  if seeders + others == 0 then
    call('HDEL', key, process)
    call('SREM', key_of('m:') .. process, hash)
  else
    call('HSET', key, process, pack(SOCKETS, seeders, others))
    if not value then call('SADD', key_of('m:') .. process, hash) end
  end
end

-- Notes that the process has a socket of this client, or with no role that it has none any more. `noted` is the role
-- noted so far.
local function note_socket(process, noted, role)
  if noted == role then return end
  local client = a.owner .. a.id
  if role then call('HSET', sockets_of(process), client, role) else call('HDEL', sockets_of(process), client) end
  count_sockets(process, (role == 's' and 1 or 0) - (noted == 's' and 1 or 0),
    (role == 'o' and 1 or 0) - (noted == 'o' and 1 or 0))
end

-- The role under which the process has a socket of this client, or nil.
local function noted_role(process)
  return call('HGET', sockets_of(process), a.owner .. a.id) or nil
end

-- Another process that has a socket of this client, and the role noted there.
local function holder()
  local processes = call('HKEYS', key_of('n:') .. s.hash)
  for i = 1, #processes do
    if processes[i] ~= a.process then
      local role = noted_role(processes[i])
      if role then return processes[i], role end
    end
  end
end

-- Reads an announce and opens its swarm, free of some of the expired peers. Returns the owner's first index entry.
local function begin(key, bytes)
  a.owner, a.id, a.families, a.ipv4, a.ipv6, a.event, a.state, a.up, a.down, a.left, a.want, a.random, a.up_percent,
    a.down_percent, a.completed, a.expected, a.options, a.account, a.process = read(ANNOUNCE, bytes)
  a.down = min(a.down, MOST_DOWN)
  local first_name = a.owner .. '\0\0'
  local found = call('HMGET', key, '#', first_name)
  open(key, found[1], a.completed)
  fold()
  if places() == 0 then return nil end
  if places() == s.complete + s.incomplete then return found[2] end
  sweep(STEPS_PER_ANNOUNCE)
  return call('HGET', key, first_name)
end

-- Returns the role under which this process has a socket of this client; or else the process that holds it, or false
-- where a socket closes that another process has taken over.
local function claim()
  local noted = noted_role(a.process)
  if noted then return noted end
  local other, role = holder()
  if other and has(a.options, TAKES_OVER) then
    note_socket(other, role, nil)
    other = nil
  end
  if has(a.options, CLOSES) then return nil, false end
  return nil, other
end

-- A head, then over a socket the SOCKETS of every process, else the records picked and, on request, their peer ids.
local function answer(status, notes, last, records)
  local head = pack(RESULT, status, notes, s.complete, s.incomplete, s.completed, last or 0, #records / RECORD)
  if has(a.options, OVER_SOCKET) then return head .. concat(call('HGETALL', key_of('n:') .. s.hash)) end
  return head .. records .. (has(a.options, WANTS_IDS) and ids_of(records) or '')
end

-- Ends a peer. One that was reached over HTTP and over a socket stays, as long as it is over the other. Returns a status.
local function stop(name, value, known, socket_only)
  local socket = has(a.options, OVER_SOCKET)
  if not value then return known and ACCEPTED or UNKNOWN_STOPPED end
  -- What goes on over HTTP is credited there.
  if socket and not socket_only then return UNKNOWN_STOPPED end
  local at, up, down, _, _, flags, expires = read_peer(value)
  if not socket and not socket_only and holder() then
    a.up, a.down = max(a.up, up), max(a.down, down)
    a.state = has(flags, IS_SEEDER) and SEEDER or has(flags, IS_PAUSED) and PAUSED or LEECHER
    at = write_record(name, value, at, SOCKETS_ONLY, expires, 0, 0)
    write(name, pack_peer(at, settings.now, 0, flags, expires))
    return ACCEPTED
  end
  recount(expires, flags, nil, 0)
  if has(a.options, CLOSES) then
    forget(at, record(at))
  else
    call('HDEL', s.h, name)
    vacate(at)
  end
  return ACCEPTED
end

-- One announce. Returns its RESULT and what follows it.
local function announce(key, bytes)
  local first = begin(key, bytes)
  local socket, noted, held = has(a.options, OVER_SOCKET), nil, nil
  if socket then noted, held = claim() end
  if held ~= nil then
    close(a.completed)
    return pack(RESULT, held and HELD or UNKNOWN_STOPPED, 0, s.complete, s.incomplete, s.completed, 0, 0) .. (held or '')
  end
  local seeder, paused, stops = a.state == SEEDER, a.state == PAUSED, a.state == STOPPED
  local name, value = find(first)
  if not name and not stops then name = free_entry() end
  local at, up, down, last4, last6, flags, expires, last = 0, nil, nil, 0, 0, 0, nil, 0
  if value then
    at, up, down, last4, last6, flags, expires = read_peer(value)
    last = max(last4, last6)
  elseif has(a.options, IS_ACCOUNTED) and (name or stops) and not has(a.options, CLOSES) then
    up, down, last = recall_counters()
  end
  local lives = value and expires >= s.folded
  local socket_only = value and part_of(at) == SOCKETS_ONLY

  local status, records, timing, since = ACCEPTED, '', nil, nil
  -- Sockets have an interval of their own, which their process keeps.
  if lives and not socket and not socket_only then
    timing, since = check_timing(at, last4, last6, flags, seeder, paused)
  end
  -- A socket that closes tells no counters.
  if up and has(a.options, CLOSES) then a.up, a.down = up, down end

  -- A counter that went back belongs to a new session. One that rose faster than the maximum rate is not credited. What
  -- was transferred is measured since the last announce that counted, so one too soon leaves it to the next.
  local known, notes = up ~= nil, 0
  local added_up, added_down, seconds = 0, 0, 0
  if known and a.up >= up and a.down >= down and not (socket and stops and not socket_only) then
    local possible = (max(settings.now - last, 0) + 1) * settings.max_rate
    if timing then
      a.up, a.down = up, down
    elseif a.up - up <= possible and a.down - down <= possible then
      added_up, added_down = a.up - up, a.down - down
    else
      notes = IMPLAUSIBLE
    end
  end
  if lives and has(flags, IS_SEEDER) and (seeder or stops and a.left == 0) and not timing
    and (socket_only or not socket) then
    seconds = min(max(settings.now - last, 0), settings.ttl)
  end

  if stops then
    if noted then note_socket(a.process, noted, nil) end
    status = stop(name, value, known, socket_only)
  elseif not name then
    status = SLOTS_FULL
    if noted then note_socket(a.process, noted, nil) end
  elseif timing == 'too_soon' then
    status, last = TOO_SOON, since
    if has(flags, IS_RECOVERING) then notes = notes + RECOVERING end
    write(name, pack_peer(at, last4, last6, flags, expires))
  else
    -- The peer continues a session, and the database knows of more peers than the swarm has: Redis has lost them.
    if not value and a.event ~= STARTED and a.event ~= COMPLETED and a.expected > s.complete + s.incomplete + 1 then
      notes = notes + REJOINED
    end
    if a.event == COMPLETED and seeder and not has(flags, IS_SEEDER) then s.completed = s.completed + 1 end
    local new_flags = (seeder and IS_SEEDER or 0) + (paused and IS_PAUSED or 0)
      + (has(notes, REJOINED) and IS_RECOVERING or 0)
    local new_expires = max(s.folded, floor((settings.now + settings.ttl - EPOCH) / MINUTE))
    local part = seeder and SEEDERS or OTHERS
    if socket then
      -- Without an address, the time of the last announce stands in the place of IPv4's.
      if settings.now - last4 > settings.ttl then last4 = 0 end
      if settings.now - last6 > settings.ttl then last6 = 0 end
      if not value or socket_only or last4 + last6 == 0 then part, last4, last6 = SOCKETS_ONLY, settings.now, 0 end
      note_socket(a.process, noted, (seeder or paused) and 's' or 'o')
    elseif not timing then
      if socket_only then last4, last6 = 0, 0 end
      if has(a.families, IPV4) then last4 = settings.now elseif settings.now - last4 > settings.ttl then last4 = 0 end
      if has(a.families, IPV6) then last6 = settings.now elseif settings.now - last6 > settings.ttl then last6 = 0 end
    else
      new_flags = flags
    end
    if has(new_flags, IS_RECOVERING) then notes = notes + RECOVERING end
    if not lives or expires ~= new_expires or flags % IS_RECOVERING ~= new_flags % IS_RECOVERING then
      recount(expires, flags, new_expires, new_flags)
    end
    at = write_record(name, value, at, part, new_expires, last4, last6)
    write(name, pack_peer(at, last4, last6, new_flags, new_expires))
    if settings.now >= s.refresh then
      call('ZADD', key_of('x'), settings.now + settings.ttl + MINUTE, s.hash)
      s.refresh = settings.now + min(300, floor(settings.ttl / 4))
    end
    records = pick(a.want, seeder or paused)
  end

  local accounted = has(a.options, IS_ACCOUNTED)
  if accounted and status ~= UNKNOWN_STOPPED and status ~= SLOTS_FULL then account(added_up, added_down, seconds) end
  if accounted and counts_changed() then call('SADD', key_of('dirty'), s.hash) end
  close(a.completed)
  return answer(status, notes, last, records)
end

-- The functions -------------------------------------------------------------------------------------------------

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
