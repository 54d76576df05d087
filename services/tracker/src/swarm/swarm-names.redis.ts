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

/** Names per page, roughly. */
const PAGE = 500

/**
 * Reads the names of all swarms part by part. A swarm that exists throughout is in some part, and may be in two.
 *
 * @returns a function of the cursor in the part before; its cursor is undefined after the last part
 * @throws an error that `isUnavailable` recognises if Redis is unavailable
 */
export function createSwarmPages(
  redis: Redis | Cluster,
): (cursor: string | undefined) => Promise<{ names: readonly SwarmName[]; next: string | undefined }> {
  return async (cursor = '0 0') => {
    const [tag = 0, position = 0] = cursor.split(' ').map(Number)
    const [next, found] = await redis.zscanBuffer(`${tagPrefix(tag)}x`, position, 'COUNT', PAGE)
    const isTagDone = next.toString() === '0'
    const isDone = isTagDone && tag + 1 === TAGS
    return {
      // Each name is followed by its score.
      names: found.filter((_, i) => i % 2 === 0),
      next: isDone ? undefined : isTagDone ? `${String(tag + 1)} 0` : `${String(tag)} ${next.toString()}`,
    }
  }
}
