-- Which records an announce is answered with.

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
