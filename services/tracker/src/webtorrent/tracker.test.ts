import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, expect, test } from '@jest/globals'
import { parsePasskey } from '@vault-and-tracker/bencode-tracker'
import { UnavailableError } from '@vault-and-tracker/service-kit/core/errors'
import type { Announce } from '../announce/announce.ts'
import type { AnnounceTorrent } from '../announce/lookups.ts'
import { createRefusals } from '../announce/refusal.ts'
import { transition } from '../swarm/peer-state.ts'
import type { PeerAnnounce, SwarmAnswer, SwarmRequest } from '../swarm/swarm.ts'
import { SocketAnnounces } from './announces.ts'
import type { SocketConnection, SocketPeer } from './connections.ts'
import { SocketCounts } from './counts.ts'
import { Signalling } from './signalling.ts'
import { SocketTracker } from './tracker.ts'

// The tracker on a simulated swarm whose answers the tests control.

const INFO_HASH = 'ab'.repeat(20)
const SWARM = Buffer.from(INFO_HASH, 'hex')
const ignore = (): void => undefined

type Client = {
  connection: SocketConnection
  messages: Record<string, unknown>[]
  code: number | undefined
  alive: boolean
}

let now: number
/** The events that the swarm received, in order, by client. */
let counted: Map<string, PeerAnnounce>
let heard: string[]
/** Unanswered announces, oldest first; undefined if the swarm answers immediately. */
let waiting: (() => void)[] | undefined
let isAway: boolean
let isPending: boolean
let torrent: AnnounceTorrent | undefined
let isUserKnown: boolean
let signalling: Signalling<SocketPeer>
let tracker: SocketTracker

function requireRedis(): void {
  if (isAway) throw new UnavailableError('redis')
}

const carryOut = async ({ peer, socket }: SwarmRequest): Promise<SwarmAnswer> => {
  const purpose = socket?.purpose
  requireRedis()
  const isStop = peer.state === 'stopped'
  heard.push(purpose === 'closes' ? 'closes' : peer.kind)
  const client = peer.owner.toString('hex') + peer.peerId
  const isKnown = counted.has(client)
  if (isStop) counted.delete(client)
  else counted.set(client, peer)
  if (waiting !== undefined && purpose !== 'closes') await new Promise<void>((resolve) => waiting?.push(resolve))
  requireRedis()
  const status = isStop && !isKnown ? 'stopped_unknown_peer' : 'accepted'
  const counts = { complete: 0, incomplete: counted.size, completed: 0, lastAnnounce: 0 }
  const notes = { rejoined: false, implausible: false, recovering: false, elsewhere: false }
  return { status, ...notes, ...counts, picked: {} as never, sockets: [], holder: undefined, now: 0 }
}

beforeEach(() => {
  now = 1_000_000
  counted = new Map()
  heard = []
  waiting = undefined
  isAway = false
  isPending = false
  isUserKnown = true
  torrent = { state: 'approved', reason: null, swarm: SWARM } as AnnounceTorrent
  const clock = { now: () => now }
  const counters = { countAnnounce: ignore, countFailure: ignore, countWarning: ignore, countAnomaly: ignore }
  const refusals = createRefusals({
    interval: 120,
    minInterval: 60,
    counters: { ...counters, countScrape: ignore },
    onError: (error) => {
      throw error
    },
  })
  const check = (announce: Announce): void => {
    if (torrent?.state !== 'approved') {
      announce.refused(refusals.refuse('announce', 'unregistered_torrent'))
      return
    }
    const { request, passkey, overSocket } = announce
    const { kind, state } = transition(request.event, request.left)
    const owner = passkey === undefined ? overSocket?.owner() : Buffer.from(passkey.slice(0, 16), 'hex')
    announce.peer = { ...request, swarm: SWARM, owner, kind, state } as unknown as PeerAnnounce
    announce.torrent = isPending ? { ...torrent, state: 'pending' } : torrent
    announce.accepted()
  }
  const process = Buffer.alloc(8, 1)
  signalling = new Signalling(clock, Math.random)
  tracker = new SocketTracker({
    process: process.toString('hex'),
    maxTorrents: 3,
    timeToLiveMs: 3_900_000,
    announces: new SocketAnnounces(process, {
      mode: 'private',
      announces: {
        check: (announce) => (isPending && !announce.isStop ? check(announce) : queueMicrotask(() => check(announce))),
      },
      swarms: {
        announce: (request) => {
          carryOut(request).then(
            (answer) => request.answered(answer),
            (error: unknown) => request.failed(error),
          )
        },
      },
      refusals,
      counters: { ...counters, countScrape: ignore },
      scrapes: { scrape: () => Promise.resolve(refusals.refuse('scrape', 'scrape_without_info_hash')) },
      lookups: { user: () => (isUserKnown ? { state: 'active' } : undefined), torrent: () => torrent } as never,
    }),
    signalling,
    relays: { send: ignore, close: () => Promise.resolve() },
    counts: new SocketCounts(),
    clock,
  })
})

function connect(user = 'aa'): Client {
  const client: Omit<Client, 'connection'> = { messages: [], code: undefined, alive: true }
  const connection: SocketConnection = {
    opening: {
      ...{ passkey: parsePasskey(user.repeat(20)), failure: undefined, address: Buffer.alloc(4), addressKey: '' },
      ...{ member: user, endsAt: undefined },
    },
    peers: new Map(),
    owner: undefined,
    malformed: 0,
    isEnded: false,
    group: 0,
    sendText: (bytes) => {
      client.messages.push(JSON.parse(Buffer.from(bytes, 'latin1').toString()) as Record<string, unknown>)
      return true
    },
    closeWith: (code) => {
      client.code = code
    },
    isAlive: () => Promise.resolve(client.alive),
    served: ignore,
    waitFor: ignore,
    answered: ignore,
    beat: ignore,
    terminate: ignore,
  }
  tracker.opened(connection)
  return Object.assign(client, { connection })
}

function send(client: Client, peerId: string, fields: Record<string, unknown> = {}, infoHash = SWARM): void {
  const message = { action: 'announce', info_hash: infoHash.toString('latin1'), peer_id: peerId.repeat(20), left: 5 }
  tracker.receive(client.connection, Buffer.from(JSON.stringify({ ...message, ...fields })))
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await turn()
}

/** Answers the oldest announce. */
async function answerNext(): Promise<void> {
  waiting?.shift()?.()
  await settle()
}

const offers = (id: string) => [{ offer_id: id.repeat(20), offer: { type: 'offer', sdp: id } }]
const offersOf = ({ messages }: Client) => messages.filter((message) => 'offer' in message)

test('a client that reconnects while the swarm is slow stays counted', async () => {
  waiting = []
  const first = connect()
  send(first, 'a')
  await settle()
  tracker.closed(first.connection)
  const second = connect()
  send(second, 'a')
  await settle()
  await answerNext()
  await answerNext()
  expect(second.messages).toMatchObject([{ incomplete: 1 }])
  expect(counted.size).toBe(1)
})

test('refuses one of two connections that announce the same peer id at once', async () => {
  waiting = []
  const [first, second] = [connect(), connect()]
  send(first, 'a')
  send(second, 'a')
  await settle()
  while (waiting.length > 0) await answerNext()
  expect(first.messages).toMatchObject([{ incomplete: 1 }])
  expect(second.messages).toMatchObject([{ 'failure reason': 'This peer_id is in use on another connection' }])
})

test.each([['first'], ['second']])('a torrent that is deleted during the %s announce keeps no peer', async (which) => {
  const client = connect()
  if (which === 'second') {
    send(client, 'a')
    await settle()
    now += 60_000
  }
  waiting = []
  send(client, 'a')
  await settle()
  torrent = undefined
  tracker.forget({ kind: 'torrent', infoHash: INFO_HASH })
  await settle()
  await answerNext()
  await settle()
  expect(signalling.peersOf(SWARM.toString('latin1'))).toEqual([])
  expect(counted.size).toBe(0)
  expect(client.messages.at(-1)).toHaveProperty('failure reason')
})

test('a peer that stops while Redis is unavailable receives no offers, and is removed later', async () => {
  const [client, other] = [connect(), connect('bb')]
  send(client, 'a')
  send(other, 'b')
  await settle()
  isAway = true
  send(client, 'a', { event: 'stopped' })
  await settle()
  isAway = false
  now += 60_000
  send(other, 'b', { offers: offers('o') })
  await settle()
  expect(offersOf(client)).toEqual([])
  await tracker.sweep()
  expect(counted.size).toBe(1)
})

test('a peer that was counted although its announce failed is removed if it does not return', async () => {
  waiting = []
  const client = connect()
  send(client, 'a')
  await settle()
  isAway = true
  await answerNext()
  expect(client.messages).toMatchObject([{ 'failure reason': expect.stringMatching(/unavailable/) as unknown }])
  expect(counted.size).toBe(1)
  tracker.closed(client.connection)
  isAway = false
  await tracker.sweep()
  expect(counted.size).toBe(0)
})

test('a client that returns while failed removals are repeated stays counted', async () => {
  const client = connect()
  send(client, 'a')
  await settle()
  isAway = true
  tracker.closed(client.connection)
  await settle()
  isAway = false
  waiting = []
  const again = connect()
  send(again, 'a')
  await settle()
  await tracker.sweep()
  await answerNext()
  expect(counted.size).toBe(1)
})

test('a clock that is set back does not make an announce too soon', async () => {
  const client = connect()
  send(client, 'a')
  await settle()
  now -= 3_600_000
  send(client, 'a', { uploaded: 5 })
  await settle()
  expect(heard).toEqual(['regular', 'regular'])
})

test('the swarm receives completed once Redis is available again', async () => {
  const client = connect()
  send(client, 'a')
  await settle()
  isAway = true
  send(client, 'a', { event: 'completed', left: 0 })
  await settle()
  isAway = false
  send(client, 'a', { left: 0 })
  await settle()
  now += 60_000
  send(client, 'a', { left: 0 })
  await settle()
  expect(heard).toEqual(['regular', 'completed', 'regular'])
})

test('ignores messages during the drain', async () => {
  waiting = []
  const client = connect()
  send(client, 'a')
  await settle()
  const drained = tracker.drain()
  send(client, 'a', { event: 'paused' })
  await answerNext()
  await drained
  await settle()
  expect(client.code).toBe(1001)
  expect(waiting).toEqual([])
  expect(counted.size).toBe(0)
})

test('a peer that has expired in the swarm receives no offers until it announces again', async () => {
  const [silent, other] = [connect(), connect('bb')]
  send(silent, 'a')
  await settle()
  now += 3_900_001
  send(other, 'b')
  await tracker.sweep()
  send(other, 'b', { offers: offers('o') })
  await settle()
  expect(offersOf(silent)).toEqual([])
  send(silent, 'a')
  await settle()
  send(other, 'b', { offers: offers('p') })
  await settle()
  expect(offersOf(silent)).toHaveLength(1)
})

test('answers thousands of announces that queued behind a slow one', async () => {
  isPending = true
  const client = connect()
  send(client, 'a', { event: 'started' })
  for (let i = 0; i < 5_000; i++) send(client, 'a')
  await settle()
  expect(client.messages).toHaveLength(5_001)
  await expect(tracker.drain()).resolves.toBe(true)
})

test('a client that announces both info hashes of a hybrid torrent is one peer until it leaves', async () => {
  const [client, other] = [connect(), connect('bb')]
  const second = Buffer.alloc(20, 0xcd)
  send(client, 'a')
  send(client, 'a', {}, second)
  send(other, 'b')
  await settle()
  now += 60_000
  send(client, 'a', { offers: offers('o') })
  send(other, 'b', { offers: offers('p') })
  await settle()
  expect(offersOf(other)).toMatchObject([{ info_hash: SWARM.toString('latin1'), offer_id: 'o'.repeat(20) }])
  expect(offersOf(client)).toHaveLength(1)
  expect(signalling.peersOf(SWARM.toString('latin1'))).toHaveLength(2)
  tracker.closed(client.connection)
  await settle()
  expect(counted.size).toBe(1)
  expect(signalling.peersOf(SWARM.toString('latin1'))).toHaveLength(1)
})
