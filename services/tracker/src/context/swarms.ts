import { closeRedis, connectRedis, warnOfEviction } from '@vault-and-tracker/service-kit/redis/connection'
import type { Cluster, Redis } from 'ioredis'
import type { Config } from '../config.ts'
import { connectSwarmCluster } from '../swarm/cluster.redis.ts'
import { recoveryInterval, timeToLive, tolerantMinInterval } from '../swarm/interval.ts'
import type { SwarmSettings } from '../swarm/swarm.ts'
import type { Connections } from './connections.ts'

const DAY_S = 86_400
/** Long enough to credit a client that returns from a long outage. */
const KEEP_COUNTERS_S = 21 * DAY_S
/** Ten gigabits a second. */
const MAX_BYTES_PER_S = 1.25e9
const REPEAT_WINDOW_S = 30
const CLUSTER_REMEDY = 'SWARM_REDIS_URL must name at least two of its nodes, separated by commas'

/**
 * The Redis of the swarms: the service's Redis, unless another one or a Cluster is configured.
 *
 * @throws UnavailableError if it does not respond; Error if a single URL is a node of a Cluster
 */
export async function connectSwarmRedis(
  connections: Pick<Connections, 'config' | 'logger' | 'resources' | 'redis'>,
): Promise<Redis | Cluster> {
  const { config, logger, resources } = connections
  const [url, ...more] = config.SWARM_REDIS_URL
  if (url === undefined) return connections.redis
  if (more.length > 0) {
    const cluster = await connectSwarmCluster({ urls: config.SWARM_REDIS_URL, logger })
    resources.defer(() => closeRedis(cluster))
    return cluster
  }
  const redis = await connectRedis({ url, name: 'tracker-swarm', logger, clusterRemedy: CLUSTER_REMEDY })
  resources.defer(() => closeRedis(redis))
  await warnOfEviction(redis, logger)
  return redis
}

/** The minimum interval in seconds, never longer than the regular one. */
export function minIntervalOf(config: Config): number {
  return Math.min(config.MIN_ANNOUNCE_INTERVAL, config.ANNOUNCE_INTERVAL)
}

/** The swarm settings of a configuration. */
export function swarmSettings(config: Config): SwarmSettings {
  const interval = config.ANNOUNCE_INTERVAL
  const minInterval = minIntervalOf(config)
  return {
    timeToLive: timeToLive(interval),
    minInterval: tolerantMinInterval(minInterval),
    repeatWindow: REPEAT_WINDOW_S,
    recoveryInterval: tolerantMinInterval(Math.min(minInterval, recoveryInterval(interval))),
    maxPeersPerOwner: config.MAX_CLIENTS_PER_TORRENT,
    evictsOldest: config.TRACKER_MODE === 'open',
    keepCountersFor: config.TRACKER_MODE === 'private' ? KEEP_COUNTERS_S : 0,
    maxBytesPerSecond: MAX_BYTES_PER_S,
  }
}
