import type { Cluster, Redis } from 'ioredis'
import type { AnnounceCounters, AnswerTimes } from '../announce/announce-counters.ts'
import { createPeerList } from '../swarm/peer-list.redis.ts'
import type { Swarms } from '../swarm/swarm.ts'
import { createAnnounceRate } from '../swarm-statistics/announce-rate.ts'
import { createAnnounceTallies } from '../swarm-statistics/announce-tallies.redis.ts'
import { createSwarmStatisticsStore } from '../swarm-statistics/swarm-statistics.store.ts'
import { createSwarmStatistics } from '../swarm-statistics/swarm-statistics.ts'
import { createTorrentPeersStore } from '../swarm-statistics/torrent-peers.store.ts'
import { createTorrentPeers } from '../swarm-statistics/torrent-peers.ts'
import type { Connections } from './connections.ts'
import { swarmSettings } from './swarms.ts'

/** Twice per span of ten seconds, by which announces are counted. */
const PASS_ON_EVERY_MS = 5_000

export type SwarmStatisticsPart = ReturnType<typeof createSwarmStatisticsPart>

/** Creates the swarm statistics for staff. In the background it adds this process's announces to the shared count. */
export function createSwarmStatisticsPart(connections: Connections, redis: Redis | Cluster, swarms: Swarms) {
  const { config, db, logger, clock, background } = connections
  const rate = createAnnounceRate({ tallies: createAnnounceTallies(connections.redis), clock })
  background.add({
    everyMs: PASS_ON_EVERY_MS,
    task: () => rate.flush(),
    onError: (error) => logger.warn({ err: error }, 'counting announces failed; will retry'),
    // Without Redis, only the last few seconds of a chart are lost.
    atStop: () => rate.flush().catch(() => undefined),
  })
  const statistics = createSwarmStatistics({ store: createSwarmStatisticsStore(db), rate, clock })
  const peers = createPeerList({ redis, clock: connections.swarmClock, settings: swarmSettings(config) })
  const torrentPeers = createTorrentPeers({
    store: createTorrentPeersStore(db),
    peers,
    count: (names) => swarms.count(names),
  })
  return {
    useCases: { swarmStatistics: statistics, torrentPeers },
    /** The same counters, which also count announces over time. */
    countedByTime: (counters: AnnounceCounters & AnswerTimes): AnnounceCounters & AnswerTimes => ({
      ...counters,
      countAnnounce: (event) => {
        rate.countAnnounce()
        counters.countAnnounce(event)
      },
      countFailure: (action, failure) => {
        if (action === 'announce') rate.countRefused()
        counters.countFailure(action, failure)
      },
    }),
  }
}
