-- What waits to be written to the database. A batch is taken by renaming what accumulated under an id of its own, so
-- that announces can accumulate anew, and stays until it is dropped. A tag never has two. Called by
-- src/accounting/accounting-queue.redis.ts.
--
--   {xx}:du, {xx}:dirty                what accumulates, see swarm/swarm.lua
--   {xx}:flush:<id>, {xx}:flush:<id>:dirty   a batch that was taken
--   {xx}:flushing                      its id, while there is one

-- Both free memory, so a Redis that is full carries them out.
local function register(name, callback)
  redis.register_function({ function_name = name, flags = { 'allow-oom' }, callback = callback })
end

-- keys: {xx}:flushing of one tag; args: an id. Takes a batch unless there is one. Returns the id of the one there is.
register('take_VERSION', function(keys, args)
  local taken = redis.call('GET', keys[1])
  if taken then return taken end
  local tag = string.sub(keys[1], 1, 5)
  local deltas, changed = redis.call('EXISTS', tag .. 'du'), redis.call('EXISTS', tag .. 'dirty')
  if deltas + changed == 0 then return false end
  local batch = tag .. 'flush:' .. args[1]
  if deltas == 1 then redis.call('RENAME', tag .. 'du', batch) end
  if changed == 1 then redis.call('RENAME', tag .. 'dirty', batch .. ':dirty') end
  redis.call('SET', keys[1], args[1])
  return args[1]
end)

-- keys: {xx}:flushing of one tag; args: the id. Drops a batch that was written.
register('drop_VERSION', function(keys, args)
  local taken = redis.call('GET', keys[1])
  -- Until this release the second at which it was taken stood behind the id.
  if not taken or string.sub(taken, 1, #args[1]) ~= args[1] then return 0 end
  local batch = string.sub(keys[1], 1, 5) .. 'flush:' .. args[1]
  redis.call('DEL', batch, batch .. ':dirty', keys[1])
  return 1
end)
