-- Which records an announce is answered with. They go into the reply as pieces; the functions return how many records.

local function reply_with_records(first, count)
  reply_with(call('GETRANGE', s.p, decimal(first * RECORD), decimal((first + count) * RECORD - 1)))
  return count
end

-- A contiguous run of records out of `size` from `first` on, starting anywhere and wrapping round.
local function run_of(first, size, want)
  if want <= 0 or size == 0 then return 0 end
  if want + SPARED >= size then return reply_with_records(first, size) end
  local start = a.random % size
  local head = min(want, size - start)
  reply_with_records(first + start, head)
  if head < want then reply_with_records(first, want - head) end
  return want
end

-- A seeder or partial seed gets leechers only; a leecher gets seeders for one half, or more where leechers are few.
local function pick(want, leechers_only)
  if want == 0 then return 0 end
  local reachable = s.seeders + s.others
  -- Some of the records picked may have expired; selection.ts leaves them out.
  want = want + min(want, places() - s.complete - s.incomplete)
  if leechers_only then return run_of(s.seeders, s.others, want) end
  if want >= reachable then return run_of(0, reachable, want) end
  local seeders = min(s.seeders, max(floor((want + 1) / 2), want - s.others))
  return run_of(0, s.seeders, seeders) + run_of(s.seeders, s.others, want - seeders)
end

-- The peer ids of the records in the reply's pieces from number `first` on.
local function ids_of(first)
  local ids = {}
  for piece = first, replied do
    local records = reply[piece]
    for i = 1, #records, RECORD do ids[#ids + 1] = sub(records, i, i + NAME - 1) end
  end
  if #ids == 0 then return '' end
  local values = call('HMGET', s.h, spread(ids))
  -- The announcing peer itself may still have to be written.
  for i = 1, #ids do ids[i] = sub(values[i] or current(ids[i]), ID_FROM, ID_TO) end
  return concat(ids)
end
