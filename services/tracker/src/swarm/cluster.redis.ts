import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import { connectUntilReady } from '@vault-and-tracker/service-kit/redis/connection'
import { Cluster } from 'ioredis'

/**
 * Connects to a Redis Cluster for the swarms. As with a single Redis, commands fail immediately while it is unavailable.
 *
 * @param options `urls` of some nodes, from which the others are discovered; the user and password of the first are used for all
 * @throws UnavailableError if the cluster is not ready within ten seconds
 */
export async function connectSwarmCluster(options: { urls: readonly string[]; logger: Logger }): Promise<Cluster> {
  const nodes = options.urls.map((url) => new URL(url))
  const [first] = nodes
  const cluster = new Cluster(
    nodes.map((node) => ({ host: node.hostname, port: Number(node.port || '6379') })),
    {
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
      redisOptions: {
        connectionName: 'tracker',
        username: decodeURIComponent(first?.username ?? ''),
        password: decodeURIComponent(first?.password ?? ''),
        commandTimeout: 1_000,
        socketTimeout: 2_000,
        connectTimeout: 3_000,
        ...(first?.protocol === 'rediss:' && { tls: {} }),
      },
    },
  )
  cluster.on('error', (error: Error) => options.logger.warn({ err: error }, 'Redis Cluster connection error'))
  await connectUntilReady(cluster)
  return cluster
}
