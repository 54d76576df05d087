import type { Cluster, Redis } from 'ioredis'
import type { SwarmName } from './swarm.ts'
import { TAGS, tagPrefix } from './wire.ts'

/** Tags that are asked at once: Redis answers others in between. */
const TAGS_AT_ONCE = 16

/**
 * Reads the names of swarms, from the index that the sweep works through.
 *
 * @returns a function that gives so many names at most
 * @throws what `isUnavailable` recognises when Redis is unavailable
 */
export function createSwarmNames(redis: Redis | Cluster): (limit: number) => Promise<readonly SwarmName[]> {
  const namesOf = (tag: number, limit: number): Promise<Buffer[]> =>
    redis.zrangeBuffer(`${tagPrefix(tag)}x`, '0', String(limit - 1))
  return async (limit) => {
    const names: Buffer[] = []
    for (let first = 0; first < TAGS && names.length < limit; first += TAGS_AT_ONCE) {
      const left = limit - names.length
      const tags = Array.from({ length: TAGS_AT_ONCE }, (_, i) => first + i)
      const found = await Promise.all(tags.map((tag) => namesOf(tag, left)))
      names.push(...found.flat())
    }
    return names.slice(0, limit)
  }
}
