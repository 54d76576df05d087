// A part of the tracker behind its HTTP server, for bench/stages.ts. The other parts are replaced by immediate answers.
// Usage: stage-server.ts <port> front | rules | calls <URL of Redis>
import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import { listen } from '@vault-and-tracker/service-kit/http/server'
import express from 'express'
import { Redis } from 'ioredis'
import { Registry } from 'prom-client'
import { createAddresses } from '../src/addresses/addresses.ts'
import { createAnnounceMetrics } from '../src/announce/announce.metrics.ts'
import { createTrackerRequests, type TrackerRequests } from '../src/announce/announce.routes.ts'
import { createAnnounces } from '../src/announce/announces.ts'
import { type AnnounceTorrent, createLookups, type PasskeyUser } from '../src/announce/lookups.ts'
import { createRefusals } from '../src/announce/refusal.ts'
import type { Reply } from '../src/announce/reply.ts'
import { compileRules } from '../src/clients/client-rules.ts'
import { createTrackerServer } from '../src/server.ts'
import { createRedisSwarms } from '../src/swarm/swarm.redis.ts'
import type { SwarmAnswer, SwarmRequest, Swarms } from '../src/swarm/swarm.ts'
import { ANNOUNCE_LENGTH, IPV4_LENGTH } from '../src/swarm/wire.ts'
import { idBytes } from './numbering.ts'

const [port, stage, redisUrl = ''] = process.argv.slice(2)
const interval = 1800
const minInterval = 1
const all = { uploadPercent: 100, downloadPercent: 100 } as const

/** Ten peers with an IPv4 address: RESULT and endpoints of src/swarm/wire.ts. */
const PEERS = 10
const ENDPOINTS = Buffer.alloc(PEERS * IPV4_LENGTH, 1)
const NOWHERE = 65_535

const answered: SwarmAnswer = {
  ...{ status: 'accepted', rejoined: false, implausible: false, recovering: false, elsewhere: false },
  ...{ complete: 3, incomplete: 7, completed: 0, lastAnnounce: 0, now: Math.floor(systemClock.now() / 1000) },
  ...{ sockets: [], holder: undefined },
  picked: { count: PEERS, ipv4: ENDPOINTS, ipv6: undefined, peerIds: undefined, own: NOWHERE, siblings: [] },
}

const escaped = (bytes: Buffer): string => [...bytes].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')

/** The answer to each of the announces, as the function of lua/swarm/announce.lua gives it, without the work. */
function idleLibrary(): string {
  const result = Buffer.alloc(25)
  result.writeUInt32BE(answered.complete, 2)
  result.writeUInt32BE(answered.incomplete, 6)
  result.writeUInt16BE(NOWHERE, 18)
  result.writeUInt32BE(answered.now, 20)
  result[24] = 1
  return `#!lua name=bench_idle
local result, endpoints = "${escaped(result)}", "${escaped(ENDPOINTS)}"
redis.register_function('bench_idle', function(_, args)
  local announces = #args[2] / ${String(ANNOUNCE_LENGTH)}
  local reply = { string.rep(result, announces) }
  for i = 1, announces do reply[i + 1] = endpoints end
  return reply
end)`
}

/** Calls the idle function in place of any other. */
class IdleRedis extends Redis {
  override callBuffer(...args: unknown[]): Promise<unknown> {
    return super.callBuffer('FCALL', 'bench_idle', ...(args.slice(2) as (Buffer | string | number)[]))
  }
}

async function idleSwarms(): Promise<Swarms> {
  const redis = new IdleRedis(redisUrl)
  await redis.call('FUNCTION', 'LOAD', 'REPLACE', idleLibrary())
  const settings = {
    ...{ timeToLive: 5400, minInterval, repeatWindow: 30, recoveryInterval: 300, maxPeersPerOwner: 5 },
    ...{ evictsOldest: false, keepCountersFor: 0, maxBytesPerSecond: 1.25e9 },
  }
  return createRedisSwarms({ redis, clock: undefined, settings, random: Math.random })
}

async function startRequests() {
  const id = idBytes(1)
  const user: PasskeyUser = {
    ...{ id: '1', idBytes: id, owner: id.subarray(8), ...all },
    ...{
      state: 'active',
      role: 'member',
      canDownload: true,
      apiBlocked: false,
      opensTorznab: true,
      endsAt: undefined,
      announceLimit: null,
    },
  }
  // Spreads would give each torrent its own hidden class in V8, unlike the store's torrents.
  const torrentOf = (hash: AnnounceTorrent['infoHashes'][number]): AnnounceTorrent => ({
    id,
    swarm: Buffer.from(hash, 'hex'),
    infoHashes: [hash],
    state: 'approved',
    reason: null,
    completed: 0,
    peers: PEERS,
    uploadPercent: 100,
    downloadPercent: 100,
  })
  const lookups = createLookups({
    clock: systemClock,
    store: {
      users: (passkeys) => Promise.resolve(new Map(passkeys.map((passkey) => [passkey, user]))),
      torrents: (hashes) => Promise.resolve(new Map(hashes.map((hash) => [hash, torrentOf(hash)]))),
      site: () => Promise.resolve({ ...all, clients: compileRules([]) }),
    },
  })
  const counters = createAnnounceMetrics(new Registry())
  const onError = (error: unknown): void => void process.stderr.write(`${String(error)}\n`)
  const refusals = createRefusals({ interval, minInterval, counters, onError })
  const unused = (): Promise<never> => Promise.reject(new Error('not used by the stages'))
  const addresses = createAddresses({
    ...{ clock: systemClock, keepDays: 30, onError },
    store: { add: unused, prune: unused, list: unused },
  })
  const announces = createAnnounces({
    ...{ mode: 'private', refusals, lookups, announceLimit: { take: () => undefined }, passkeyLimit: NO_LIMIT },
    ...{ allowPrivatePeers: true, allowIpParam: false },
    recordAddress: addresses.record,
  })
  const swarms =
    stage === 'calls' ? await idleSwarms() : { announce: (request: SwarmRequest) => request.answered(answered) }
  const scraped = { failure: undefined, torrents: [], minRequestInterval: 600 } as const
  return createTrackerRequests({
    ...{ announces, swarms, refusals, counters, interval, minInterval },
    random: Math.random,
    scrapes: { scrape: () => Promise.resolve(scraped) },
    addressOf: ({ socket }) => socket.remoteAddress ?? '',
  })
}

const NO_LIMIT = { take: () => 0 }
const constant: Reply = { status: 200, body: Buffer.alloc(350, 0x64) }
const answersConstant: TrackerRequests = {
  take: (_target, _sender, client) => {
    client.send(constant)
    return true
  },
  answerMalformed: () => undefined,
}
const requests = stage === 'front' ? answersConstant : await startRequests()
const { server, front } = createTrackerServer(express(), {
  announces: requests,
  sockets: undefined,
  hasAnnounceFront: true,
})
await listen(server, { host: '127.0.0.1', port: Number(port) }, { front })
