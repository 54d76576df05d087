-- Announces: reading, checks, crediting, storing, and picking peers.

-- The current announce: its fields, its address families, and the names of the owner's other peers. `slot0` is the name
-- of the owner's first peer.
local slot0, id, families, ipv4, ipv6, event, state, up, down, left, want, random, up_percent, down_percent, known,
  expected, accounted, wants_ids, purpose, account, process, admission
local has4, has6, siblings

-- The client among the peers of its owner ---------------------------------------------------------------------------

local function name_of(owner, slot)
  return sub(owner, 1, 8) .. pack('>I2', slot)
end

-- Finds this client among the peers of its owner, and makes it the current peer. Returns its name, else a free name,
-- else nothing. Entries in slots other than 0 are only read if needed, and recorded as siblings if they belong to other
-- clients.
local function find()
  siblings = nil
  local first = header and call('HGET', key, slot0)
  if first then read_peer(first) else forget_peer() end
  if not header or p_id == id and p_flags < HAS_SIBLINGS then return slot0 end
  forget_peer()
  local names, values = {}, {}
  for slot = 1, max_peers - 1 do names[slot] = name_of(slot0, slot) end
  if max_peers > 1 then values = call('HMGET', key, spread(names)) end
  names[0], values[0] = slot0, first
  local free, own
  for slot = 0, max_peers - 1 do
    if not values[slot] then
      free = free or names[slot]
    elseif sub(values[slot], ID_FROM, ID_TO) == id then
      own = names[slot]
      read_peer(values[slot])
    else
      siblings = siblings or {}
      siblings[#siblings + 1] = names[slot]
    end
  end
  return own or free
end

-- Frees the name of the owner's peer with the oldest announce if it has expired or must be replaced.
local function free_name()
  local oldest, oldest_seen
  for _, name in ipairs(siblings) do
    read_peer(call('HGET', key, name))
    if not oldest or p_seen < oldest_seen then oldest, oldest_seen = name, p_seen end
  end
  read_peer(call('HGET', key, oldest))
  if lives() and evicts == 0 then return nil end
  remove(oldest, not lives())
  return oldest
end

-- Records at the owner's peer in slot 0 that there are others.
local function note_siblings()
  local first = call('HGET', key, slot0)
  local flags = first and first:byte(FLAGS_AT) or HAS_SIBLINGS
  if flags >= HAS_SIBLINGS then return end
  call('HSET', key, slot0, sub(first, 1, FLAGS_AT - 1) .. string.char(flags + HAS_SIBLINGS) .. sub(first, FLAGS_AT + 1))
end

-- Returns and removes the counters of this client from before it expired, unless they are past their retention.
local function recall_counters()
  local field = hash .. sub(slot0, 1, 8) .. id
  for week = floor(now / WEEK), floor((now - keep_counters) / WEEK), -1 do
    local remembered = tag .. 'k:' .. week
    local value = call('HGET', remembered, field)
    if value then
      call('HDEL', remembered, field)
      local last_up, last_down, seen = read(REMEMBERED, value)
      if now - seen > keep_counters then return nil end
      return last_up, last_down, seen
    end
  end
  return nil
end

-- Timing and counters -------------------------------------------------------------------------------------------------

-- Whether a time is further ahead than the tolerated difference between clocks.
local function is_future(second)
  return second > now + repeat_window
end

-- Whether the announce contains a known endpoint of the peer, and whether it contains a different one, in the address
-- families that both have.
local function compare_endpoints()
  local same, differs = false, false
  if has4 and p_last4 > 0 then same, differs = p_ipv4 == ipv4, p_ipv4 ~= ipv4 end
  if has6 and p_last6 > 0 then
    local is_same = ipv6_at(p_place) == ipv6
    same, differs = same or is_same, differs or not is_same
  end
  return same, differs
end

-- Whether a peer of the swarm announces regularly: it stops or completes, or the interval has passed. The process of a
-- socket enforces its interval.
local function is_regular()
  if state == STOPPED or purpose ~= HTTP or state == SEEDER and p_flags % ROLES ~= SEEDER - 1 then return true end
  local last = not has6 and p_last4 or not has4 and p_last6 or min(p_last4, p_last6)
  local interval = p_flags % HAS_SIBLINGS >= IS_RECOVERING and recovery_interval or min_interval
  return last == 0 or now - last >= interval or is_future(last)
end

-- Whether this announce repeats the last one, or comes too soon. One with a new endpoint, family, role or event is
-- never too soon. Returns the status, and the time of the peer's previous announce in seconds.
local function check_timing()
  if event ~= REGULAR or state - 1 ~= p_flags % ROLES then return nil end
  local last = not has6 and p_last4 or not has4 and p_last6 or min(p_last4, p_last6)
  local interval = p_flags % HAS_SIBLINGS >= IS_RECOVERING and recovery_interval or min_interval
  local passed = now - last
  if last == 0 or passed >= interval or passed < 0 and is_future(last) then return nil end
  local _, differs = compare_endpoints()
  if differs then return nil end
  return passed <= repeat_window and ACCEPTED or TOO_SOON, last
end

-- Returns the bytes transferred since the announce with these counters, and notes. A counter that decreased has
-- restarted and is not credited; the other one is. Growth above the maximum speed is not credited. If the last announce
-- is in the future, the elapsed time is unknown.
local function added_since(last_up, last_down, seen)
  local passed, more_up, more_down = now - seen, max(up - last_up, 0), max(down - last_down, 0)
  if passed < 0 then passed = is_future(seen) and ttl or 0 end
  local possible = (passed + 1) * max_rate
  if more_up <= possible and more_down <= possible then return more_up, more_down, 0 end
  return 0, 0, IMPLAUSIBLE
end

-- A percentage of a number, rounded down. Hundreds and the rest are multiplied separately, because the whole product
-- may exceed 2^53.
local function share(bytes, percent)
  if percent == 100 then return bytes end
  local rest = bytes % 100
  return (bytes - rest) / 100 * percent + floor(rest * percent / 100)
end

-- Adds the user's transfer to the queue for the next flush, which rarely contains an entry for the user already.
local function credit(added_up, added_down, seconds)
  local deltas = tag .. 'du'
  local credited_up, credited_down = share(added_up, up_percent), share(added_down, down_percent)
  local roles = left > 0 and state ~= STOPPED and LEECHED or 0
  local completed_at = event == COMPLETED and state == SEEDER and now or 0
  if call('HSETNX', deltas, account, pack(DELTA, credited_up, credited_down, added_up, added_down, seconds, now, left,
    state + roles, completed_at, now)) == 1 then return end
  local had_credited_up, had_credited_down, had_up, had_down, had_seconds, _, _, had_roles, had_completed_at, first =
    read(DELTA, call('HGET', deltas, account))
  had_roles = had_roles - had_roles % LEECHED
  roles = max(roles, had_roles % SNATCHED) + (had_roles >= SNATCHED and SNATCHED or 0)
  -- The database decides whether a peer with nothing left before is a snatch: something may have been left earlier.
  if completed_at > 0 and roles == LEECHED then
    roles = LEECHED + SNATCHED
  elseif had_completed_at > 0 then
    completed_at = had_completed_at
  end
  call('HSET', deltas, account, pack(DELTA, had_credited_up + credited_up, had_credited_down + credited_down,
    had_up + added_up, had_down + added_down, had_seconds + seconds, now, left, state + roles, completed_at, first))
end

-- Picking -------------------------------------------------------------------------------------------------------------

-- A library has at most 200 local names at once, so those of picking end with it.
local pick
do
  -- The picked runs of places, as alternating starts and lengths.
  local runs, last_run = {}, 0

  local function add_run(start, length)
    if length == 0 then return end
    runs[last_run + 1], runs[last_run + 2] = start, length
    last_run = last_run + 2
  end

  -- Picks a run from the part of `places` that begins at `first`, with a random start and wraparound. If it would leave
  -- out less than a fifth, it becomes the whole part, which takes one command instead of two.
  local function run_of(first, places, count)
    if count * 1.25 >= places then return add_run(first, places) end
    local start = random % places
    local head = min(count, places - start)
    add_run(first + start, head)
    add_run(first, count - head)
  end

  -- The position of a place among the picked ones, or NOWHERE.
  local function offset_of(place)
    local before = 0
    for i = 1, last_run, 2 do
      if place >= runs[i] and place < runs[i] + runs[i + 1] then return before + place - runs[i] end
      before = before + runs[i + 1]
    end
    return NOWHERE
  end

  local function reply_with_column(column)
    for i = 1, last_run, 2 do reply_with(read_column(column, runs[i], runs[i] + runs[i + 1])) end
  end

  local function reply_with_ids()
    local ids = {}
    for i = 1, last_run, 2 do
      local _, values = peers_between(runs[i], runs[i] + runs[i + 1])
      for j = 1, #values do ids[#ids + 1] = sub(values[j], ID_FROM, ID_TO) end
    end
    reply_with(concat(ids))
  end

  -- Picks peers: seeders and partial seeds receive only leechers; half of a leecher's peers are seeders, or more if
  -- there are few leechers. Adds the endpoints to the reply. Returns notes and the position of the announcing peer among
  -- the picked.
  function pick(place)
    if want == 0 then return 0, NOWHERE end
    local seeders, others = size[SEEDERS], size[LEECHERS] + size[PAUSED]
    last_run = 0
    if state ~= LEECHER then
      run_of(seeders, others, want)
    elseif want >= seeders + others then
      add_run(0, seeders + others)
    else
      local half = min(seeders, max(floor((want + 1) / 2), want - others))
      run_of(0, seeders, half)
      run_of(seeders, others, want - half)
    end
    local notes = has_ipv6 and WITH_IPV6 or 0
    if siblings then
      local offsets, values = {}, call('HMGET', key, spread(siblings))
      for i = 1, #siblings do offsets[i] = pack('>I2', values[i] and offset_of((read('>I3', values[i]))) or NOWHERE) end
      notes = notes + WITH_SIBLINGS
      reply_with(concat(offsets))
    end
    reply_with_column(FOUR)
    if has_ipv6 then reply_with_column(SIX) end
    if wants_ids == 1 then reply_with_ids() end
    return notes, place and offset_of(place) or NOWHERE
  end
end

-- The announce --------------------------------------------------------------------------------------------------------

-- Ends a peer. A peer connected over both transports remains until both have stopped. Returns a status.
local function stop(name, has_counters, socket_only)
  if not p_place then return has_counters and ACCEPTED or UNKNOWN_STOPPED end
  if purpose ~= HTTP and not socket_only then
    -- It continues over HTTP, and is credited there.
    store(name, p_flags, p_last4, p_last6, nil, nil, nil)
    return UNKNOWN_STOPPED
  end
  if purpose == HTTP and p_process then
    if socket_only then return UNKNOWN_STOPPED end
    p_up, p_down, p_beat = max(up, p_up), max(down, p_down), now
    store(name, p_flags, 0, 0, nil, nil, p_process)
    return ACCEPTED
  end
  p_up, p_down = up, down
  remove(name, purpose == CLOSES)
  return ACCEPTED
end

-- Stores the peer of this announce: a new one, or the known one with changes.
local function store_announced(name, notes)
  local last4, last6 = p_last4, p_last6
  if purpose == HTTP then
    if has4 then last4 = now end
    if has6 then last6 = now end
  else
    p_beat = now
  end
  -- An address that is not confirmed expires after the lifetime of a peer.
  if now - last4 > ttl then last4 = 0 end
  if now - last6 > ttl then last6 = 0 end
  p_up, p_down, p_id = up, down, id
  local flags = state - 1 + (notes >= RECOVERING and IS_RECOVERING or 0) + (siblings and HAS_SIBLINGS or 0)
  if purpose == HTTP then return store(name, flags, last4, last6, has4 and ipv4, has6 and ipv6, p_process) end
  store(name, flags, last4, last6, nil, nil, process)
end

-- Writes the swarm back and returns the RESULT. Its pieces of the reply start at index `first_piece`: over a socket,
-- the SOCKETS of every process.
local function conclude(first_piece, status, notes, last, offset)
  if purpose ~= HTTP and status ~= HELD then reply_with(concat(call('HGETALL', tag .. 'n:' .. hash))) end
  close(known)
  local complete = size[SEEDERS] + size[SEEDERS + SOCKETS_ONLY]
  return pack(RESULT, status, notes, complete, total - complete, completed, last, offset, now,
    replied - first_piece + 1)
end

-- Checks that the process of an announce over a socket has the peer's socket, or may take it over. Returns a status if
-- not.
local function claim()
  if purpose == CLOSES then return p_process ~= process and UNKNOWN_STOPPED or nil end
  if not p_process or p_process == process or purpose == TAKES_OVER then return nil end
  reply_with(p_process)
  return HELD
end

-- Checks `claim`, and whether a user over the limit of announces may make this one. Returns a status if not.
local function refuse()
  local refused = purpose ~= HTTP and claim()
  if refused or admission == 0 then return refused end
  local is_admitted = admission ~= KNOWN_ONLY
  if p_place and lives() then is_admitted = is_regular() end
  return not is_admitted and NOT_ADMITTED
end

-- The notes of a client that is new in the swarm.
local function notes_of_new()
  -- The peer continues a session, and the database counts more peers than the swarm: Redis has lost them.
  if event ~= STARTED and event ~= COMPLETED and expected > total + 1 then return REJOINED + RECOVERING end
  -- It is over the limit and receives no peers, so it may soon announce again.
  return admission > 0 and state == LEECHER and RECOVERING or 0
end

-- Reads an announce, opens its swarm and finds the client, as `find` does.
local function receive(bytes, position)
  local swarm
  swarm, slot0, id, families, ipv4, ipv6, event, state, up, down, left, want, random, up_percent, down_percent, known,
    expected, accounted, wants_ids, purpose, account, process, admission = read(ANNOUNCE, bytes, position)
  has4, has6 = families % 2 == 1, families >= 2
  open(swarm, call('HGET', swarm, '#'), known)
  sweep_small()
  return find()
end

-- Runs one announce. Returns its RESULT, and adds its pieces to the reply.
local function announce(bytes, position)
  local first_piece = replied + 1
  local name = receive(bytes, position)
  local socket, stops = purpose ~= HTTP, state == STOPPED
  local refused = (socket or admission > 0) and refuse()
  if refused then return conclude(first_piece, refused, 0, 0, NOWHERE) end

  if not name and not stops then
    name = free_name()
    forget_peer()
  end
  local is_known = p_place ~= nil
  local alive, socket_only = is_known and lives(), is_known and p_last4 + p_last6 == 0
  local last_up, last_down, seen = p_up, p_down, p_seen
  if not is_known and accounted == 1 and (name or stops) and purpose ~= CLOSES then
    last_up, last_down, seen = recall_counters()
  end
  local over_http = alive and not socket and not socket_only

  -- Two machines have the same peer id. Differences between their counters would be credited repeatedly, so the second
  -- one receives replies but is neither credited nor stored until the first one expires.
  if accounted == 1 and over_http and (up < last_up or down < last_down) then
    local same, differs = compare_endpoints()
    if differs and not same then
      if stops then return conclude(first_piece, UNKNOWN_STOPPED, ELSEWHERE, seen, NOWHERE) end
      credit(0, 0, 0)
      local notes, offset = pick(p_place)
      return conclude(first_piece, ACCEPTED, ELSEWHERE + notes, seen, offset)
    end
  end
  local timing, since
  -- Their process enforces the interval of sockets.
  if over_http and not stops then timing, since = check_timing() end
  -- A closing socket reports no counters.
  if last_up and purpose == CLOSES then up, down = last_up, last_down end

  local notes, added_up, added_down, seconds = 0, 0, 0, 0
  local goes_on = stops and socket and not socket_only
  if last_up and timing then
    up, down = min(up, last_up), min(down, last_down)
  elseif last_up and not goes_on then
    added_up, added_down, notes = added_since(last_up, last_down, seen)
  end
  local seeded = alive and p_flags % ROLES == SEEDER - 1 and (state == SEEDER or stops and left == 0)
  if seeded and not timing and not goes_on then seconds = min(max(now - seen, 0), ttl) end

  local status, offset = timing or ACCEPTED, NOWHERE
  if stops then
    status = stop(name, last_up ~= nil, socket_only)
  elseif not name then
    status = SLOTS_FULL
  elseif timing then
    if p_flags % HAS_SIBLINGS >= IS_RECOVERING then notes = notes + RECOVERING end
    if up < p_up or down < p_down then
      p_up, p_down = up, down
      write_peer(name)
    end
  else
    if not is_known then notes = notes + notes_of_new() end
    -- If users are accounted, the database counts who completed.
    if accounted == 0 and event == COMPLETED and state == SEEDER and alive and p_flags % ROLES ~= SEEDER - 1 then
      completed, changed, counted = completed + 1, true, true
    end
    store_announced(name, notes)
    if name ~= slot0 and not is_known then note_siblings() end
  end
  if not stops and status == ACCEPTED and not socket then
    local more
    more, offset = pick(name and p_place)
    notes = notes + more
  end
  if accounted == 1 and status ~= UNKNOWN_STOPPED and status ~= SLOTS_FULL then
    credit(added_up, added_down, seconds)
  end
  return conclude(first_piece, status, notes, timing == TOO_SOON and since or is_known and seen or 0, offset)
end
