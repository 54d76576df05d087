import { createHash, randomBytes } from 'node:crypto'
import type { BatcherOptions } from '@vault-and-tracker/service-kit/core/batch'
import { batchedLoader } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
import type { RecordAddress } from '../addresses/addresses.ts'
import type { Account, AccountStore } from './accounts.ts'

const DAY_MS = 24 * 3_600_000

/** A session ends after this long without a request. */
const MAX_IDLE_MS = 14 * DAY_MS
/** A session ends this long after the sign-in, even if it is in use. */
export const MAX_SESSION_AGE_MS = 90 * DAY_MS

/** The time of the last request is written at most once in this interval. */
const MIN_TOUCH_INTERVAL_MS = 5 * 60_000

/** Sessions per user. A further sign-in ends the oldest. */
const MAX_SESSIONS = 20

/** Concurrent requests read their accounts in one statement; no request waits for others to arrive. */
const BATCHES: BatcherOptions = { concurrency: 2, maxBatchSize: 500, lingerMs: 0, isReady: () => false }

/** A stored session. Times are in milliseconds since the Unix epoch. */
export type StoredSession = {
  readonly id: string
  readonly userId: string
  /** The session epoch of the account at sign-in. A higher epoch of the account invalidates the session. */
  readonly epoch: number
  readonly createdAt: number
  readonly lastSeenAt: number
  readonly address: string
  readonly userAgent: string
  /** Whether it was opened with a second factor. */
  readonly isStrong?: boolean
}

/** A valid session and its account, both read on every request. */
export type Session = {
  readonly id: string
  readonly account: Account
  readonly tokenHash: string
  readonly isStrong: boolean
}

/** The store of sessions, keyed by the SHA-256 of their token. */
export type SessionStore = {
  save(tokenHash: string, session: StoredSession, ttlMs: number): Promise<void>
  /** Replaces a session only if it still exists. */
  touch(tokenHash: string, session: StoredSession, ttlMs: number): Promise<void>
  byTokenHash(tokenHash: string): Promise<StoredSession | undefined>
  listOf(userId: string): Promise<readonly { tokenHash: string; session: StoredSession }[]>
  remove(tokenHash: string, userId: string, id: string): Promise<void>
}

export type Sessions = ReturnType<typeof createSessions>

/** Sessions of browsers and API clients. The token is 256 random bits; only its hash is stored. */
export function createSessions(deps: {
  store: SessionStore
  accounts: Pick<AccountStore, 'byIds' | 'recordLastSeen'>
  recordAddress: Pick<RecordAddress, 'ofText'>
  clock: Clock
}) {
  const { store, accounts, recordAddress, clock } = deps
  const accountOf = batchedLoader((ids: readonly string[]) => accounts.byIds(ids), BATCHES)

  async function validSessionsOf(account: Account) {
    const all = await store.listOf(account.id)
    return all.filter(({ session }) => session.epoch === account.sessionEpoch)
  }

  return {
    /** Opens a session and returns its token, which cannot be retrieved again. */
    async open(
      account: Account,
      { address, userAgent, isStrong }: { address: string; userAgent: string; isStrong: boolean },
    ): Promise<string> {
      const token = randomBytes(32).toString('base64url')
      const now = clock.now()
      const older = (await validSessionsOf(account)).toSorted((a, b) => b.session.createdAt - a.session.createdAt)
      for (const { tokenHash, session } of older.slice(MAX_SESSIONS - 1))
        await store.remove(tokenHash, account.id, session.id)
      await store.save(
        hashToken(token),
        {
          id: newId(),
          userId: account.id,
          epoch: account.sessionEpoch,
          createdAt: now,
          lastSeenAt: now,
          address,
          userAgent: userAgent.slice(0, 200),
          isStrong,
        },
        MAX_IDLE_MS,
      )
      recordAddress.ofText(account.id, 'web', address)
      return token
    },

    /**
     * The session of a token, in any state of its account; undefined if it has ended or never existed.
     *
     * @param address from where it is used now
     */
    async find(token: string, address: string): Promise<Session | undefined> {
      if (!/^[\w-]{43}$/.test(token)) return undefined
      const tokenHash = hashToken(token)
      const session = await store.byTokenHash(tokenHash)
      const now = clock.now()
      if (session === undefined) return undefined
      if (now - session.lastSeenAt > MAX_IDLE_MS || now - session.createdAt > MAX_SESSION_AGE_MS) return undefined
      const account = await accountOf(session.userId)
      if (account === undefined || account.sessionEpoch !== session.epoch) return undefined
      if (now - session.lastSeenAt >= MIN_TOUCH_INTERVAL_MS) {
        const ttl = Math.min(MAX_IDLE_MS, session.createdAt + MAX_SESSION_AGE_MS - now)
        // A full Redis refuses the new time, but the session stays valid.
        await store.touch(tokenHash, { ...session, lastSeenAt: now }, ttl).catch((error: unknown) => {
          if (!isUnavailable(error)) throw error
        })
        await accounts.recordLastSeen(account.id, new Date(now))
      }
      recordAddress.ofText(account.id, 'web', address)
      return { id: session.id, account, tokenHash, isStrong: session.isStrong === true }
    },

    /** Whether a session that opened a lasting connection would still open it. This is no use of the session. */
    async isValid(tokenHash: string): Promise<boolean> {
      const session = await store.byTokenHash(tokenHash)
      const isInTime = session !== undefined && clock.now() - session.createdAt <= MAX_SESSION_AGE_MS
      const account = isInTime ? await accountOf(session.userId) : undefined
      return account?.sessionEpoch === session?.epoch && account?.state === 'active'
    },

    /** The user's sessions, newest first. */
    async list(account: Account): Promise<readonly StoredSession[]> {
      return (await validSessionsOf(account))
        .map(({ session }) => session)
        .toSorted((a, b) => b.createdAt - a.createdAt)
    },

    /** Ends the session of the current request. */
    close: (session: Session): Promise<void> => store.remove(session.tokenHash, session.account.id, session.id),

    /** Ends one session of a user. @returns false if it does not exist */
    async end(account: Account, id: string): Promise<boolean> {
      const found = (await validSessionsOf(account)).find(({ session }) => session.id === id)
      if (found === undefined) return false
      await store.remove(found.tokenHash, account.id, id)
      return true
    },
  }
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
