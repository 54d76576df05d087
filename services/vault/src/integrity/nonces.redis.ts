import { newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Redis } from 'ioredis'
import type { Nonce, NonceRecord, Nonces, Verdict } from './nonces.ts'

/** How far `created` may be from the time of Redis; a signature is valid for as long. */
const WINDOW_MS = 300_000

/** How far the clock of Redis may be set back without forgetting a nonce too early. */
const SKEW_MS = 60_000

/** A request dated further ahead is recorded in Postgres before it is accepted. */
const AHEAD_MS = 1_000

/** Recorded in addition, so that a client whose clock is ahead causes a write every ten seconds, not with every request. */
const AHEAD_STEP_MS = 10_000

/** When the count of a replica that has ended is dropped. */
const COUNT_TTL_MS = 3_600_000

/**
 * `<epoch> <since> <run>`: the epoch that nonces are remembered under; the earliest `created` that is accepted (0 if no
 * nonce was ever lost); and the run id of the Redis that a replica saw last. Times are in milliseconds, according to
 * Redis.
 *
 * After a loss, `since` is five minutes ahead and `run` is `-`, because earlier requests may be dated that far. A replica
 * then lowers `since` based on the record of requests that were dated ahead. See docs/adr/0059. Review 2027-06.
 */
const MEMORY = 'vault:nonces:memory'

/** Lua: the time, the memory, and the run id of this Redis, which changes at each of its starts. */
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
 * Detects nonces that were lost while no replica ran. KEYS: the memory. ARGV: the epoch in the database, or empty; an
 * epoch for a Redis without one; the window.
 *
 * No nonces were lost if the same Redis is still running with the same epoch. A restarted Redis may have read an old
 * file and lost later writes.
 *
 * Returns the time, whether nonces were lost, `since` while it has to be lowered, and the epoch.
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
 * Lowers `since` after a loss, unless another replica did, or more was lost meanwhile. KEYS: the memory. ARGV: the epoch;
 * `since`; the time up to which requests were dated ahead; the window; how far ahead is not recorded.
 */
const SETTLE = `${READ_MEMORY}
if epoch == ARGV[1] and run == '-' and since == ARGV[2] then
  remember(epoch, math.max(since - ARGV[4] + ARGV[5], ARGV[3]), current())
end
return 1`

/**
 * Lua: counts the call, and finds out whether Redis has lost anything. KEYS: the memory; the count of this replica. ARGV:
 * the epoch; the count that this replica has seen; the window; 1 for a check, and for the first call over a connection.
 *
 * Redis has lost something if it does not have the epoch, or the count is not higher than before. Each replica has its own
 * count, so the calls of others cannot make up for a loss. It may have lost something if another server has become the
 * master, because replicas of Redis lag: INFO then shows where its data parted from that of the old master.
 */
const NOTICE_LOSS = `${READ_MEMORY}
local known = tonumber(ARGV[2])
local count = redis.call('INCR', KEYS[2])
local lost = epoch ~= ARGV[1] or count <= known
if ARGV[4] == '1' and run and run ~= '-' then
  local seen = current()
  if run ~= seen then
    local info = redis.pcall('INFO', 'replication')
    if type(info) == 'string' and string.find(info, 'second_repl_offset:%d') then lost = true end
    if not lost then remember(epoch, since, seen) end
  end
end
if count <= known then
  count = known + 1
  redis.call('SET', KEYS[2], count, 'PX', ${String(COUNT_TTL_MS)})
end
if lost then lose(ARGV[1], ARGV[3]) end
since = tonumber(since)
local reply = { now, lost and 1 or 0, run == '-' and since or 0, count }`

/**
 * Notices a loss and spends nonces, in one step. Requests are judged by the clock of Redis, because those of replicas may
 * differ.
 *
 * KEYS: further the nonces, none for a check. ARGV: further for how long nonces are kept; how far ahead is not recorded;
 * the time up to which it is; then when each request was created.
 *
 * Returns the time; whether this call noticed a loss; `since` while it has to be lowered; the count; then for each nonce 1
 * (unspent), 0 (spent, or before `since`), 2 (expired) or 3 (dated further ahead than recorded).
 */
const SPEND = `${NOTICE_LOSS}
if #KEYS == 2 then redis.call('PEXPIRE', KEYS[2], ${String(COUNT_TTL_MS)}) end
for i = 3, #KEYS do
  local created = tonumber(ARGV[i + 5])
  local verdict = 0
  if math.abs(now - created) > tonumber(ARGV[3]) then verdict = 2
  elseif created < since then verdict = 0
  elseif created > now + tonumber(ARGV[6]) and created > tonumber(ARGV[7]) then verdict = 3
  elseif redis.call('SET', KEYS[i], '1', 'PX', ARGV[5], 'NX') then verdict = 1 end
  reply[i + 2] = verdict
end
return reply`

/**
 * Notices a loss and spends an ID token, in one step. KEYS: further the token. ARGV: further for how long it is kept; when it
 * was issued; who spends it. Returns the same as `SPEND`: 1 (unspent) or 0 (spent, or issued before a loss).
 */
const SPEND_TOKEN = `${NOTICE_LOSS}
local isUnspent = tonumber(ARGV[6]) >= since and redis.call('SET', KEYS[3], ARGV[7], 'PX', ARGV[5], 'NX')
reply[5] = isUnspent and 1 or 0
return reply`

const tokenKey = (digest: string): string => `vault:id-token:${digest}`

const SCRIPTS = { openNonces: OPEN, settleNonces: SETTLE, spendNonces: SPEND, spendToken: SPEND_TOKEN } as const

/** The scripts as commands of ioredis, which sends the text of one again if Redis does not have it. */
type Commands<Reply> = {
  readonly [Name in keyof typeof SCRIPTS]: (keys: number, ...given: readonly (string | number)[]) => Promise<Reply>
}

const VERDICTS: readonly (Verdict | 'ahead')[] = ['replayed', 'unspent', 'expired', 'ahead']

/**
 * Spent nonces in Redis, shared by all replicas: exactly one of them can spend a nonce. While Redis is unavailable,
 * `spend` fails and no request is accepted.
 *
 * The epoch is in Redis before it is in Postgres, and no request is accepted before it is in both. A start that was
 * interrupted in between, or that runs at the same time as another, continues with the stored epochs.
 *
 * @param options `windowMs` is how far `created` may be from the time of Redis
 */
export function createNonces(
  redis: Redis,
  record: NonceRecord,
  { onLoss, windowMs = WINDOW_MS }: { onLoss: () => void; windowMs?: number },
): Nonces {
  const count = `vault:nonces:count:${newId()}`
  const ttlMs = 2 * windowMs + SKEW_MS
  let epoch = ''
  let known = 0
  let recordedUntil = 0
  /** Whether a call has noticed a loss since the last check. */
  let noticed = false
  /** A time of Redis, and when it was read. */
  let time = { redis: 0, at: 0 }
  let settling: Promise<void> | undefined
  /** How many connections to Redis were lost, and with which of them the server was compared. */
  let lostConnections = 0
  let compared = -1
  redis.on('close', () => {
    lostConnections++
  })

  for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { lua })

  function run<Reply>(
    script: keyof typeof SCRIPTS,
    keys: readonly string[],
    ...given: readonly (string | number)[]
  ): Promise<Reply> {
    return (redis as unknown as Commands<Reply>)[script](keys.length, ...keys, ...given)
  }

  async function open(): Promise<{ lost: boolean }> {
    const stored = await record.epoch()
    type Opened = [now: number, lost: number, since: number, epoch: string]
    const [now, lost, since, opened] = await run<Opened>('openNonces', [MEMORY], stored ?? '', newId(), windowMs)
    epoch = opened
    time = { redis: now, at: performance.now() }
    if (lost === 1) {
      await settle(since)
      onLoss()
    }
    return stored !== undefined || (await record.addEpoch(epoch)) === epoch ? { lost: lost === 1 } : open()
  }

  /** Reads the record after `since` was raised, so it contains everything that was accepted before. */
  function settle(since: number): Promise<void> {
    settling ??= (async () => {
      recordedUntil = await record.aheadUntil()
      await run('settleNonces', [MEMORY], epoch, since, recordedUntil, windowMs, AHEAD_MS)
    })().finally(() => {
      settling = undefined
    })
    return settling
  }

  async function call(nonces: readonly Nonce[]) {
    const keys = nonces.map(({ publicKeyHex, nonce }) => `vault:nonce:${publicKeyHex}:${nonce}`)
    const created = nonces.map((nonce) => nonce.created * 1000)
    return notice('spendNonces', keys, [ttlMs, AHEAD_MS, recordedUntil, ...created])
  }

  async function notice(script: keyof typeof SCRIPTS, keys: readonly string[], given: readonly (string | number)[]) {
    const connection = lostConnections
    const compares = keys.length === 0 || compared !== connection ? 1 : 0
    const settings = [epoch, known, windowMs, compares]
    const reply = await run<number[]>(script, [MEMORY, count, ...keys], ...settings, ...given)
    if (compares === 1) compared = connection
    const [now = 0, lost, since = 0, seen = 0, ...verdicts] = reply
    time = { redis: now, at: performance.now() }
    known = Math.max(known, seen)
    noticed ||= lost === 1
    return { since, verdicts: verdicts.map((each) => VERDICTS[each] ?? 'replayed') }
  }

  /** Records how far ahead a request is dated before it is accepted. */
  async function spendAhead(nonce: Nonce): Promise<Verdict> {
    recordedUntil = Math.max(recordedUntil, await record.raiseAhead(nonce.created * 1000 + AHEAD_STEP_MS))
    const { verdicts } = await call([nonce])
    const [verdict = 'expired'] = verdicts
    return verdict === 'ahead' ? 'expired' : verdict
  }

  return {
    open,
    spend: async (nonces) => {
      const { since, verdicts } = await call(nonces)
      // If this fails, the next check repeats it.
      if (since > 0) settle(since).catch(() => undefined)
      return nonces.map((nonce, i) => {
        const verdict = verdicts[i] ?? 'replayed'
        return verdict === 'ahead' ? spendAhead(nonce) : verdict
      })
    },
    spendToken: async ({ digest, issued, by }, keepMs) => {
      const { since, verdicts } = await notice('spendToken', [tokenKey(digest)], [keepMs, issued * 1000, by])
      if (since > 0) settle(since).catch(() => undefined)
      return verdicts[0] === 'unspent'
    },
    spenderOf: async (digest) => (await redis.get(tokenKey(digest))) ?? undefined,
    check: async () => {
      const { since } = await call([])
      const lost = noticed
      noticed = false
      if (since > 0) await settle(since)
      if (!lost) return
      onLoss()
      // Postgres may have another epoch than at the start; replicas with different epochs would never agree.
      await open()
    },
    now: () => time.redis + performance.now() - time.at,
  }
}
