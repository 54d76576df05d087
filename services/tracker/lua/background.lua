-- Who does what one process has to do, and which processes run. A Redis that is full carries these out, so that what
-- frees memory goes on. Called by src/leadership/leadership.redis.ts and src/webtorrent/processes.redis.ts.
--
--   tracker:leader, tracker:leader:<work>   the id of the process that leads, for as long as its lease
--   tracker:sockets:processes               names of processes that have sockets
--   tracker:sockets:process:<name>          there while that process runs

local function register(name, callback)
  redis.register_function({ function_name = name, flags = { 'allow-oom' }, callback = callback })
end

-- keys: of the work; args: an id, the lease in milliseconds. Returns 1 when the id leads from now on, else 0.
register('lead_VERSION', function(keys, args)
  local leader = redis.call('GET', keys[1])
  if leader and leader ~= args[1] then return 0 end
  redis.call('SET', keys[1], args[1], 'PX', args[2])
  return 1
end)

-- keys: of the work; args: an id. Ends its lease, so that another one can lead at once.
register('resign_VERSION', function(keys, args)
  if redis.call('GET', keys[1]) == args[1] then redis.call('DEL', keys[1]) end
  return 1
end)

-- keys: of a process; args: how long it stands without this, in seconds.
register('beat_VERSION', function(keys, args)
  redis.call('SET', keys[1], 1, 'EX', args[1])
  return 1
end)

-- keys: of the names; args: a name.
register('enlist_VERSION', function(keys, args)
  return redis.call('SADD', keys[1], args[1])
end)
