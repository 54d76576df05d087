import { observe } from '@vault-and-tracker/service-kit/metrics/registry'
import { createEventStreams, type EventStreams } from '../events/event-streams.ts'
import type { Credential } from '../events/events.routes.ts'
import { createEventStore } from '../events/events.store.ts'
import { createEvents, type Events } from '../events/events.ts'
import { whenRevoked } from '../invalidation/invalidation.ts'
import type { AccountUseCases } from './accounts.ts'
import type { Connections } from './connections.ts'
import type { TokenUseCases } from './tokens.ts'

/** How long an event waits at most if its message was lost. */
const POLL_EVERY_MS = 5_000
const EXPIRE_EVERY_MS = 3_600_000
/** Proxies close connections that are silent for a minute. */
const BEAT_EVERY_MS = 15_000

/** Creates the stream of events, which every process reads after each change of a torrent. */
export function createTorrentEvents(
  { config, db, clock, logger, invalidations, background }: Connections,
  parts: Pick<Parameters<typeof createEvents>[0], 'torrents' | 'catalogue'>,
): Events {
  const events = createEvents({ ...parts, store: createEventStore(db), publicUrl: config.PUBLIC_URL, clock })
  const onError = (error: unknown): void => logger.warn({ err: error }, 'reading events failed; will retry')
  const refresh = (): void => void events.refresh().catch(onError)
  invalidations.addCache({
    onChange: ({ kind }) => {
      if (kind === 'torrent') refresh()
    },
    onMissed: refresh,
  })
  background.add({ everyMs: POLL_EVERY_MS, task: events.refresh, onError })
  background.add({
    everyMs: EXPIRE_EVERY_MS,
    task: events.expire,
    onError: (error) => logger.warn({ err: error }, 'deleting old events failed; will retry'),
  })
  return events
}

export type EventUseCases = {
  readonly eventStreams: EventStreams
  readonly isAdmitted: (credential: Credential) => Promise<boolean>
}

/** Creates the streams of events. They end soon after the session or API token that opened them. */
export function createEventUseCases(
  { metrics, logger, invalidations, background }: Connections,
  parts: Pick<AccountUseCases, 'sessions'> & Pick<TokenUseCases, 'apiTokens'> & { readonly events: Events },
): EventUseCases {
  const { events, sessions, apiTokens } = parts
  const eventStreams = createEventStreams({ events, random: Math.random })
  observe(metrics.registry, 'tracker_event_streams', 'Open streams of GET /api/events', eventStreams.size)
  background.add({
    everyMs: BEAT_EVERY_MS,
    task: () => eventStreams.beat(),
    onError: (error) => logger.warn({ err: error }, 'checking event streams failed; will retry'),
  })
  invalidations.addCache(whenRevoked(eventStreams.check))
  return {
    eventStreams,
    isAdmitted: ({ tokenHash, scope, address }) =>
      scope === undefined ? sessions.isValid(tokenHash) : apiTokens.isValid(tokenHash, { scope, address }),
  }
}
