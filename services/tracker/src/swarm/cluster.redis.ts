import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import { connectUntilReady } from '@vault-and-tracker/service-kit/redis/connection'
import { parseRedisUrl } from '@vault-and-tracker/service-kit/redis/url'
import { Cluster } from 'ioredis'

/**
 * Connects to a Redis Cluster for the swarms. As with a single Redis, commands fail immediately while it is unavailable.
 *
 * @param options `urls` of some nodes, from which the others are discovered; user, password and TLS are those of the first
 * @throws UnavailableError if the cluster is not ready within ten seconds
 */
export async function connectSwarmCluster(options: { urls: readonly string[]; logger: Logger }): Promise<Cluster> {
  const nodes = options.urls.map(parseRedisUrl)
  const { username, password, tls } = nodes[0] ?? {}
  const cluster = new Cluster(
    nodes.map(({ host, port }) => ({ host, port })),
    {
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
      redisOptions: {
        connectionName: 'tracker',
        username,
        password,
        tls,
        commandTimeout: 1_000,
        socketTimeout: 2_000,
        connectTimeout: 3_000,
      },
    },
  )
  cluster.on('error', (error: Error) => options.logger.warn({ err: error }, 'Redis Cluster connection error'))
  await connectUntilReady(cluster)
  return cluster
}
