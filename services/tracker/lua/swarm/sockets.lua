-- The sockets of a swarm: how many each process has, and the role of each client: seeders are given leechers only.

local function sockets_of(process)
  return key_of('w:') .. s.hash .. process
end

local function count_sockets(process, seeders, others)
  local key, hash = key_of('n:') .. s.hash, s.hash
  local value = call('HGET', key, process)
  local had_seeders, had_others = 0, 0
  if value then had_seeders, had_others = read(SOCKETS, value) end
  seeders, others = max(0, had_seeders + seeders), max(0, had_others + others)
  if seeders + others == 0 then
    call('HDEL', key, process)
    call('SREM', key_of('m:') .. process, hash)
  else
    call('HSET', key, process, pack(SOCKETS, seeders, others))
    if not value then call('SADD', key_of('m:') .. process, hash) end
  end
end

-- Notes that the process has a socket of this client, or with no role that it has none any more. `noted` is the role
-- noted so far.
local function note_socket(process, noted, role)
  if noted == role then return end
  local client = a.owner .. a.id
  if role then call('HSET', sockets_of(process), client, role) else call('HDEL', sockets_of(process), client) end
  count_sockets(process, (role == 's' and 1 or 0) - (noted == 's' and 1 or 0),
    (role == 'o' and 1 or 0) - (noted == 'o' and 1 or 0))
end

-- The role under which the process has a socket of this client, or nil.
local function noted_role(process)
  return call('HGET', sockets_of(process), a.owner .. a.id) or nil
end

-- Another process that has a socket of this client, and the role noted there; nil when there is none.
local function holder()
  local processes = call('HKEYS', key_of('n:') .. s.hash)
  for i = 1, #processes do
    if processes[i] ~= a.process then
      local role = noted_role(processes[i])
      if role then return processes[i], role end
    end
  end
end

-- Returns the role under which this process has a socket of this client; or else the process that holds it, or false
-- where a socket closes that another process has taken over.
local function claim()
  local noted = noted_role(a.process)
  if noted then return noted end
  local other, role = holder()
  if other and has(a.options, TAKES_OVER) then
    note_socket(other, role, nil)
    other = nil
  end
  if has(a.options, CLOSES) then return nil, false end
  return nil, other
end

-- Removes a peer at once, as if it had expired. What is counted with it is read again for the next one.
local function end_peer(value)
  local at, _, _, _, _, flags, expires = read_peer(value)
  recount(expires, flags, nil, 0)
  if written > 0 then call('HSET', s.h, spread(writes, 1, written)) end
  written = 0
  forget(at, record(at))
end

-- Ends a peer that announces over HTTP, by its name in the index.
local function expel(name)
  local value = call('HGET', s.h, name)
  if value and part_of(read(PLACE, value)) ~= SOCKETS_ONLY then end_peer(value) end
end

-- Ends a socket that a process has left behind. Its peer expires now, unless it is reached over HTTP too.
local function end_socket(process, client)
  a.owner, a.id = sub(client, 1, 8), sub(client, 9)
  note_socket(process, noted_role(process), nil)
  local _, value = find(call('HGET', s.h, a.owner .. '\0\0'))
  if not value then return end
  if part_of(read(PLACE, value)) == SOCKETS_ONLY then end_peer(value) end
end
