import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, expect, test } from '@jest/globals'
import { parsePasskey } from '@vault-and-tracker/bencode-tracker'
import { UnavailableError } from '@vault-and-tracker/service-kit/errors'
import { SILENT_COUNTERS } from '../../tests/support/silent-counters.ts'
import { transition } from '../swarm/peer-state.ts'
import type { PeerAnnounce, SocketAnnounce, Swarms } from '../swarm/swarm.ts'
import { createAddressLimits } from './address-limits.ts'
import type { AnnounceTorrent } from './directory.ts'
import { createRefusals } from './refusal.ts'
import { createSignalling, type Signalling } from './signalling.ts'
import { createSocketAnnounces } from './socket-announces.ts'
import type { Session, SocketPeer } from './socket-session.ts'
import { createSocketTracker, type SocketTracker } from './socket-tracker.ts'

// The tracker of sockets on a swarm that answers when the test says so, or not at all.

const INFO_HASH = 'ab'.repeat(20)
const SWARM = Buffer.from(INFO_HASH, 'hex')
const ignore = (): void => undefined

type Client = { session: Session; messages: Record<string, unknown>[]; code: number | undefined; alive: boolean }

let now: number
/** Of the clients that the swarm counts, their events in the order in which it heard of them. */
let counted: Map<string, PeerAnnounce>
let heard: string[]
/** What waits to be answered, oldest first; undefined where the swarm answers at once. */
let waiting: (() => void)[] | undefined
let isAway: boolean
let torrent: AnnounceTorrent | undefined
let isUserKnown: boolean
let signalling: Signalling<SocketPeer>
let tracker: SocketTracker

function requireRedis(): void {
  if (isAway) throw new UnavailableError('redis')
}

const announceOverSocket = async (peer: PeerAnnounce, { purpose }: SocketAnnounce) => {
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
  const counts = { complete: 0, incomplete: counted.size, completed: 0, lastAnnounce: 0, recordCount: 0 }
  return { status, rejoined: false, implausible: false, recovering: false, ...counts, sockets: [] } as const
}

beforeEach(() => {
  now = 1_000_000
  counted = new Map()
  heard = []
  waiting = undefined
  isAway = false
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
  const counts = { add: () => Promise.resolve(0) }
  const limits = createAddressLimits({ scrapes: 0, unknownPasskeys: 0, refusals, counts, clock })
  const process = Buffer.alloc(8, 1)
  signalling = createSignalling({ process: process.toString('hex'), clock, random: Math.random })
  tracker = createSocketTracker({
    process: process.toString('hex'),
    maxTorrents: 3,
    tooSoonMs: 57_000,
    timeToLiveMs: 3_900_000,
    announces: createSocketAnnounces({
      process,
      settings: { interval: 120, minInterval: 60 },
      checkAnnounce: (request, passkey, _address, socket) => {
        if (torrent?.state !== 'approved') return Promise.resolve(refusals.refuse('announce', 'unregistered_torrent'))
        const { kind, state } = transition(request.event, request.left)
        const ownerOf = passkey === undefined ? socket?.owner() : Buffer.from(passkey.slice(0, 16), 'hex')
        const peer = { ...request, swarm: SWARM, owner: ownerOf, kind, state } as unknown as PeerAnnounce
        const user = { failure: undefined, user: undefined, endpoints: {} as never }
        return Promise.resolve({ ...user, isPending: false, peer })
      },
      limits,
      swarms: { announceOverSocket } as unknown as Swarms,
      refusals,
      counters: { ...counters, countScrape: ignore },
      random: Math.random,
    }),
    scrapes: { scrape: () => Promise.resolve(refusals.refuse('scrape', 'scrape_without_info_hash')) },
    limits,
    identify: () => (isUserKnown ? undefined : 'unknown_passkey'),
    directory: { torrent: () => torrent } as never,
    signalling,
    relays: { send: ignore, close: () => Promise.resolve() },
    refusals,
    counters: SILENT_COUNTERS,
    clock,
  })
})

function connect(user = 'aa'): Client {
  const client: Omit<Client, 'session'> = { messages: [], code: undefined, alive: true }
  const connection = {
    sendText: (bytes: string) => {
      client.messages.push(JSON.parse(Buffer.from(bytes, 'latin1').toString()) as Record<string, unknown>)
      return true
    },
    closeWith: (code: number) => {
      client.code = code
    },
    isAlive: () => Promise.resolve(client.alive),
  }
  const passkey = parsePasskey(user.repeat(20))
  const session = tracker.open(connection, { passkey, failure: undefined, address: Buffer.alloc(4) })
  return Object.assign(client, { session })
}

function send(client: Client, peerId: string, fields: Record<string, unknown> = {}): void {
  const message = { action: 'announce', info_hash: SWARM.toString('latin1'), peer_id: peerId.repeat(20), left: 5 }
  void tracker.receive(client.session, Buffer.from(JSON.stringify({ ...message, ...fields })))
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await turn()
}

/** Has the swarm answer the announce that waits longest. */
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
  tracker.closed(first.session)
  const second = connect()
  send(second, 'a')
  await settle()
  await answerNext()
  await answerNext()
  expect(second.messages).toMatchObject([{ incomplete: 1 }])
  expect(counted.size).toBe(1)
})

test('of two connections that announce the same peer id at once, one is refused', async () => {
  waiting = []
  const [first, second] = [connect(), connect()]
  send(first, 'a')
  send(second, 'a')
  await settle()
  while (waiting.length > 0) await answerNext()
  expect(first.messages).toMatchObject([{ incomplete: 1 }])
  expect(second.messages).toMatchObject([{ 'failure reason': 'This peer_id is in use on another connection' }])
})

test.each([['first'], ['second']])('a torrent that is removed during the %s announce keeps no peer', async (which) => {
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

test('a peer that stops while Redis is away gets no offers, and is stopped when Redis is back', async () => {
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

test('a peer that was counted although its announce failed is stopped when it does not come back', async () => {
  waiting = []
  const client = connect()
  send(client, 'a')
  await settle()
  isAway = true
  await answerNext()
  expect(client.messages).toMatchObject([{ 'failure reason': expect.stringMatching(/unavailable/) as unknown }])
  expect(counted.size).toBe(1)
  tracker.closed(client.session)
  isAway = false
  await tracker.sweep()
  expect(counted.size).toBe(0)
})

test('a client that comes back while what was missed is repeated stays counted', async () => {
  const client = connect()
  send(client, 'a')
  await settle()
  isAway = true
  tracker.closed(client.session)
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

test('a clock that is set back makes no announce too soon', async () => {
  const client = connect()
  send(client, 'a')
  await settle()
  now -= 3_600_000
  send(client, 'a', { uploaded: 5 })
  await settle()
  expect(heard).toEqual(['regular', 'regular'])
})

test('completed is told to the swarm once Redis is back', async () => {
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

test('what comes during the drain is not carried out', async () => {
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

test('a peer that the swarm expired gets no offers, until it announces again', async () => {
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
