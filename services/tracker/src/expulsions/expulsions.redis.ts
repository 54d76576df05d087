import type { Cluster, Redis } from 'ioredis'
import { TAGS, tagPrefix } from '../swarm/wire.ts'
import type { GatheredTransfers } from './expulsions.ts'

/** Fields that are looked at in one step, so that announces wait for a short time only. */
const SCAN_COUNT = 500
/** Bytes with a meaning in a pattern. */
const SPECIAL = new Set(Buffer.from('*?[]^-\\', 'latin1'))

/** What gathers beside the swarms, and the batches that wait. */
export function createGatheredTransfers(redis: Redis | Cluster): GatheredTransfers {
  const fieldsOf = async (key: string, pattern: Buffer): Promise<readonly Buffer[]> => {
    const fields: Buffer[] = []
    let cursor = '0'
    do {
      // ioredis has no type for a pattern of bytes.
      const reply = await redis.callBuffer('HSCAN', key, cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT)
      const [next, flat] = reply as [Buffer, Buffer[]]
      fields.push(...flat.filter((_, i) => i % 2 === 0))
      cursor = next.toString('latin1')
    } while (cursor !== '0')
    return fields
  }
  const fieldsOfTag = async (tag: number, pattern: Buffer): Promise<readonly Buffer[]> => {
    const prefix = tagPrefix(tag)
    // In this order, so that a batch that is taken meanwhile is seen here or there.
    const accumulating = await fieldsOf(`${prefix}du`, pattern)
    const taken = await redis.get(`${prefix}flushing`)
    const [batch] = taken?.split(' ') ?? []
    return batch === undefined
      ? accumulating
      : [...accumulating, ...(await fieldsOf(`${prefix}flush:${batch}`, pattern))]
  }
  return {
    torrentsOf: async (user) => {
      const escaped = [...user].flatMap((byte) => (SPECIAL.has(byte) ? [0x5c, byte] : [byte]))
      const pattern = Buffer.from([...escaped, 0x2a])
      const found = await Promise.all(Array.from({ length: TAGS }, (_, tag) => fieldsOfTag(tag, pattern)))
      return [...new Set(found.flat().map((field) => field.subarray(16).toString('hex')))]
    },
  }
}
