-- The requests that wrk sends: announces of random peers of random swarms, with events and scrapes as in practice.
-- Arguments: torrents, peers, users (0 in open mode), milliseconds between requests of a connection.
-- Peer p is number k = p / torrents of torrent t = p % torrents; bench/populate.ts numbers them the same way.

local threads = 0
function setup(thread)
  thread:set('seed', threads)
  threads = threads + 1
end

local torrents, peers, users, pause

function init(args)
  torrents, peers, users, pause = tonumber(args[1]), tonumber(args[2]), tonumber(args[3]), tonumber(args[4] or '0')
  math.randomseed(os.time() + seed * 7919)
end

local function hash_of(t)
  local digits = string.format('%08x', t)
  return string.format('%%%02x%%%s%%%s%%%s%%%s', t % 256, digits:sub(1, 2), digits:sub(3, 4), digits:sub(5, 6),
    digits:sub(7, 8)) .. 'bench-info-hash'
end

function delay()
  return math.floor(pause * 2 * math.random())
end

function request()
  local p = math.random(0, peers - 1)
  local t = p % torrents
  local k = math.floor(p / torrents)
  local passkey = users > 0 and string.format('passkey=%040x&', (k * 31 + t) % users) or ''
  local dice = math.random()
  if dice < 0.02 then return wrk.format('GET', '/scrape?' .. passkey .. 'info_hash=' .. hash_of(t)) end
  local seeds = p % 3 == 0
  local event = ''
  if dice < 0.04 then event = '&event=started'
  elseif dice < 0.05 then event, seeds = '&event=completed', true
  elseif dice < 0.06 then event = '&event=stopped' end
  return wrk.format('GET', string.format(
    '/announce?%sinfo_hash=%s&peer_id=-qB4650-%012d&port=%d&uploaded=%d&downloaded=%d&left=%d&corrupt=0&key=%08X%s&numwant=50&compact=1&no_peer_id=1&supportcrypto=1&redundant=0',
    passkey, hash_of(t), p, 10000 + k % 50000, p * 1000, p * 10, seeds and 0 or 1048576, p, event))
end
