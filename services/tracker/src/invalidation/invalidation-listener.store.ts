import type { Logger } from '@vault-and-tracker/service-kit/logger'
import { Redis } from 'ioredis'
import { type Invalidation, invalidationChannel } from './invalidation.ts'

const HEARTBEAT_MS = 5_000
const COMMAND_TIMEOUT_MS = 2_000

/**
 * Hears invalidations on a connection of its own. Messages sent while it was down are lost, so `missed` is called after
 * every reconnection, once it listens again. Nothing comes over it for hours, so whether it still stands is asked.
 *
 * @param options `heartbeatMs` is how often; a connection without an answer is replaced
 * @returns how to stop listening
 */
export async function listenForInvalidations(options: {
  url: string
  logger: Logger
  changed: (change: Invalidation) => void
  missed: () => void
  heartbeatMs?: number
}): Promise<{ close(): void }> {
  const redis = new Redis(options.url, {
    connectionName: 'tracker-invalidation',
    lazyConnect: true,
    maxRetriesPerRequest: null,
    autoResubscribe: false,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: 3_000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
  })
  redis.on('error', (error: Error) => options.logger.warn({ err: error }, 'Redis connection error'))
  redis.on('message', (_channel: string, message: string) => {
    const change = parseInvalidation(message)
    if (change) options.changed(change)
    else options.missed()
  })
  const channel = invalidationChannel(redis.options.db ?? 0)
  await redis.connect()
  await redis.subscribe(channel)
  const reconnect = (): void => {
    if (redis.status === 'ready') redis.disconnect(true)
  }
  redis.on('ready', () => void redis.subscribe(channel).then(options.missed, reconnect))
  let asked = false
  const ask = async (): Promise<void> => {
    asked = true
    await redis.ping().catch(reconnect)
    asked = false
  }
  const heartbeat = setInterval(() => {
    if (!asked && redis.status === 'ready') void ask()
  }, options.heartbeatMs ?? HEARTBEAT_MS)
  return {
    close: () => {
      clearInterval(heartbeat)
      redis.disconnect()
    },
  }
}

/** A message, unless a later release sends something this one does not know. */
function parseInvalidation(message: string): Invalidation | undefined {
  let value: unknown
  try {
    value = JSON.parse(message)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined
  if (value.kind === 'site') return { kind: 'site' }
  if (value.kind === 'user' && 'passkey' in value && typeof value.passkey === 'string')
    return { kind: 'user', passkey: value.passkey }
  if (value.kind === 'torrent' && 'infoHash' in value && typeof value.infoHash === 'string')
    return { kind: 'torrent', infoHash: value.infoHash }
  return undefined
}
