-- The swarm: its hash, its counts and the minutes in which its peers expire.

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
  s.entry = entry
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
    for i = s.folded, upto - 1 do fields[#fields + 1] = minute_field(i) end
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
  if seeder then complete = complete + by else incomplete = incomplete + by end
  return pack(COUNTS, complete, incomplete, pausing and paused + by or paused)
end

-- Moves a peer from one minute of expiry to another; nil for a peer that joins, or leaves.
local function recount(from, from_flags, to, to_flags)
  if from and from < s.folded then from = nil end
  if from then count(from_flags, -1) end
  if to then count(to_flags, 1) end
  if from == to then
    if not from then return end
    local field = minute_field(from)
    write(field, counts_with(counts_with(call('HGET', s.h, field), from_flags, -1), to_flags, 1))
  elseif from and to then
    local from_field, to_field = minute_field(from), minute_field(to)
    local counts = call('HMGET', s.h, from_field, to_field)
    write(from_field, counts_with(counts[1], from_flags, -1))
    write(to_field, counts_with(counts[2], to_flags, 1))
  elseif from then
    local field = minute_field(from)
    write(field, counts_with(call('HGET', s.h, field), from_flags, -1))
  else
    local field = minute_field(to)
    write(field, counts_with(call('HGET', s.h, field), to_flags, 1))
  end
end

-- Writes the swarm back. One without peers is deleted, unless it counts completions the database may not know.
local function close(completed)
  if places() == 0 and s.completed <= completed then
    call('DEL', s.h, s.p)
    call('ZREM', key_of('x'), s.hash)
  else
    local entry = pack(SWARM, s.seeders, s.others, s.complete, s.incomplete, s.paused, s.completed, s.hand, s.folded,
      s.refresh, s.sockets)
    if places() > LIST then entry = entry .. PADDING end
    if entry ~= s.entry then write('#', entry) end
    if written > 0 then call('HSET', s.h, spread(writes, 1, written)) end
  end
end

local function counts_changed()
  return s.complete ~= s.was_complete or s.incomplete ~= s.was_incomplete or s.completed ~= s.was_completed
end
