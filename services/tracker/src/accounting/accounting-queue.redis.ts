import { newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Cluster, Redis } from 'ioredis'
import type { RedisFunctions } from '../redis/functions.redis.ts'
import type { Delta } from '../swarm/swarm.ts'
import { decodeDelta, TAGS, tagOf, tagPrefix } from '../swarm/wire.ts'
import type { AccountingQueue, Batch } from './accounting.ts'

/** Fields per step of a scan, so that a large batch does not delay announces. */
const SCAN_COUNT = 500

/**
 * Deltas that accumulate in Redis next to the swarms.
 *
 * @param functions the functions of lua/accounting.lua
 */
export function createAccountingQueue(redis: Redis | Cluster, functions: RedisFunctions): AccountingQueue {
  return {
    tags: TAGS,

    take: async (tags) => {
      const taken = await Promise.all(
        tags.map((tag) => functions.call('take', [`${tagPrefix(tag)}flushing`], [newId()])),
      )
      return tags.flatMap((tag, i) => {
        const value = taken[i]
        const [id] = Buffer.isBuffer(value) ? value.toString('latin1').split(' ') : []
        return id === undefined ? [] : [{ id, tag }]
      })
    },

    read: async (batch) => {
      const key = batchKey(batch)
      const deltas: Delta[] = []
      for await (const [field, value] of pairs(redis, key)) deltas.push(decodeDelta(field, value))
      return { deltas, changed: await redis.smembersBuffer(`${key}:dirty`) }
    },

    drop: async (batch) => {
      await functions.call('drop', [`${tagPrefix(batch.tag)}flushing`], [batch.id])
    },

    markChanged: async (names) => {
      // One command per name, since the keys of a command to a Cluster must share a slot.
      await Promise.all(names.map((name) => redis.sadd(`${tagPrefix(tagOf(name))}dirty`, name)))
    },
  }
}

function batchKey(batch: Batch): string {
  return `${tagPrefix(batch.tag)}flush:${batch.id}`
}

/** The fields of a hash that does not change. A scan may return a field twice. */
async function* pairs(redis: Redis | Cluster, key: string): AsyncGenerator<[Buffer, Buffer]> {
  const seen = new Set<string>()
  let cursor = '0'
  do {
    const [next, flat] = await redis.hscanBuffer(key, cursor, 'COUNT', SCAN_COUNT)
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const [field, value] = [flat[i], flat[i + 1]]
      if (field === undefined || value === undefined) continue
      const name = field.toString('latin1')
      if (!seen.has(name)) yield [field, value]
      seen.add(name)
    }
    cursor = next.toString('latin1')
  } while (cursor !== '0')
}
