import type { Redis } from 'ioredis'
import type { AnnounceTallies } from './announce-rate.ts'

/** Long enough for a late sample of a minute. */
const KEEP_SECONDS = 600

const keyOf = (span: number): string => `announces:${String(span)}`

/** Counts in Redis, one hash per span. */
export function createAnnounceTallies(redis: Redis): AnnounceTallies {
  return {
    add: async (span, { announces, refused }) => {
      const key = keyOf(span)
      await redis
        .multi()
        .hincrby(key, 'announces', announces)
        .hincrby(key, 'refused', refused)
        .expire(key, KEEP_SECONDS)
        .exec()
    },

    sum: async (first, count) => {
      const spans = Array.from({ length: count }, (_, index) => first + index)
      const found = await Promise.all(spans.map((span) => redis.hmget(keyOf(span), 'announces', 'refused')))
      const add = (field: 0 | 1): number => found.reduce((sum, values) => sum + Number(values[field] ?? 0), 0)
      return { announces: add(0), refused: add(1) }
    },
  }
}
