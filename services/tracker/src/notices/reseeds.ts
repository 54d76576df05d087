import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId } from '@vault-and-tracker/service-kit/core/ids'
import { apiError } from '../errors.ts'

const DAY_MS = 86_400_000

/** A torrent's seeders are requested once in this time. */
const TORRENT_PAUSE_MS = 3 * DAY_MS
/** A member can make this many requests per day. */
const REQUESTS_PER_DAY = 5
/** At most this many members receive a notice: those who completed the torrent last, and its uploader. */
const MAX_RECIPIENTS = 200

/** A request to seed a torrent. */
export type ReseedRequest = {
  readonly torrentId: string
  readonly userId: string
  readonly at: Date
  /** A torrent that was requested after this time is not requested again. */
  readonly torrentSince: Date
  /** The member's requests after this time count towards `userLimit`. */
  readonly userSince: Date
  readonly userLimit: number
  readonly maxRecipients: number
}

/** The store of requests. Recording a request and sending its notices is one atomic change. */
export type ReseedStore = {
  /** @returns the number of members who were asked, or why no one was */
  request(request: ReseedRequest): Promise<number | 'unknown' | 'seeded' | 'asked' | 'limited'>
}

const REFUSALS = {
  seeded: 'This torrent has seeders.',
  asked: 'Members were asked to seed this torrent less than 3 days ago. Try again later.',
  limited: `You can ask for seeders of ${REQUESTS_PER_DAY} torrents per day. Try again tomorrow.`,
} as const

export type Reseeds = ReturnType<typeof createReseeds>

/** Requests to members who completed a torrent to seed it again. */
export function createReseeds({ store, clock }: { store: ReseedStore; clock: Clock }) {
  return {
    /**
     * Notifies members who completed a torrent without seeders.
     *
     * @returns the number of those members
     * @throws ApiError NOT_FOUND; CONFLICT if it has seeders, or was requested recently, or the member made too many requests
     */
    async request(torrentId: string, userId: string): Promise<number> {
      const now = clock.now()
      const bounds = { userLimit: REQUESTS_PER_DAY, maxRecipients: MAX_RECIPIENTS }
      const since = { torrentSince: new Date(now - TORRENT_PAUSE_MS), userSince: new Date(now - DAY_MS) }
      const outcome = isId(torrentId)
        ? await store.request({ torrentId, userId, at: new Date(now), ...since, ...bounds })
        : 'unknown'
      if (outcome === 'unknown') throw apiError('NOT_FOUND', 'There is no such torrent.')
      if (typeof outcome === 'string') throw apiError('CONFLICT', REFUSALS[outcome])
      return outcome
    },
  }
}
