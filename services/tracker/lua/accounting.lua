-- The accounting queue for the database. Taking a batch renames the accumulated keys, so that announces accumulate in
-- new ones. A batch exists until it is dropped, and a tag has at most one. Called by
-- src/accounting/accounting-queue.redis.ts.
--
--   {xx}:du, {xx}:dirty                      accumulated changes, see swarm/swarm.lua
--   {xx}:flush:<id>, {xx}:flush:<id>:dirty   a batch
--   {xx}:flushing                            the id of the current batch

-- Both functions free memory, so a full Redis runs them too.
local function register(name, callback)
  redis.register_function({ function_name = name, flags = { 'allow-oom' }, callback = callback })
end

-- keys: {xx}:flushing of one tag; args: an id. Takes a batch unless one exists. Returns the id of the current batch.
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

-- keys: {xx}:flushing of one tag; args: the id. Drops a written batch.
register('drop_VERSION', function(keys, args)
  local taken = redis.call('GET', keys[1])
  -- Before this release, the time of taking followed the id.
  if not taken or string.sub(taken, 1, #args[1]) ~= args[1] then return 0 end
  local batch = string.sub(keys[1], 1, 5) .. 'flush:' .. args[1]
  redis.call('DEL', batch, batch .. ':dirty', keys[1])
  return 1
end)
