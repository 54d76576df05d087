import { createRequestLogStore } from '../../../src/torznab/request-log.store.ts'
import { createAnnouncer } from '../../../tests/support/members.ts'
import { LOG_BOUNDS, loggedRequest } from '../../../tests/support/torznab-log.ts'
import type { TestTracker } from '../../../tests/support/tracker.ts'

const HOUR_MS = 3_600_000
const HOURS = 48
const QUERIES = [
  ['tvsearch', 'q=The Harbour Watch&season=1&ep=5&cat=5030,5040', 'Sonarr'],
  ['movie', 'tmdbid=603&cat=2000,2040', 'Radarr'],
  ['search', '', 'Prowlarr'],
  ['download', 'id=0123456789abcdef0123456789abcdef01234567', 'Sonarr'],
  ['caps', '', 'autobrr'],
] as const

/**
 * Two days of requests by two users, more by day than by night, some of them with an error. The last hour is written to the
 * log, the rest is counted only.
 *
 * @returns how many requests there are in the last 24 hours
 */
export async function useTorznab(tracker: TestTracker): Promise<number> {
  const users = await Promise.all(['alice', 'bob'].map(async (name) => (await createAnnouncer(tracker, name)).id))
  const store = createRequestLogStore(tracker.db, LOG_BOUNDS)
  let lastDay = 0
  for (let hoursAgo = 0; hoursAgo < HOURS; hoursAgo += 1) {
    const count = 12 + Math.round(10 * Math.sin(((HOURS - hoursAgo) / 12) * Math.PI)) + (hoursAgo < 24 ? 6 : 0)
    const requests = Array.from({ length: count }, (_, index) => {
      const [name, query, client] = QUERIES[index % QUERIES.length] ?? QUERIES[0]
      return loggedRequest({
        at: new Date(tracker.now() - hoursAgo * HOUR_MS),
        userId: users[index % 3 === 0 ? 1 : 0],
        logged: hoursAgo === 0 && name !== 'caps',
        function: name,
        query,
        results: index % 9 === 4 ? 0 : index,
        durationMs: 8 + ((index * 7 + hoursAgo * 3) % 40),
        error: index % 9 === 4 ? 201 : undefined,
        client,
      })
    })
    if (hoursAgo < 24) lastDay += count
    await store.write({ id: crypto.randomUUID(), requests })
  }
  return lastDay
}
