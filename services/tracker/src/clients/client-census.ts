import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { PeerList } from '../swarm/peer-list.ts'
import type { SwarmName } from '../swarm/swarm.ts'
import { type Client, readClient } from './client-id.ts'

/** The peers of a client. */
export type ClientCount = {
  /** As `Client.text`. */
  readonly client: string
  readonly peers: number
  /** Users with such a peer. */
  readonly users: number
}

/** A part of the names of all swarms, and the cursor for the next part; undefined at the end. */
export type SwarmNamesPage = { readonly names: readonly SwarmName[]; readonly next: string | undefined }

/** Work per run, so that the swarms of Redis are hardly slowed down. A larger site takes more runs. */
const SWARMS_PER_RUN = 1_000
const PEERS_PER_RUN = 20_000
const PEERS_PER_CALL = 200
/** Further peers of a swarm are not counted. */
const PEERS_PER_SWARM = 1_000
/** The clients that are kept per day, those with most peers: anyone can invent peer ids. */
export const MAX_CLIENTS = 200
/** Clients, and pairs of client and user, that a count distinguishes. */
const MAX_PAIRS = 200_000
const PAUSE_MS = 600_000

type Counted = { readonly client: string; peers: number; users: number }
type Counting = { readonly clients: Map<string, Counted>; readonly pairs: Set<string> }

/** Counts the clients of all peers, part by part. */
export function createClientCensus(deps: {
  page: (cursor: string | undefined) => Promise<SwarmNamesPage>
  peers: PeerList
  write: (day: Date, counts: readonly ClientCount[]) => Promise<void>
  clock: Clock
}) {
  const { page, peers, write, clock } = deps
  let cursor: string | undefined
  let counting: Counting | undefined
  let waiting: SwarmName[] = []
  let lastStartedMs = Number.NEGATIVE_INFINITY
  let lastRunMs = Number.NEGATIVE_INFINITY

  async function countSwarm(name: SwarmName, into: Counting): Promise<number> {
    let seen = 0
    for (let first = 0; first < PEERS_PER_SWARM; first += PEERS_PER_CALL) {
      const found = await peers.read(name, first, PEERS_PER_CALL)
      for (const { peerId, owner } of found.peers) countPeer(into, readClient(peerId), owner)
      seen += found.peers.length
      if (first + PEERS_PER_CALL >= found.places) break
    }
    return seen
  }

  return {
    /**
     * Continues the count, and writes it once all swarms are counted.
     *
     * @throws an error that `isUnavailable` recognises if Postgres or Redis is unavailable
     */
    async run(): Promise<void> {
      // Another process led in the meantime, so the peers counted so far are outdated.
      if (clock.now() - lastRunMs > PAUSE_MS) {
        counting = cursor = undefined
        waiting = []
      }
      lastRunMs = clock.now()
      if (counting === undefined) {
        if (clock.now() - lastStartedMs < PAUSE_MS) return
        lastStartedMs = clock.now()
        counting = { clients: new Map(), pairs: new Set() }
      }
      let isEnd = false
      for (let swarms = 0, seen = 0; swarms < SWARMS_PER_RUN && seen < PEERS_PER_RUN; ) {
        const name = waiting.pop()
        if (name === undefined) {
          if (isEnd) break
          const found = await page(cursor)
          waiting = [...found.names]
          cursor = found.next
          isEnd = cursor === undefined
          continue
        }
        seen += await countSwarm(name, counting)
        swarms += 1
      }
      if (!isEnd || waiting.length > 0) return
      const { clients } = counting
      counting = undefined
      const most = [...clients.values()].sort((a, b) => b.peers - a.peers).slice(0, MAX_CLIENTS)
      if (most.length > 0) await write(new Date(clock.now()), most)
    },
  }
}

function countPeer({ clients, pairs }: Counting, { text }: Client, owner: Buffer): void {
  let counted = clients.get(text)
  if (counted === undefined) {
    if (clients.size >= MAX_PAIRS) return
    clients.set(text, (counted = { client: text, peers: 0, users: 0 }))
  }
  counted.peers += 1
  const pair = `${text} ${owner.toString('latin1')}`
  if (pairs.has(pair) || pairs.size >= MAX_PAIRS) return
  pairs.add(pair)
  counted.users += 1
}
