import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { addressKey } from '@vault-and-tracker/service-kit/http/client-address'
import type { Redis } from 'ioredis'
import type { RedisFunctions } from '../redis/functions.redis.ts'
import { type AddressBlock, type AddressBlocks, BLOCKING, BLOCKS_MS, type TorznabLimits, WRONG_KEYS } from './limits.ts'

const BLOCKS = 'torznab:blocks'
const MAX_LISTED = 1_000

const userKey = (id: string): string => `torznab:user:${id}`
const addressStateKey = (address: string): string => `torznab:address:${address}`
const wrongKeysKey = (address: string): string => `torznab:wrong-keys:${address}`

/**
 * Limits and blocks in Redis. Windows and blocks follow the given clock; the keys also expire by themselves.
 *
 * @param deps `functions` are those of lua/torznab.lua
 */
export function createTorznabLimits(deps: {
  redis: Redis
  functions: RedisFunctions
  clock: Clock
}): TorznabLimits & AddressBlocks {
  const { redis, functions, clock } = deps
  const { refusalsInWindow, windowsRunning, forgottenAfterMs } = BLOCKING
  const blocking = [refusalsInWindow, windowsRunning, forgottenAfterMs, ...BLOCKS_MS].map(String)

  return {
    async take({ userId, address, kind, limit, windowSeconds }) {
      const counted = addressKey(address)
      const keys = [userKey(userId), addressStateKey(counted), BLOCKS]
      const request = [clock.now(), windowSeconds * 1_000, kind, limit, counted].map(String)
      const [verdict, first, second] = readReply(await functions.call('take', keys, [...request, ...blocking]))
      if (verdict === 'allowed') return { allowed: true, usage: { searches: Number(first), downloads: Number(second) } }
      return {
        allowed: false,
        by: verdict === 'block' ? 'block' : 'limit',
        retryAfterSeconds: wholeSeconds(Number(first)),
      }
    },

    async takeWrongKey(address) {
      const counted = addressKey(address)
      const keys = [addressStateKey(counted), wrongKeysKey(counted)]
      const args = [clock.now(), WRONG_KEYS.windowMs, WRONG_KEYS.limit].map(String)
      const wait = Number(await functions.call('take_wrong_key', keys, args))
      return wait === 0 ? 0 : wholeSeconds(wait)
    },

    usage: async (userId, windowSeconds) => {
      const length = windowSeconds * 1_000
      const [window, searches, downloads] = await redis.hmget(userKey(userId), 'window', 'search', 'download')
      // The same name as in lua/torznab.lua.
      if (window !== `${String(length)}:${String(Math.floor(clock.now() / length))}`)
        return { searches: 0, downloads: 0 }
      return { searches: Number(searches), downloads: Number(downloads) }
    },

    blockedUntil: async (address) => {
      const until = Number(await redis.hget(addressStateKey(addressKey(address)), 'until'))
      return until > clock.now() ? new Date(until) : undefined
    },

    count: () => redis.zcount(BLOCKS, `(${String(clock.now())}`, '+inf'),

    list: async () => {
      const now = clock.now()
      const ends = await redis.zrange(BLOCKS, '+inf', `(${now}`, 'BYSCORE', 'REV', 'LIMIT', 0, MAX_LISTED, 'WITHSCORES')
      const addresses = ends.filter((_, i) => i % 2 === 0)
      const penalties = await Promise.all(addresses.map((address) => redis.hget(addressStateKey(address), 'penalty')))
      return addresses.map((address, i): AddressBlock => {
        const until = Number(ends[2 * i + 1])
        return {
          address,
          until: new Date(until),
          secondsLeft: wholeSeconds(until - now),
          penaltySeconds: Number(penalties[i]) / 1_000,
        }
      })
    },

    lift: async (address) => {
      const counted = addressKey(address.replace(/\/64$/, ''))
      const until = Number(await redis.hget(addressStateKey(counted), 'until'))
      if (until <= clock.now()) return false
      await redis.multi().del(addressStateKey(counted)).zrem(BLOCKS, counted).exec()
      return true
    },
  }
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000))
}

/** The parts of a reply that is a list of strings and integers. */
function readReply(reply: unknown): readonly (string | number)[] {
  if (!Array.isArray(reply)) throw new Error('a function of lua/torznab.lua replied with no list')
  return reply.map((part: unknown) => (Buffer.isBuffer(part) ? part.toString('latin1') : Number(part)))
}
