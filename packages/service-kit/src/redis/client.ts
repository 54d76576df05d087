import { Redis, type RedisOptions } from 'ioredis'
import type { Logger } from '../log/logger.ts'
import { parseRedisUrl } from './url.ts'

const CONNECT_TIMEOUT_MS = 3_000
const WATCH_AGAIN_AFTER_MS = 1_000

/** Without the option from which ioredis derives the types of replies. */
type Options = Omit<RedisOptions, 'replyMapping'>

const WITH_SENTINEL: Options = {
  sentinelCommandTimeout: 1_000,
  sentinelRetryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
  // From a replica, or from a master without replicas, which may have been replaced.
  reconnectOnError: ({ message }) => /^(READONLY|NOREPLICAS)/.test(message),
}

/** Creates a client that is not connected yet. With Sentinel, it follows the master. */
export function createClient(url: string, options: Options, logger: Logger): Redis {
  const target = parseRedisUrl(url)
  const all = { ...target, lazyConnect: true, connectTimeout: CONNECT_TIMEOUT_MS, ...options }
  const redis = target.sentinels === undefined ? new Redis(all) : new FollowingRedis({ ...WITH_SENTINEL, ...all })
  redis.on('error', (error: Error) => logger.warn({ err: error }, 'Redis connection error'))
  return redis
}

/**
 * Leaves its master as soon as a sentinel announces another one. The old one may still accept writes for seconds, which are
 * lost. The `failoverDetector` of ioredis 6.0 does the same, but ends a client permanently that is just connecting.
 */
class FollowingRedis extends Redis {
  readonly #watchers: readonly Redis[]
  /** The last announcement: the name, host and port of the old master, host and port of the new one. */
  #announced: string | undefined

  constructor(options: Options) {
    super(options)
    const { sentinels = [], sentinelUsername, sentinelPassword, sentinelTLS, name } = options
    this.#watchers = sentinels.map((sentinel) => {
      const watcher = new Redis({
        ...sentinel,
        ...(sentinelUsername !== undefined && { username: sentinelUsername }),
        ...(sentinelPassword !== undefined && { password: sentinelPassword }),
        ...(sentinelTLS !== undefined && { tls: sentinelTLS }),
        lazyConnect: true,
        enableReadyCheck: false,
        maxRetriesPerRequest: null,
        connectTimeout: CONNECT_TIMEOUT_MS,
        retryStrategy: () => WATCH_AGAIN_AFTER_MS,
      })
      // The client itself reports when no sentinel responds.
      watcher.on('error', () => undefined)
      watcher.on('message', (_channel, message) => {
        if (!message.startsWith(`${String(name)} `)) return
        this.#announced = message
        this.#leaveOldMaster()
      })
      return watcher
    })
    this.once('connecting', () => {
      for (const watcher of this.#watchers) watcher.subscribe('+switch-master').catch(() => undefined)
    })
    // The address of a new connection may have been read before the announcement.
    this.on('ready', () => this.#leaveOldMaster())
    this.once('end', () => this.#stopWatching())
  }

  override disconnect(reconnect = false): void {
    super.disconnect(reconnect)
    // A client that is not connected at the moment emits no `end`.
    if (!reconnect) this.#stopWatching()
  }

  #leaveOldMaster(): void {
    if (this.#announced === undefined || this.status !== 'ready') return
    const [host, port] = this.#announced.split(' ').slice(3)
    this.#announced = undefined
    const { remoteAddress, remotePort } = this.stream
    if (remoteAddress !== host || String(remotePort) !== port) this.disconnect(true)
  }

  #stopWatching(): void {
    for (const watcher of this.#watchers) watcher.disconnect()
  }
}
