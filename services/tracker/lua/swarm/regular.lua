-- The announce that nearly all are: a known peer over HTTP continues as before, after its interval. It does what
-- `announce` does, without the questions that have only one answer here.

-- The peer that continues: place, counters, last announce, flags and minute of expiry.
local known = {}

local ROLES_OF_STATES = { [LEECHER] = 0, [SEEDER] = IS_SEEDER, [PAUSED] = IS_PAUSED }

-- Whether an entry of the index is that of the announcing peer, and nothing about the peer has changed: it lives, has
-- its role, is reached over one family only and this one, was not announced too recently, and its counters did not go
-- back. Every other announce is left to `announce`. Its event was checked before.
local function continues(value)
  if sub(value, ID_FROM, ID_TO) ~= a.id then return false end
  local at, up, down, last, mix, expires = read(PEER, value)
  local flags, role = mix % 16, ROLES_OF_STATES[a.state]
  if mix - flags ~= NEVER * 16 then return false end
  if a.families == IPV6 then flags = flags - WAS_IPV6 elseif a.families ~= IPV4 then return false end
  if flags ~= role or settings.now - last < settings.min_interval or settings.now < last then return false end
  if a.up < up or a.down < down then return false end
  if at >= s.seeders + s.others or (at < s.seeders) ~= (role == IS_SEEDER) then return false end
  expires = s.folded + (expires - s.folded) % 65536
  if expires - s.folded >= 32768 then return false end
  known.at, known.up, known.down, known.last, known.flags, known.mix, known.expires =
    at, up, down, last, flags, mix, expires
  return true
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
  local up, down, notes = added_since(known.up, known.down, last)
  if has(a.options, IS_ACCOUNTED) then
    account(up, down, flags == IS_SEEDER and min(settings.now - last, settings.ttl) or 0)
  end
  return conclude(ACCEPTED, notes, last, records, first_piece)
end
