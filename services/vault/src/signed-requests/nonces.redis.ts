import type { Redis } from 'ioredis'
import type { NonceStore } from './signed-requests.ts'

/**
 * A signature dated five minutes ahead is valid for ten: nonces are kept ten minutes and five seconds, the five for the
 * difference between the clocks of the vault and of Redis.
 */
const NONCE_TTL_MS = 605_000

/**
 * Spent nonces in Redis, shared by all replicas: `SET NX` lets exactly one of them spend one. While Redis is
 * unavailable, `spend` fails and no request is accepted.
 */
export function createNonceStore(redis: Redis): NonceStore {
  return {
    spend: async (publicKeyHex, nonce) =>
      (await redis.set(`vault:nonce:${publicKeyHex}:${nonce}`, '1', 'PX', NONCE_TTL_MS, 'NX')) === 'OK',
  }
}
