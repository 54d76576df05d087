import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { UnavailableError } from '@vault-and-tracker/service-kit/core/errors'
import type { Cluster, Redis } from 'ioredis'
import { createRedisFunctions } from '../redis/functions.redis.ts'
import type { PeerList } from './peer-list.ts'
import type { SwarmSettings } from './swarm.ts'
import { decodePeer, encodeSettings, swarmKey } from './wire.ts'

/** Reads peers from the swarms in Redis. */
export function createPeerList(options: {
  redis: Redis | Cluster
  /** Defaults to the time of Redis. */
  clock: Clock | undefined
  settings: SwarmSettings
}): PeerList {
  const { redis, clock, settings } = options
  const functions = createRedisFunctions(redis, 'swarm')
  return {
    read: async (name, first, count) => {
      const args = [encodeSettings(settings, Math.floor((clock?.now() ?? 0) / 1000)), String(first), String(count)]
      const reply = await functions.call('peers', [swarmKey(name)], args)
      const items: readonly unknown[] = Array.isArray(reply) ? reply : []
      const [places, now, names, ipv6, ...values] = items
      if (typeof places !== 'number' || typeof now !== 'number' || !Buffer.isBuffer(names) || !Buffer.isBuffer(ipv6))
        throw new UnavailableError('redis', { cause: new Error('a list of peers has an unknown form') })
      const peers = values.flatMap((value, i) => {
        const owner = names.subarray(i * 10, i * 10 + 8)
        const peer = Buffer.isBuffer(value) ? decodePeer(value, owner, ipv6.subarray(i * 18, i * 18 + 18)) : undefined
        return peer === undefined || peer.lastAnnounce + settings.timeToLive < now ? [] : [peer]
      })
      return { peers, places }
    },
  }
}
