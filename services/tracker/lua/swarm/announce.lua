-- An announce: it is read, checked, credited and stored.

-- Reads the announce at a position of some bytes.
local function read_announce(bytes, position)
  a.owner, a.id, a.families, a.ipv4, a.ipv6, a.event, a.state, a.up, a.down, a.left, a.want, a.random, a.up_percent,
    a.down_percent, a.completed, a.expected, a.options, a.account, a.process = read(ANNOUNCE, bytes, position)
  a.down = min(a.down, MOST_DOWN)
end

-- Opens a swarm for an announce, with its entry and the owner's first index entry, free of some of the expired peers.
-- Returns the latter, as it is then.
local function begin(key, entry, first)
  open(key, entry, a.completed)
  fold()
  if places() == 0 then return nil end
  if places() == s.complete + s.incomplete then return first end
  sweep(STEPS_PER_ANNOUNCE)
  return call('HGET', key, a.owner .. '\0\0')
end

-- Ends a peer. One that was reached over HTTP and over a socket stays, as long as it is over the other. Returns a
-- status.
local function stop(name, value, known, socket_only)
  local socket = has(a.options, OVER_SOCKET)
  if not value then return known and ACCEPTED or UNKNOWN_STOPPED end
  -- What goes on over HTTP is credited there.
  if socket and not socket_only then return UNKNOWN_STOPPED end
  -- It was never over HTTP, and stays where it is.
  if not socket and socket_only and holder() then return UNKNOWN_STOPPED end
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

-- Carries out any announce, once the swarm is open and it is read. Returns its RESULT, and adds what follows it to the
-- reply. `first` is the owner's first index entry.
local function carry_out(first, first_piece)
  local socket, noted, held = has(a.options, OVER_SOCKET), nil, nil
  if socket then noted, held = claim() end
  if held ~= nil then
    close(a.completed)
    local status = held and HELD or UNKNOWN_STOPPED
    if held then reply_with(held) end
    return pack(RESULT, status, 0, s.complete, s.incomplete, s.completed, 0, 0, settings.now, held and 1 or 0)
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

  local status, records, timing, since = ACCEPTED, 0, nil, nil
  local accounted = has(a.options, IS_ACCOUNTED)
  -- Two machines with one peer id: counters between them would be credited again and again. Until the one that is known
  -- expires, the other is answered and nothing else.
  if accounted and lives and not socket and not socket_only and (a.up < up or a.down < down)
    and is_elsewhere(at, last4, last6) then
    if stops then status = UNKNOWN_STOPPED else records = pick(a.want, seeder or paused) end
    if not stops then account(0, 0, 0) end
    return conclude(status, ELSEWHERE, last, records, first_piece)
  end
  -- Sockets have an interval of their own, which their process keeps.
  if lives and not socket and not socket_only then
    timing, since = check_timing(at, last4, last6, flags, seeder, paused)
  end
  -- A socket that closes tells no counters.
  if up and has(a.options, CLOSES) then a.up, a.down = up, down end

  local notes, added_up, added_down, seconds = 0, 0, 0, 0
  if up and not (socket and stops and not socket_only) then
    if timing then
      a.up, a.down = min(a.up, up), min(a.down, down)
    else
      added_up, added_down, notes = added_since(up, down, last)
    end
  end
  if lives and has(flags, IS_SEEDER) and (seeder or stops and a.left == 0) and not timing
    and (socket_only or not socket) then
    seconds = min(max(settings.now - last, 0), settings.ttl)
  end

  if stops then
    if noted then note_socket(a.process, noted, nil) end
    status = stop(name, value, up ~= nil, socket_only)
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
    -- Where users are accounted, the database counts who completed.
    if not accounted and a.event == COMPLETED and seeder and lives and not has(flags, IS_SEEDER) then
      s.completed = s.completed + 1
    end
    local new_flags = (seeder and IS_SEEDER or 0) + (paused and IS_PAUSED or 0)
      + (has(notes, REJOINED) and IS_RECOVERING or 0)
    local new_expires = minute_of_expiry()
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
    postpone_sweep()
    records = pick(a.want, seeder or paused)
  end

  if accounted and status ~= UNKNOWN_STOPPED and status ~= SLOTS_FULL then account(added_up, added_down, seconds) end
  return conclude(status, notes, last, records, first_piece)
end

-- One announce. Returns its RESULT, and adds what follows it to the reply.
local function announce(key, bytes, position)
  local first_piece = replied + 1
  read_announce(bytes, position)
  local is_regular = a.event == REGULAR and a.options < OVER_SOCKET
  local found = call('HMGET', key, '#', a.owner .. '\0\0')
  if not found[1] then
    local lone = call('HGET', lone_key(key), sub(key, 8))
    if lone and is_regular and continues_alone(lone) then return carry_on_alone(key) end
    found[1] = expand(key, lone)
    found[2] = found[1] and call('HGET', key, a.owner .. '\0\0')
  end
  local first = begin(key, found[1], found[2])
  if first and is_regular and continues(first) then return carry_on(first_piece) end
  return carry_out(first, first_piece)
end
