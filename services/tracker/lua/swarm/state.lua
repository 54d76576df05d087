-- The state of a call, and what reads and writes it.

-- The settings of the call, the current swarm and the current announce: one table each for all calls.
local settings, s, a = {}, {}, {}
-- Fields of the swarm's hash that the announce changes, written at its end in one command.
local writes, written = {}, 0

-- What the call returns: [1] becomes the RESULTs one behind the other, then come the pieces that follow each of them.
local reply, replied = {}, 1

local function has(flags, bit)
  return flags % (bit * 2) >= bit
end

local function write(field, value)
  writes[written + 1], writes[written + 2] = field, value
  written = written + 2
end

-- Redis formats a number with 17 digits, which takes longer than a command: places of swarms that are not huge are made
-- text once and kept.
local decimals = {}

local function decimal(number)
  if number >= MOST_KEPT then return number end
  local text = decimals[number]
  if not text then
    text = number .. ''
    decimals[number] = text
  end
  return text
end

-- The field of a minute of expiry. Those of the last hours are kept likewise.
local minute_fields, kept_minutes = {}, 0

local function minute_field(minute)
  local field = minute_fields[minute]
  if not field then
    if kept_minutes >= 1000 then minute_fields, kept_minutes = {}, 0 end
    field = 'b' .. minute
    minute_fields[minute], kept_minutes = field, kept_minutes + 1
  end
  return field
end

-- Adds a piece to the reply. A string of Lua takes time for each byte, so records become one once and are never joined.
local function reply_with(piece)
  if piece == '' then return end
  replied = replied + 1
  reply[replied] = piece
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
