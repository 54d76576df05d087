-- What announces have in common: what is credited, when the peer expires and the swarm is looked at again, the answer.

local function minute_of_expiry()
  return max(s.folded, floor((settings.now + settings.ttl - EPOCH) / MINUTE))
end

local function postpone_sweep()
  if settings.now < s.refresh then return end
  call('ZADD', key_of('x'), settings.now + settings.ttl + MINUTE, s.hash)
  s.refresh = settings.now + min(300, floor(settings.ttl / 4))
end

-- What was transferred since the announce with these counters, and notes. A counter that went back starts anew and is
-- credited nothing; the other one counts. What rose faster than the maximum rate is not credited. What was transferred
-- is measured since the last announce that counted, so one too soon leaves it to the next. No time can be told since one
-- in the future.
local function added_since(up, down, last)
  local passed, more_up, more_down = settings.now - last, a.up - up, a.down - down
  if passed < 0 then passed = is_future(last) and settings.ttl or 0 end
  if more_up < 0 then more_up = 0 end
  if more_down < 0 then more_down = 0 end
  local possible = (passed + 1) * settings.max_rate
  if more_up <= possible and more_down <= possible then return more_up, more_down, 0 end
  return 0, 0, IMPLAUSIBLE
end

-- Writes the swarm back, and returns the RESULT. Its pieces of the reply are those from number `first` on: over a
-- socket the SOCKETS of every process, else the records picked and, on request, their peer ids.
local function conclude(status, notes, last, records, first)
  if has(a.options, OVER_SOCKET) then
    reply_with(concat(call('HGETALL', key_of('n:') .. s.hash)))
  elseif has(a.options, WANTS_IDS) then
    reply_with(ids_of(first))
  end
  if has(a.options, IS_ACCOUNTED) and counts_changed() then call('SADD', key_of('dirty'), s.hash) end
  close(a.completed)
  return pack(RESULT, status, notes, s.complete, s.incomplete, s.completed, last or 0, records, settings.now,
    replied - first + 1)
end
