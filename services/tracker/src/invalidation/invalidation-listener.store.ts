import { Redis } from 'ioredis'
import type { Logger } from 'service-kit/logger'
import { type Invalidation, invalidationChannel } from './invalidation.ts'

/**
 * Hears invalidations on a connection of its own. Messages sent while it was down are lost, so `missed` is called after
 * every reconnection.
 *
 * @returns how to stop listening
 */
export async function listenForInvalidations(options: {
  url: string
  logger: Logger
  changed: (change: Invalidation) => void
  missed: () => void
}): Promise<{ close(): void }> {
  const redis = new Redis(options.url, {
    connectionName: 'tracker-invalidation',
    lazyConnect: true,
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
  })
  redis.on('error', (error: Error) => options.logger.warn({ err: error }, 'Redis connection error'))
  redis.on('message', (_channel: string, message: string) => {
    const change = parseInvalidation(message)
    if (change) options.changed(change)
    else options.missed()
  })
  await redis.connect()
  await redis.subscribe(invalidationChannel(redis.options.db ?? 0))
  redis.on('ready', () => options.missed())
  return { close: () => redis.disconnect() }
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
