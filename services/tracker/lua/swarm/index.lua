-- The index: the entry of each peer in the hash of its swarm.

-- Returns place, uploaded, downloaded, last announce over IPv4 and over IPv6, flags, minute of expiry. The earlier one
-- of the two times is exact to a minute.
local function read_peer(value)
  local at, up, down, last, mix, expires = read(PEER, value)
  local flags, minutes = mix % 16, floor(mix / 16)
  local other = minutes == NEVER and 0 or last - minutes * MINUTE
  local ahead = (expires - s.folded) % 65536
  expires = s.folded + (ahead < 32768 and ahead or ahead - 65536)
  if has(flags, WAS_IPV6) then return at, up, down, other, last, flags - WAS_IPV6, expires end
  return at, up, down, last, other, flags, expires
end

local function pack_peer(at, last4, last6, flags, expires)
  local last, other = last4, last6
  if last6 > last4 then last, other, flags = last6, last4, flags + WAS_IPV6 end
  local minutes = other == 0 and NEVER or min(NEVER, floor((last - other) / MINUTE))
  return pack(PEER, at, a.up, a.down, last, minutes * 16 + flags, expires % 65536, a.id)
end
