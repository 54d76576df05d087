-- Swarms: their peers, which peers an announce is answered with, and what each user transferred. One call changes one
-- or more swarms, each atomically; every step costs the same in a swarm of ten and of a hundred thousand. The binary
-- layouts SETTINGS, ANNOUNCE, RESULT, RECORD and DELTA below are shared with src/swarm/*wire.ts: change both together.
--
-- The files of this folder become one library: src/swarm/functions.redis.ts puts them together in a fixed order, and a
-- file sees the local names of all files before it.
--
-- Keys, where xx is the first byte of the info hash, so that all keys of a call share a Cluster slot:
--   {xx}:h:<info hash>  hash: '#' the swarm itself, 'b<minute>' how many peers expire then, <owner 8><slot 2> a peer
--   {xx}:p:<info hash>  string: one RECORD per peer without gaps: seeders, then others, then those with a socket only
--   {xx}:o              hash: a LONE by info hash, instead of these two, for each swarm of one peer
--   {xx}:n:<info hash>  hash: how many SOCKETS each process has in the swarm
--   {xx}:w:<info hash><process>  hash: the role of each of them, by owner and peer id
--   {xx}:m:<process>    set: info hashes of the swarms in which the process has sockets
--   {xx}:x              sorted set: swarms by the second at which to sweep them if nobody announces, and the empty
--                       string by that at which to look through {xx}:o again
--   {xx}:k:<week>       hash: last counters of expired peers
--   {xx}:du             hash: what users transferred since the last flush, a DELTA by user and torrent
--   {xx}:dirty          set: info hashes whose counts changed since the last flush

-- A library sees Lua's own functions only once it is called; see `read_settings`.
local call, sub, rep, floor, max, min, concat, spread, pack, read

-- Minutes of expiry count from 2020 and fit three bytes until 2051.
local EPOCH, MINUTE, WEEK = 1577836800, 60, 604800
-- RECORD: name 10 (owner and slot, as in the index), IPv4 and port 6, minute of expiry 3, IPv6 and port 18
local RECORD, NAME = 37, 10
-- place, uploaded, downloaded, last announce, minutes since the last one of the other family and flags, minute of
-- expiry without its upper bits, peer id: 44 bytes, which with Redis's own fill an allocation of 48
local PEER, ID_FROM, ID_TO = '>I3I7I6I4I2I2c20', 25, 44
local PLACE = '>I3'
-- completed; owner; uploaded, downloaded, last announce, minutes since the last one of the other family and flags;
-- minute of expiry; peer id; IPv4 and port; IPv6 and port. It is longer than a list takes, see LIST.
local LONE, LONE_LIFE, LONE_EXPIRY, LONE_ID = '>I4c8I7I6I4I2I3c20c6c18', '>I2I3', 30, 35
local MOST_DOWN, NEVER = 281474976710655, 4095
-- places of seeders, of others; living seeders, others, paused; completed; clock hand; minute folded; next refresh;
-- places of peers that have a socket only; the first minute in which a peer may expire. The last two were added later:
-- releases from before write a shorter entry, and ignore what is longer.
local SWARM, SWARM_LENGTH, SOCKETS_AT = '>I4I4I4I4I4I4I4I3I4I4I3', 42, 36
-- seeders, others
local SOCKETS = '>I4I4'
local COUNTS = '>I4I4I4'
local NO_COUNTS = '\0\0\0\0\0\0\0\0\0\0\0\0'
-- credited up and down, actual up and down, seed seconds, last seen, left, state and ROLES, completed at, first seen
local DELTA = '>I7I7I7I7I5I4I7I1I4I4'
local REMEMBERED = '>I7I7I4'
local ANNOUNCE, ANNOUNCE_LENGTH = '>c8c20I1c6c18I1I1I7I7I7I1I4I2I2I4I4I1c32c8', 134
local SETTINGS = '>I4I4I4I4I4I2I4I6'
-- status, notes, complete, incomplete, completed, last announce, records, time, pieces of the reply that follow
local RESULT = '>I1I1I4I4I4I4I2I4I1'

local REGULAR, STARTED, COMPLETED = 0, 1, 2
local STOPPED, LEECHER, SEEDER, PAUSED = 0, 1, 2, 3
local IPV4, IPV6 = 1, 2
local IS_SEEDER, IS_PAUSED, IS_RECOVERING, WAS_IPV6 = 1, 2, 4, 8
local IS_ACCOUNTED, WANTS_IDS, EVICTS, OVER_SOCKET, TAKES_OVER, CLOSES = 1, 2, 4, 8, 16, 32
local ACCEPTED, UNKNOWN_STOPPED, TOO_SOON, SLOTS_FULL, HELD = 0, 1, 2, 3, 4
local REJOINED, IMPLAUSIBLE, RECOVERING, ELSEWHERE = 1, 2, 4, 8
-- ROLES: something was left in an announce of the user; they completed after one
local LEECHED, SNATCHED = 16, 32

-- An announce removes expired records, and looks at no more than this many for it.
local STEPS_PER_ANNOUNCE = 8
-- Longer than counters are kept, so that a swarm unchanged for so long holds no peer and nothing that is needed again;
-- short enough for the lower 16 bits of an expiry.
local OLDEST_MINUTES = 30500
-- How far ahead of this clock another process's may be. A swarm from further in the future was written by a wrong
-- clock, and would keep its peers until then.
local FURTHEST_MINUTES = 1440
-- Peers of a {xx}:o that one call looks at, and seconds after which it looks through them again.
local LONE_STEPS, LONE_SWEEP_EVERY = 500, 120
local SMALL = 2000
-- A few records more than wanted cost less than reading a run in two pieces.
local SPARED = 8
-- A hash of few short values is a list that Redis searches from its start, which saves memory. With more places than
-- LIST that takes longer than all the rest, so the swarm's own entry is made longer than such a list takes
-- (hash-max-listpack-value, 64).
local LIST = 32
local PADDING = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
-- Minutes of expiry that are read at once, and one later than all.
local MINUTES_AT_ONCE, NO_MINUTE = 16, 16777215
-- Numbers up to this are kept as text: places of swarms of up to a thousand peers.
local MOST_KEPT = 37 * 1024
local NO_IPV4, NO_IPV6 = '\0\0\0\0\0\0', '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
-- Where a peer's record lies. One of SOCKETS_ONLY has no address, and is handed out by its process alone.
local SEEDERS, OTHERS, SOCKETS_ONLY = 1, 2, 3
