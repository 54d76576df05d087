import type { Cluster, Redis } from 'ioredis'
import type { SwarmName } from './swarm.ts'
import { TAGS, tagPrefix } from './wire.ts'

/** Tags that are read per round trip, so that other commands can run in between. */
const TAGS_AT_ONCE = 16

/**
 * Reads the names of swarms from the index that the sweep uses.
 *
 * @returns a function that returns at most the given number of names
 * @throws an error that `isUnavailable` recognises if Redis is unavailable
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
