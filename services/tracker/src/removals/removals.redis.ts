import type { Cluster, Redis } from 'ioredis'
import { TAGS, tagPrefix } from '../swarm/wire.ts'
import type { GatheredTransfers } from './removals.ts'

/** Fields per step of a scan, so that announces wait only briefly. */
const SCAN_COUNT = 500
/** Bytes with a special meaning in a pattern. */
const SPECIAL = new Set(Buffer.from('*?[]^-\\', 'latin1'))

/** Unwritten transfers in Redis: those accumulating next to the swarms, and waiting batches. */
export function createGatheredTransfers(redis: Redis | Cluster): GatheredTransfers {
  const fieldsOf = async (key: string, pattern: Buffer): Promise<readonly Buffer[]> => {
    const fields: Buffer[] = []
    let cursor = '0'
    do {
      // ioredis has no type for a binary pattern.
      const reply = await redis.callBuffer('HSCAN', key, cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT)
      const [next, flat] = reply as [Buffer, Buffer[]]
      fields.push(...flat.filter((_, i) => i % 2 === 0))
      cursor = next.toString('latin1')
    } while (cursor !== '0')
    return fields
  }
  const fieldsOfTag = async (tag: number, pattern: Buffer): Promise<readonly Buffer[]> => {
    const prefix = tagPrefix(tag)
    // In this order, so that a batch taken in the meantime is seen in one of the two places.
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
