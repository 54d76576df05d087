-- The swarm: its hash, its counts and the minutes in which its peers expire.

-- Opens the swarm of a key. `completed` is the database's count, and the swarm's never falls below it.
local function open(key, entry, completed)
  s.h, s.hash = key, sub(key, 8)
  s.p = key_of('p:') .. s.hash
  if entry then
    local whole = entry
    if #entry < SWARM_LENGTH then
      whole = entry .. PADDING
      -- A release from before wrote it, which leaves a field of {xx}:o as it is.
      call('HDEL', key_of('o'), s.hash)
    end
    s.seeders, s.others, s.complete, s.incomplete, s.paused, s.completed, s.hand, s.folded, s.refresh, s.sockets,
      s.next = read(SWARM, whole)
    if settings.minute - s.folded > OLDEST_MINUTES or s.folded - settings.minute > FURTHEST_MINUTES then
      call('DEL', s.h, s.p)
      entry = nil
    end
  end
  if not entry then
    s.seeders, s.others, s.complete, s.incomplete, s.paused, s.completed, s.hand, s.folded, s.refresh, s.sockets,
      s.next = 0, 0, 0, 0, 0, 0, 0, settings.minute, 0, 0, NO_MINUTE
  end
  s.entry = entry
  s.completed = max(s.completed, completed)
  s.was_complete, s.was_incomplete, s.was_completed = s.complete, s.incomplete, s.completed
  written = 0
end

local function places()
  return s.seeders + s.others + s.sockets
end

-- Reads the fields of some minutes, subtracts the peers of those that have passed and deletes their fields. Stops
-- behind the first minute to come in which a peer may expire; returns that minute, or nil.
local function fold_minutes(first, last)
  local fields, gone, found = {}, {}, nil
  for minute = first, last do fields[#fields + 1] = minute_field(minute) end
  local values = call('HMGET', s.h, spread(fields))
  for i = 1, #fields do
    local value, minute = values[i], first + i - 1
    if value and minute >= settings.minute and value ~= NO_COUNTS then
      found = minute
      break
    elseif value then
      local complete, incomplete, paused = read(COUNTS, value)
      s.complete, s.incomplete, s.paused = s.complete - complete, s.incomplete - incomplete, s.paused - paused
      gone[#gone + 1] = fields[i]
    end
  end
  if #gone > 0 then call('HDEL', s.h, spread(gone)) end
  return found
end

-- Subtracts from the counts every peer that expired until now. Their records are removed later, by `sweep`. Nothing is
-- read until the first minute in which a peer may expire has passed; then the next such minute is looked for.
local function fold()
  if s.folded >= settings.minute then return end
  local minute, furthest = max(s.next, s.folded), settings.minute + floor(settings.ttl / MINUTE) + 1
  if places() == 0 then
    s.next = NO_MINUTE
  elseif minute < settings.minute then
    local found
    while not found and minute < furthest do
      local last = min(minute + MINUTES_AT_ONCE, furthest) - 1
      found = fold_minutes(minute, last)
      minute = last + 1
    end
    s.next = found or furthest
  end
  s.folded = settings.minute
end

local function count(flags, by)
  if has(flags, IS_SEEDER) then s.complete = s.complete + by else s.incomplete = s.incomplete + by end
  if has(flags, IS_PAUSED) then s.paused = s.paused + by end
end

local function counts_with(counts, flags, by)
  local complete, incomplete, paused = read(COUNTS, counts or NO_COUNTS)
  local seeder, pausing = has(flags, IS_SEEDER), has(flags, IS_PAUSED)
  if seeder then complete = complete + by else incomplete = incomplete + by end
  return pack(COUNTS, complete, incomplete, pausing and paused + by or paused)
end

-- Writes the counts of a minute of expiry. Where none is left there is no field.
local function write_counts(minute, counts)
  if counts ~= NO_COUNTS then
    write(minute_field(minute), counts)
    if minute < s.next then s.next = minute end
  else
    call('HDEL', s.h, minute_field(minute))
  end
end

-- Moves a peer from one minute of expiry to another; nil for a peer that joins, or leaves.
local function recount(from, from_flags, to, to_flags)
  if from and from < s.folded then from = nil end
  if from then count(from_flags, -1) end
  if to then count(to_flags, 1) end
  if from == to then
    if not from then return end
    local counts = call('HGET', s.h, minute_field(from))
    write_counts(from, counts_with(counts_with(counts, from_flags, -1), to_flags, 1))
  elseif from and to then
    local counts = call('HMGET', s.h, minute_field(from), minute_field(to))
    write_counts(from, counts_with(counts[1], from_flags, -1))
    write_counts(to, counts_with(counts[2], to_flags, 1))
  elseif from then
    write_counts(from, counts_with(call('HGET', s.h, minute_field(from)), from_flags, -1))
  else
    write_counts(to, counts_with(call('HGET', s.h, minute_field(to)), to_flags, 1))
  end
end

-- Writes the swarm back under keys of its own. One without peers is deleted, unless it counts completions the database
-- may not know.
local function store(completed)
  if places() == 0 and s.completed <= completed then
    call('DEL', s.h, s.p)
    call('ZREM', key_of('x'), s.hash)
  else
    local entry = pack(SWARM, s.seeders, s.others, s.complete, s.incomplete, s.paused, s.completed, s.hand, s.folded,
      s.refresh, s.sockets, s.next)
    if places() > LIST then entry = entry .. PADDING end
    if entry ~= s.entry then write('#', entry) end
    if written > 0 then call('HSET', s.h, spread(writes, 1, written)) end
  end
end

local function counts_changed()
  return s.complete ~= s.was_complete or s.incomplete ~= s.was_incomplete or s.completed ~= s.was_completed
end
