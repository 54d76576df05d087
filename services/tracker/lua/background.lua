-- Leadership for work that one process does, and the list of running processes. A full Redis runs these functions too,
-- so that work that frees memory continues. Called by src/redis/leadership.redis.ts and
-- src/webtorrent/processes.redis.ts.
--
--   tracker:leader, tracker:leader:<work>   the id of the leader, which expires with its lease
--   tracker:sockets:processes               names of processes with sockets
--   tracker:sockets:process:<name>          exists while the process runs

local function register(name, callback)
  redis.register_function({ function_name = name, flags = { 'allow-oom' }, callback = callback })
end

-- keys: of the work; args: an id, the lease in milliseconds. Returns 1 if the id is the leader, else 0.
register('lead_VERSION', function(keys, args)
  local leader = redis.call('GET', keys[1])
  if leader and leader ~= args[1] then return 0 end
  redis.call('SET', keys[1], args[1], 'PX', args[2])
  return 1
end)

-- keys: of the work; args: an id. Ends its lease, so that another process can lead immediately.
register('resign_VERSION', function(keys, args)
  if redis.call('GET', keys[1]) == args[1] then redis.call('DEL', keys[1]) end
  return 1
end)

-- keys: of a process; args: the seconds until it counts as stopped.
register('beat_VERSION', function(keys, args)
  redis.call('SET', keys[1], 1, 'EX', args[1])
  return 1
end)

-- keys: of the names; args: a name.
register('enlist_VERSION', function(keys, args)
  return redis.call('SADD', keys[1], args[1])
end)
