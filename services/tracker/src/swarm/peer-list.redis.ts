import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { UnavailableError } from '@vault-and-tracker/service-kit/errors'
import type { Cluster, Redis } from 'ioredis'
import { createRedisFunctions } from '../redis/functions.redis.ts'
import type { PeerList } from './peer-list.ts'
import { decodePeers } from './peer-wire.ts'
import { encodeSettings } from './settings-wire.ts'
import type { SwarmSettings } from './swarm.ts'
import { minuteOf, swarmKey } from './wire.ts'

/** Reads peers out of the swarms in Redis. */
export function createPeerList(options: {
  redis: Redis | Cluster
  /** The time is that of Redis without one. */
  clock: Clock | undefined
  settings: SwarmSettings
}): PeerList {
  const { redis, clock, settings } = options
  const functions = createRedisFunctions(redis, 'swarm')
  return {
    read: async (name, first, count) => {
      const args = [encodeSettings(settings, Math.floor((clock?.now() ?? 0) / 1000)), String(first), String(count)]
      const reply = await functions.call('peers', [swarmKey(name)], args)
      const parts: readonly unknown[] = Array.isArray(reply) ? reply : []
      const [places, records, values, now] = parts
      if (
        typeof places !== 'number' ||
        typeof now !== 'number' ||
        !Buffer.isBuffer(records) ||
        !Buffer.isBuffer(values)
      )
        throw new UnavailableError('redis', { cause: new Error('a list of peers has an unknown form') })
      return { peers: decodePeers(records, values, minuteOf(now)), places }
    },
  }
}
