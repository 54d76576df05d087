import type { Logger } from '../log/logger.ts'
import { createClient } from './client.ts'

const HEARTBEAT_MS = 5_000
const COMMAND_TIMEOUT_MS = 2_000

/** A subscription to a channel. */
export type Subscription = { close(): void }

/**
 * Subscribes to a channel on a dedicated connection. Messages sent while it is down are lost, so `onMissed` is called
 * after every reconnection. The channel may be silent for hours, so a heartbeat checks the connection, which is replaced
 * if it does not answer.
 *
 * @param options `channel` names the channel of a logical database; `heartbeatMs` is the interval of the check
 * @throws an error that `isUnavailable` recognises if Redis does not respond
 */
export async function subscribeToChannel(options: {
  url: string
  name: string
  channel: (database: number) => string
  logger: Logger
  heartbeatMs?: number
  onMessage: (message: string) => void
  onMissed: () => void
}): Promise<Subscription> {
  const clientOptions = {
    connectionName: options.name,
    maxRetriesPerRequest: null,
    autoResubscribe: false,
    commandTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: (attempt: number) => Math.min(attempt * 100, 1_000),
  }
  const redis = createClient(options.url, clientOptions, options.logger)
  redis.on('message', (_channel: string, message: string) => options.onMessage(message))
  const channel = options.channel(redis.options.db ?? 0)
  try {
    await redis.connect()
    await redis.subscribe(channel)
  } catch (error) {
    // Otherwise it would keep reconnecting.
    redis.disconnect()
    throw error
  }
  const reconnect = (): void => {
    if (redis.status === 'ready') redis.disconnect(true)
  }
  redis.on('ready', () => void redis.subscribe(channel).then(options.onMissed, reconnect))
  let isPinging = false
  const ping = async (): Promise<void> => {
    isPinging = true
    await redis.ping().catch(reconnect)
    isPinging = false
  }
  const heartbeat = setInterval(() => {
    if (!isPinging && redis.status === 'ready') void ping()
  }, options.heartbeatMs ?? HEARTBEAT_MS)
  return {
    close: () => {
      clearInterval(heartbeat)
      redis.disconnect()
    },
  }
}
