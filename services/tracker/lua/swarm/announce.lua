-- One announce: returns a head, the records picked and, on request, their peer ids.
local function announce(key, bytes)
  a.owner, a.id, a.families, a.ipv4, a.ipv6, a.event, a.state, a.up, a.down, a.left, a.want, a.random, a.up_percent,
    a.down_percent, a.completed, a.expected, a.options, a.account = read(ANNOUNCE, bytes)
  a.down = min(a.down, MOST_DOWN)
  local first_name = a.owner .. '\0\0'
  local found = call('HMGET', key, '#', first_name)
  local first = found[2]
  open(key, found[1], a.completed)
  fold()
  if s.seeders + s.others > s.complete + s.incomplete then
    sweep(STEPS_PER_ANNOUNCE)
    first = call('HGET', key, first_name)
  elseif s.seeders + s.others == 0 then
    first = nil
  end

  local seeder, paused, stops = a.state == SEEDER, a.state == PAUSED, a.state == STOPPED
  local name, value = find(first)
  if not name and not stops then name = free_entry() end
  local at, up, down, last4, last6, flags, expires, last = 0, nil, nil, 0, 0, 0, nil, 0
  if value then
    at, up, down, last4, last6, flags, expires = read_peer(value)
    last = max(last4, last6)
  elseif has(a.options, IS_ACCOUNTED) and (name or stops) then
    up, down, last = recall_counters()
  end
  local lives = value and expires >= s.folded

  local status, records, timing, since = ACCEPTED, '', nil, nil
  if lives then timing, since = check_timing(at, last4, last6, flags, seeder, paused) end

  -- A counter that went back belongs to a new session. One that rose faster than the maximum rate is not credited. What
  -- was transferred is measured since the last announce that counted, so one too soon leaves it to the next.
  local known, notes = up ~= nil, 0
  local added_up, added_down, seconds = 0, 0, 0
  if known and a.up >= up and a.down >= down then
    local possible = (max(settings.now - last, 0) + 1) * settings.max_rate
    if timing then
      a.up, a.down = up, down
    elseif a.up - up <= possible and a.down - down <= possible then
      added_up, added_down = a.up - up, a.down - down
    else
      notes = IMPLAUSIBLE
    end
  end
  if lives and has(flags, IS_SEEDER) and (seeder or stops and a.left == 0) and not timing then
    seconds = min(max(settings.now - last, 0), settings.ttl)
  end

  if stops then
    if value then
      recount(expires, flags, nil, 0)
      call('HDEL', key, name)
      vacate(at)
    elseif not known then
      status = UNKNOWN_STOPPED
    end
  elseif not name then
    status = SLOTS_FULL
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
    if not timing then
      if has(a.families, IPV4) then last4 = settings.now elseif settings.now - last4 > settings.ttl then last4 = 0 end
      if has(a.families, IPV6) then last6 = settings.now elseif settings.now - last6 > settings.ttl then last6 = 0 end
    else
      new_flags = flags
    end
    if has(new_flags, IS_RECOVERING) then notes = notes + RECOVERING end
    if not lives or expires ~= new_expires or flags % IS_RECOVERING ~= new_flags % IS_RECOVERING then
      recount(expires, flags, new_expires, new_flags)
    end
    at = write_record(name, value, at, flags, new_expires, last4, last6, seeder)
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
  local ids = has(a.options, WANTS_IDS) and ids_of(records) or ''
  return pack(RESULT, status, notes, s.complete, s.incomplete, s.completed, last or 0, #records / RECORD)
    .. records .. ids
end
