import { createHash } from 'node:crypto'
import { isError } from '@vault-and-tracker/service-kit/errors'
import { newId } from '@vault-and-tracker/service-kit/ids'
import type { Redis } from 'ioredis'
import type { NonceStore } from './signed-requests.ts'

/**
 * A signature dated five minutes ahead is valid for ten: nonces are kept ten minutes and five seconds, the five for the
 * difference between the clocks of the vault and of Redis.
 */
const NONCE_TTL_MS = 605_000

/** When a replica starts, and none has written for so long, Redis may have lost what was written last. */
const GAP_MS = 5_000

/** What `check` is called every, in milliseconds: while a replica runs, no gap arises. */
export const CHECK_EVERY_MS = 1_000

/** The count of a replica that has ended is dropped after an hour. */
const COUNT_TTL_MS = 3_600_000

/** Requests that were signed in the second of a start are accepted: `created` has whole seconds. */
const START_GRACE_MS = 1_000

const MEMORY = 'vault:nonces:memory'

/**
 * Counts the call, finds out whether Redis has lost something, and spends a nonce, as one step.
 *
 * KEYS: the memory, `<since> <last write>` in milliseconds; the count of this replica; the nonce, or the memory again for
 * none. ARGV: the count that this replica has seen.
 *
 * Redis has lost something when the memory is missing or the count is not higher than before. Each replica has a count of
 * its own, so the calls of the others cannot make up for what was lost. All times are those of the clock of Redis.
 *
 * Returns whether the nonce was unspent, for how long nothing was lost, and the count.
 */
const SPEND = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local since, written = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) (%d+)$')
local known = tonumber(ARGV[1])
local count = redis.call('INCR', KEYS[2])
if count <= known then
  since = nil
  count = known + 1
  redis.call('SET', KEYS[2], count, 'PX', ${String(COUNT_TTL_MS)})
elseif since and known == 0 and now - written > ${String(GAP_MS)} then
  since = nil
end
if not since then
  since = now
  written = 0
  if known == 0 then since = now - ${String(START_GRACE_MS)} end
end
if now - written >= ${String(CHECK_EVERY_MS / 2)} then
  redis.call('SET', KEYS[1], string.format('%.0f %.0f', since, now))
end
local fresh = false
if KEYS[3] == KEYS[1] then
  redis.call('PEXPIRE', KEYS[2], ${String(COUNT_TTL_MS)})
else
  fresh = redis.call('SET', KEYS[3], '1', 'PX', ${String(NONCE_TTL_MS)}, 'NX')
end
return { fresh and 1 or 0, now - since, count }`
const SPEND_SHA = createHash('sha1').update(SPEND).digest('hex')

/**
 * Spent nonces in Redis, shared by all replicas: exactly one of them can spend one. While Redis is unavailable, `spend`
 * fails and no request is accepted.
 */
export function createNonceStore(redis: Redis): NonceStore {
  const count = `vault:nonces:count:${newId()}`
  let known = 0

  async function run(nonce: string): Promise<[fresh: number, memoryMs: number, count: number]> {
    const given = [MEMORY, count, nonce, known] as const
    try {
      return (await redis.evalsha(SPEND_SHA, 3, ...given)) as [number, number, number]
    } catch (error) {
      if (!isError(error) || !error.message.startsWith('NOSCRIPT')) throw error
      return (await redis.eval(SPEND, 3, ...given)) as [number, number, number]
    }
  }

  return {
    spend: async (publicKeyHex, nonce) => {
      const [fresh, memoryMs, seen] = await run(`vault:nonce:${publicKeyHex}:${nonce}`)
      known = Math.max(known, seen)
      return { unspent: fresh === 1, memoryMs }
    },
    check: async () => {
      const [, , seen] = await run(MEMORY)
      known = Math.max(known, seen)
    },
  }
}
