-- The limits of the Torznab API and its blocks of addresses. Times and lengths are milliseconds of the caller's clock, so
-- every key also has an expiry. Called by src/torznab/limits.redis.ts.
--
--   torznab:user:<id>             'window'; the allowed requests in it: 'search', 'download'
--   torznab:address:<address>     'until': the end of its block; 'penalty': the length of its last block; 'forgotten': when
--                                 that length is forgotten; 'window': the last one with refusals; 'refusals' in it;
--                                 'running': consecutive windows with refusals
--   torznab:blocks                blocked addresses by the end of their blocks
--   torznab:wrong-keys:<address>  'count'; 'until': when counting starts again

local function number_at(key, field)
  return tonumber(redis.call('HGET', key, field) or 0)
end

-- The number of the current window, and its name. Clocks of replicas differ, so a window does not follow a later one of
-- the same length that the key has.
local function window_of(key, length, number)
  local known_length, known = string.match(redis.call('HGET', key, 'window') or '', '^(%d+):(%d+)$')
  if tonumber(known_length) == length then number = math.max(number, tonumber(known)) end
  return number, length .. ':' .. number
end

-- The time until the block of this address ends, 0 if it is not blocked.
local function blocked_for(key, now)
  return math.max(0, number_at(key, 'until') - now)
end

-- Counts a refusal in a window. Returns the length of the block that follows, 0 for none.
local function note_refusal(keys, args, now, length, number)
  local address, blocks = keys[2], keys[3]
  local name, refusals_in_window, windows_running, forgotten_after = args[5], tonumber(args[6]), tonumber(args[7]), tonumber(args[8])
  local known = redis.call('HMGET', address, 'window', 'refusals', 'running', 'penalty', 'forgotten')
  local window
  number, window = window_of(address, length, number)
  local penalty = tonumber(known[5] or 0) > now and tonumber(known[4] or 0) or 0
  local refusals, running = 1, 1
  if known[1] == window then
    refusals, running = known[2] + 1, tonumber(known[3])
  elseif known[1] == length .. ':' .. number - 1 then
    running = known[3] + 1
  end
  if refusals < refusals_in_window and running < windows_running then
    local keep = penalty > 0 and forgotten_after or 2 * length
    redis.call('HSET', address, 'window', window, 'refusals', refusals, 'running', running,
      'penalty', penalty, 'forgotten', now + keep)
    redis.call('PEXPIRE', address, keep)
    return 0
  end
  -- From args 9: the lengths of successive blocks.
  local step = 9
  while step < #args and tonumber(args[step]) <= penalty do step = step + 1 end
  penalty = tonumber(args[step])
  redis.call('DEL', address)
  redis.call('HSET', address, 'until', now + penalty, 'penalty', penalty, 'forgotten', now + penalty + forgotten_after)
  redis.call('PEXPIRE', address, penalty + forgotten_after)
  redis.call('ZREMRANGEBYSCORE', blocks, '-inf', now)
  redis.call('ZADD', blocks, now + penalty, name)
  -- The last length is the longest.
  redis.call('PEXPIRE', blocks, args[#args])
  return penalty
end

-- keys: of the user, of the address, torznab:blocks
-- args: now, length of a window, 'search' or 'download', its limit, the address, refusals in a window, windows running,
--   when the last length is forgotten, the lengths of successive blocks
-- Returns 'allowed', searches, downloads; or 'limit' or 'block', the time to wait.
redis.register_function('take_VERSION', function(keys, args)
  local user, address = keys[1], keys[2]
  local now, length, limit = tonumber(args[1]), tonumber(args[2]), tonumber(args[4])
  local blocked = blocked_for(address, now)
  if blocked > 0 then return { 'block', blocked } end
  local number, window = window_of(user, length, math.floor(now / length))
  if redis.call('HGET', user, 'window') ~= window then
    redis.call('DEL', user)
    redis.call('HSET', user, 'window', window)
    redis.call('PEXPIRE', user, length)
  end
  -- Refused requests are not counted, so that a raised limit takes effect at once.
  if number_at(user, args[3]) >= limit then
    local penalty = note_refusal(keys, args, now, length, number)
    return { 'limit', math.max(penalty, (number + 1) * length - now) }
  end
  redis.call('HINCRBY', user, args[3], 1)
  return { 'allowed', number_at(user, 'search'), number_at(user, 'download') }
end)

-- keys: of the address, of its wrong keys; args: now, length of a window, limit
-- Returns the time to wait, 0 if the key is read.
redis.register_function('take_wrong_key_VERSION', function(keys, args)
  local address, wrong = keys[1], keys[2]
  local now, length, limit = tonumber(args[1]), tonumber(args[2]), tonumber(args[3])
  local blocked = blocked_for(address, now)
  if blocked > 0 then return blocked end
  if number_at(wrong, 'until') <= now then
    redis.call('DEL', wrong)
    redis.call('HSET', wrong, 'until', now + length)
    redis.call('PEXPIRE', wrong, length)
  end
  return redis.call('HINCRBY', wrong, 'count', 1) > limit and number_at(wrong, 'until') - now or 0
end)
