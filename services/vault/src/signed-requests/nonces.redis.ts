import { createHash } from 'node:crypto'
import { isError } from '@vault-and-tracker/service-kit/errors'
import { newId } from '@vault-and-tracker/service-kit/ids'
import type { Redis } from 'ioredis'
import type { MemoryKeeper } from './nonce-memory.ts'
import type { NonceStore, Spent } from './signed-requests.ts'

/**
 * A signature dated five minutes ahead is valid for ten: nonces are kept ten minutes and five seconds, the five for the
 * difference between the clocks of the vault and of Redis.
 */
const NONCE_TTL_MS = 605_000

/** The count of a replica that has ended is dropped after an hour. */
const COUNT_TTL_MS = 3_600_000

/**
 * `<epoch> <since> <run>`: what nonces are remembered under, since when none was lost (0: ever), and the run id of the
 * Redis that a replica has seen last. Times are in milliseconds, by the clock of Redis.
 */
const MEMORY = 'vault:nonces:memory'

/** Lua: the time, what is remembered, and the run id of this Redis, which is new after each of its starts. */
const READ_MEMORY = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local epoch, since, run = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%d+) (%S+)$')
local function remember(of, from, seen)
  redis.call('SET', KEYS[1], string.format('%s %.0f %s', of, from, seen))
end
local function current()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%x+)') or 'unknown'
end`

/**
 * Finds out what was lost while nobody looked. KEYS: the memory. ARGV: the epoch that the database knows, empty for none;
 * an epoch for a Redis that has none.
 *
 * Nothing was lost where the same Redis still runs under the same epoch. A Redis that was started since then may have
 * read an old file, and has lost what it had not written yet.
 *
 * Returns the epoch and whether nonces were lost.
 */
const OPEN = `${READ_MEMORY}
local known = ARGV[1]
local seen = current()
if not epoch and known == '' then
  remember(ARGV[2], 0, seen)
  return { ARGV[2], 0 }
end
if not epoch or known ~= '' and epoch ~= known then
  remember(known, now, seen)
  return { known, 1 }
end
if run == seen then return { epoch, 0 } end
remember(epoch, now, seen)
return { epoch, 1 }`

/**
 * Counts the call, finds out whether Redis has lost something, and spends nonces, as one step.
 *
 * KEYS: the memory; the count of this replica; the nonces, none for a check. ARGV: the epoch; the count that this replica
 * has seen.
 *
 * Redis has lost something when it does not hold the epoch or the count is not higher than before. Each replica has a
 * count of its own, so the calls of the others cannot make up for what was lost.
 *
 * Returns for how long nothing was lost, -1 for ever; the count; whether this call has noticed a loss; of each nonce
 * whether it was unspent.
 */
const SPEND = `${READ_MEMORY}
local known = tonumber(ARGV[2])
local count = redis.call('INCR', KEYS[2])
local lost = epoch ~= ARGV[1] or count <= known
if count <= known then
  count = known + 1
  redis.call('SET', KEYS[2], count, 'PX', ${String(COUNT_TTL_MS)})
end
if lost then
  since = now
  run = '-'
  remember(ARGV[1], since, run)
end
since = tonumber(since)
local reply = { since == 0 and -1 or math.max(now - since, 0), count, lost and 1 or 0 }
if #KEYS == 2 then
  redis.call('PEXPIRE', KEYS[2], ${String(COUNT_TTL_MS)})
  local seen = current()
  if run ~= seen then remember(ARGV[1], since, seen) end
end
for i = 3, #KEYS do
  reply[i + 1] = redis.call('SET', KEYS[i], '1', 'PX', ${String(NONCE_TTL_MS)}, 'NX') and 1 or 0
end
return reply`

type Script = { readonly text: string; readonly sha: string }

const OPENING = script(OPEN)
const SPENDING = script(SPEND)

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

/**
 * Spent nonces in Redis, shared by all replicas: exactly one of them can spend one. While Redis is unavailable, `spend`
 * fails and no request is accepted. The memory is to be opened first.
 */
export function createNonceStore(redis: Redis): NonceStore & MemoryKeeper {
  const count = `vault:nonces:count:${newId()}`
  let epoch = ''
  let known = 0
  /** A loss that a request has noticed, to be told by the next check. */
  let noticed = false

  async function run<Reply>(
    { text, sha }: Script,
    keys: readonly string[],
    ...given: (string | number)[]
  ): Promise<Reply> {
    try {
      return (await redis.evalsha(sha, keys.length, ...keys, ...given)) as Reply
    } catch (error) {
      if (!isError(error) || !error.message.startsWith('NOSCRIPT')) throw error
      return (await redis.eval(text, keys.length, ...keys, ...given)) as Reply
    }
  }

  async function spend(nonces: readonly string[]): Promise<readonly Spent[]> {
    const reply = await run<number[]>(SPENDING, [MEMORY, count, ...nonces], epoch, known)
    const [memoryMs = 0, seen = 0, lost, ...fresh] = reply
    known = Math.max(known, seen)
    noticed ||= lost === 1
    return fresh.map((each) => ({ unspent: each === 1, memoryMs: memoryMs < 0 ? Infinity : memoryMs }))
  }

  return {
    open: async (given) => {
      const [opened, lost] = await run<[string, number]>(OPENING, [MEMORY], given ?? '', newId())
      epoch = opened
      return { epoch, lost: lost === 1 }
    },
    spend: (nonces) => spend(nonces.map(({ publicKeyHex, nonce }) => `vault:nonce:${publicKeyHex}:${nonce}`)),
    check: async () => {
      await spend([])
      const lost = noticed
      noticed = false
      return { lost }
    },
  }
}
