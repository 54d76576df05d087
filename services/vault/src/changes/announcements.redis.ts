import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import { subscribeToChannel } from '@vault-and-tracker/service-kit/redis/subscription'
import type { Redis } from 'ioredis'
import type { Announcements } from './changes.ts'

/** Logical databases of a server share its channels. */
const channelOf = (database: number): string => `vault:changes:${String(database)}`

/**
 * Announces changed environments to all replicas. Messages are hints: they may be lost, repeated or forged, and whatever
 * they say is read from Postgres.
 *
 * @throws an error that `isUnavailable` recognises if Redis does not respond
 */
export async function createAnnouncements(options: {
  url: string
  redis: Redis
  logger: Logger
}): Promise<Announcements & { close(): void }> {
  const { url, redis, logger } = options
  let handlers: Parameters<Announcements['subscribe']>[0] | undefined
  const subscription = await subscribeToChannel({
    ...{ url, logger, name: 'vault-changes', channel: channelOf },
    onMessage: (place) => handlers?.onChange(place),
    onMissed: () => handlers?.onMissed(),
  })
  const channel = channelOf(redis.options.db ?? 0)
  return {
    announce: (place) => {
      handlers?.onChange(place)
      redis
        .publish(channel, place)
        .catch((error: unknown) => logger.warn({ err: error }, 'could not announce a change; clients see it later'))
    },
    subscribe: (given) => {
      handlers = given
    },
    close: () => subscription.close(),
  }
}
