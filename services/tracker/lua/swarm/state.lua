-- The state of a call, and what reads and writes it.

-- The settings of the call, the current swarm and the current announce: one table each for all calls.
local settings, s, a = {}, {}, {}
-- Fields of the swarm's hash that the announce changes, written at its end in one command.
local writes, written = {}, 0

local function has(flags, bit)
  return flags % (bit * 2) >= bit
end

local function write(field, value)
  writes[written + 1], writes[written + 2] = field, value
  written = written + 2
end

local function key_of(kind)
  return sub(s.h, 1, 5) .. kind
end

local function read_settings(bytes)
  if not call then
    call, sub, rep, floor, max, min = redis.call, string.sub, string.rep, math.floor, math.max, math.min
    concat, spread, pack, read = table.concat, unpack, struct.pack, struct.unpack
  end
  settings.now, settings.ttl, settings.min_interval, settings.repeat_window, settings.recovery_interval,
    settings.max_peers, settings.keep_counters, settings.max_rate = read(SETTINGS, bytes)
  -- The clock of this server is the same for every process; a caller that gives a time is a test.
  if settings.now == 0 then settings.now = tonumber(call('TIME')[1]) end
  settings.minute = floor((settings.now - EPOCH) / MINUTE)
end
