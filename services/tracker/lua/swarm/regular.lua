-- The announce that nearly all are: a known peer over HTTP continues as before, after its interval. It does what
-- `carry_out` does, without the questions that have only one answer here.

-- The peer that continues: place, counters, last announce, flags and minute of expiry.
local known = {}

local ROLES_OF_STATES = { [LEECHER] = 0, [SEEDER] = IS_SEEDER, [PAUSED] = IS_PAUSED }

-- Whether nothing about the announcing peer has changed: it has its role, is reached over one family only and this one,
-- was not announced too recently, and its counters did not go back.
local function is_same(up, down, last, mix)
  local flags = mix % 16
  if mix - flags ~= NEVER * 16 then return false end
  if a.families == IPV6 then flags = flags - WAS_IPV6 elseif a.families ~= IPV4 then return false end
  if flags ~= ROLES_OF_STATES[a.state] then return false end
  local passed = settings.now - last
  if passed < 0 or passed < settings.min_interval or a.up < up or a.down < down then return false end
  known.up, known.down, known.last, known.flags, known.mix = up, down, last, flags, mix
  return true
end

-- Whether an entry of the index is that of the announcing peer, which lives, and nothing about the peer has changed.
-- Every other announce is left to `carry_out`. Its event was checked before.
local function continues(value)
  if sub(value, ID_FROM, ID_TO) ~= a.id then return false end
  local at, up, down, last, mix, expires = read(PEER, value)
  if not is_same(up, down, last, mix) then return false end
  if at >= s.seeders + s.others or (at < s.seeders) ~= (known.flags == IS_SEEDER) then return false end
  local ahead = (expires - s.folded) % 65536
  known.at, known.expires = at, s.folded + ahead
  return ahead < 32768
end

-- Credits what the peer transferred since. Returns notes.
local function credit()
  local up, down, notes = added_since(known.up, known.down, known.last)
  if has(a.options, IS_ACCOUNTED) then
    account(up, down, known.flags == IS_SEEDER and min(settings.now - known.last, settings.ttl) or 0)
  end
  return notes
end

-- Carries out the announce of a peer that `continues`. Returns its RESULT, and adds what follows it to the reply.
local function carry_on(first_piece)
  local at, last, flags, expires = known.at, known.last, known.flags, minute_of_expiry()
  if known.expires ~= expires then recount(known.expires, flags, expires, flags) end
  local minute = pack('>I3', expires)
  if a.families == IPV4 then
    call('SETRANGE', s.p, decimal(at * RECORD + NAME), a.ipv4 .. minute)
  else
    call('SETRANGE', s.p, decimal(at * RECORD + 16), minute .. a.ipv6)
  end
  write(a.owner .. '\0\0', pack(PEER, at, a.up, a.down, settings.now, known.mix, expires % 65536, a.id))
  postpone_sweep()
  local records = pick(a.want, flags > 0)
  return conclude(ACCEPTED, credit(), last, records, first_piece)
end

-- The same of a peer that is alone in its swarm.
local function continues_alone(value)
  if sub(value, LONE_ID, LONE_ID + 19) ~= a.id or sub(value, 5, 12) ~= a.owner then return false end
  local completed, _, up, down, last, mix, expires = read(LONE, value)
  known.completed = completed
  return lone_lives(expires) and is_same(up, down, last, mix)
end

local function carry_on_alone(key)
  s.h, s.hash = key, sub(key, 8)
  s.complete = known.flags == IS_SEEDER and 1 or 0
  s.incomplete, s.completed = 1 - s.complete, max(known.completed, a.completed)
  local expires = floor((settings.now + settings.ttl - EPOCH) / MINUTE)
  call('HSET', key_of('o'), s.hash, pack(LONE, s.completed, a.owner, a.up, a.down, settings.now, known.mix, expires,
    a.id, a.ipv4, a.ipv6))
  return pack(RESULT, ACCEPTED, credit(), s.complete, s.incomplete, s.completed, known.last, 0, settings.now, 0)
end
