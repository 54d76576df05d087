import { createHash } from 'node:crypto'
import { isError } from '@vault-and-tracker/service-kit/core/errors'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Redis } from 'ioredis'
import type { AheadRecord, MemoryKeeper } from './nonce-memory.ts'
import type { Nonce, NonceStore, Verdict } from './signed-requests.ts'

/** How far `created` may be from the time of Redis, as a signature is valid for as long. */
const WINDOW_MS = 300_000

/** How far the clock of Redis may be set back without a nonce being forgotten too early. */
const SKEW_MS = 60_000

/**
 * A request that is dated further ahead than this is recorded before it is accepted. After a loss nothing is accepted for
 * as long.
 */
const AHEAD_MS = 1_000

/** Recorded in addition, so that a client whose clock is ahead costs a write every ten seconds, not every request. */
const AHEAD_STEP_MS = 10_000

/** The count of a replica that has ended is dropped after an hour. */
const COUNT_TTL_MS = 3_600_000

/**
 * `<epoch> <since> <run>`: what nonces are remembered under; the mark that `created` has to reach (0: nothing was ever
 * lost); and the run id of the Redis that a replica has seen last. Times are in milliseconds, by the clock of Redis.
 *
 * After a loss the mark is five minutes ahead and the run is `-`: what was signed before may be dated so far. A replica
 * then lowers the mark to what is recorded of requests that were dated ahead.
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
end
local function lose(of, window)
  epoch, since, run = of, now + window, '-'
  remember(epoch, since, run)
end`

/**
 * Finds out what was lost while nobody looked. KEYS: the memory. ARGV: the epoch that the database knows, empty for none;
 * an epoch for a Redis that has none; the window.
 *
 * Nothing was lost where the same Redis still runs under the same epoch. A Redis that was started since then may have
 * read an old file, and has lost what it had not written yet.
 *
 * Returns the time, whether nonces were lost, the mark while it is to be lowered, and the epoch.
 */
const OPEN = `${READ_MEMORY}
local known = ARGV[1]
local seen = current()
if not epoch and known == '' then
  remember(ARGV[2], 0, seen)
  return { now, 0, 0, ARGV[2] }
end
local isKnown = epoch and (known == '' or epoch == known)
if isKnown and run == seen then return { now, 0, 0, epoch } end
lose(isKnown and epoch or known, ARGV[3])
return { now, 1, since, epoch }`

/**
 * Lowers the mark after a loss, unless another replica did, or more was lost since. KEYS: the memory. ARGV: the epoch; the
 * mark; the time up to which requests were dated ahead; the window; how far ahead is not recorded.
 */
const SETTLE = `${READ_MEMORY}
if epoch == ARGV[1] and run == '-' and since == ARGV[2] then
  remember(epoch, math.max(since - ARGV[4] + ARGV[5], ARGV[3]), current())
end
return 1`

/**
 * Counts the call, finds out whether Redis has lost something, and spends nonces, as one step. The time that requests
 * are judged by is that of Redis: replicas may have other ones.
 *
 * KEYS: the memory; the count of this replica; the nonces, none for a check. ARGV: the epoch; the count that this replica
 * has seen; the window; for how long nonces are kept; how far ahead is not recorded; the time up to which it is; then
 * when each request was created.
 *
 * Redis has lost something when it does not hold the epoch or the count is not higher than before. Each replica has a
 * count of its own, so the calls of the others cannot make up for what was lost.
 *
 * Returns the time; whether this call has noticed a loss; the mark while it is to be lowered; the count; then of each
 * nonce whether it was unspent (1), was spent or is older than the mark (0), the request has expired (2), or it is dated
 * further ahead than is recorded (3).
 */
const SPEND = `${READ_MEMORY}
local known = tonumber(ARGV[2])
local count = redis.call('INCR', KEYS[2])
local lost = epoch ~= ARGV[1] or count <= known
if count <= known then
  count = known + 1
  redis.call('SET', KEYS[2], count, 'PX', ${String(COUNT_TTL_MS)})
end
if lost then lose(ARGV[1], ARGV[3]) end
since = tonumber(since)
local reply = { now, lost and 1 or 0, run == '-' and since or 0, count }
if #KEYS == 2 then
  redis.call('PEXPIRE', KEYS[2], ${String(COUNT_TTL_MS)})
  local seen = current()
  if run ~= '-' and run ~= seen then remember(ARGV[1], since, seen) end
end
for i = 3, #KEYS do
  local created = tonumber(ARGV[i + 4])
  local verdict = 0
  if math.abs(now - created) > tonumber(ARGV[3]) then verdict = 2
  elseif created < since then verdict = 0
  elseif created > now + tonumber(ARGV[5]) and created > tonumber(ARGV[6]) then verdict = 3
  elseif redis.call('SET', KEYS[i], '1', 'PX', ARGV[4], 'NX') then verdict = 1 end
  reply[i + 2] = verdict
end
return reply`

type Script = { readonly text: string; readonly sha: string }

const OPENING = script(OPEN)
const SETTLING = script(SETTLE)
const SPENDING = script(SPEND)

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

const VERDICTS: readonly (Verdict | 'ahead')[] = ['replayed', 'unspent', 'expired', 'ahead']

/**
 * Spent nonces in Redis, shared by all replicas: exactly one of them can spend one. While Redis is unavailable, `spend`
 * fails and no request is accepted. The memory is to be opened first.
 *
 * @param record survives Redis: up to which time requests were dated ahead
 * @param windowMs how far `created` may be from the time of Redis
 */
export function createNonceStore(redis: Redis, record: AheadRecord, windowMs = WINDOW_MS): NonceStore & MemoryKeeper {
  const count = `vault:nonces:count:${newId()}`
  const ttlMs = 2 * windowMs + SKEW_MS
  let epoch = ''
  let known = 0
  let recordedUntil = 0
  /** A loss that a request has noticed, to be told by the next check. */
  let noticed = false
  /** What time it was for Redis, and when. */
  let time = { redis: 0, at: 0 }
  let settling: Promise<void> | undefined

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

  /** The record is read after the mark was raised, so nothing that was accepted before is missing in it. */
  function settle(mark: number): Promise<void> {
    settling ??= (async () => {
      recordedUntil = await record.read()
      await run(SETTLING, [MEMORY], epoch, mark, recordedUntil, windowMs, AHEAD_MS)
    })().finally(() => {
      settling = undefined
    })
    return settling
  }

  async function spend(nonces: readonly Nonce[]) {
    const keys = nonces.map(({ publicKeyHex, nonce }) => `vault:nonce:${publicKeyHex}:${nonce}`)
    const created = nonces.map((nonce) => nonce.created * 1000)
    const settings = [epoch, known, windowMs, ttlMs, AHEAD_MS, recordedUntil]
    const reply = await run<number[]>(SPENDING, [MEMORY, count, ...keys], ...settings, ...created)
    const [now = 0, lost, mark = 0, seen = 0, ...verdicts] = reply
    time = { redis: now, at: performance.now() }
    known = Math.max(known, seen)
    noticed ||= lost === 1
    return { mark, verdicts: verdicts.map((each) => VERDICTS[each] ?? 'replayed') }
  }

  /** Records that requests were dated so far ahead before one of them is accepted. */
  async function spendAhead(nonce: Nonce): Promise<Verdict> {
    recordedUntil = Math.max(recordedUntil, await record.raise(nonce.created * 1000 + AHEAD_STEP_MS))
    const { verdicts } = await spend([nonce])
    const [verdict = 'expired'] = verdicts
    return verdict === 'ahead' ? 'expired' : verdict
  }

  return {
    now: () => time.redis + performance.now() - time.at,
    open: async (given) => {
      const [now, lost, mark, opened] = await run<[number, number, number, string]>(
        ...([OPENING, [MEMORY], given ?? '', newId(), windowMs] as const),
      )
      epoch = opened
      time = { redis: now, at: performance.now() }
      if (lost === 1) await settle(mark)
      return { epoch, lost: lost === 1 }
    },
    spend: async (nonces) => {
      const { mark, verdicts } = await spend(nonces)
      // Where this fails, the next check does it.
      if (mark > 0) settle(mark).catch(() => undefined)
      return nonces.map((nonce, i) => {
        const verdict = verdicts[i] ?? 'replayed'
        return verdict === 'ahead' ? spendAhead(nonce) : verdict
      })
    },
    check: async () => {
      const { mark } = await spend([])
      const lost = noticed
      noticed = false
      if (mark > 0) await settle(mark)
      return { lost }
    },
  }
}
