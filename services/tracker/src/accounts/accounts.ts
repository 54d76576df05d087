import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import { apiError } from '../errors.ts'
import { randomCode } from '../factors/random-codes.ts'
import { changedKeys, type PublishInvalidation } from '../invalidation/invalidation.ts'
import type { Listed, Page } from '../pagination.ts'
import type { SitePolicy } from '../site-settings/site-settings.ts'
import { newPasskey } from './passkeys.ts'

export const ROLES = ['member', 'moderator', 'admin'] as const
export const ACCOUNT_STATES = ['active', 'suspended', 'banned'] as const
export type Role = (typeof ROLES)[number]
export type AccountState = (typeof ACCOUNT_STATES)[number]

/**
 * 2 to 32 characters that need no escaping in URLs or HTML. Case is preserved, but names are unique case-insensitively.
 */
export const USERNAME_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9._-]{1,31}$/

/** The minimum withstands guessing at five attempts per five minutes; the maximum keeps hashing cheap. */
export const PASSWORD_LENGTH = { min: 8, max: 256 }

/** The maximum announce limit of a user. */
export const ANNOUNCE_LIMIT_MAX = 1_000_000

/** The account of a user. Byte counts have rates applied, except those named `actual`. */
export type Account = {
  readonly id: string
  readonly username: string
  readonly email: string
  readonly role: Role
  readonly state: AccountState
  /** The end of the suspension; null if it has none or the account is not suspended. */
  readonly suspendedUntil: Date | null
  /** Why the account is suspended or banned, as its user reads it. */
  readonly stateReason: string | null
  readonly apiBlocked: boolean
  readonly canDownload: boolean
  readonly statsPublic: boolean
  /** Whether the Torznab API accepts the passkey, in addition to API tokens. */
  readonly passkeyOpensTorznab: boolean
  /** 40 lowercase hex digits that authenticate the user's announces. */
  readonly passkey: string
  readonly sessionEpoch: number
  readonly invitesLeft: number
  /** Percentage of the user's downloads that is counted. */
  readonly downloadPercent: number
  /** Percentage of the user's uploads that is counted. */
  readonly uploadPercent: number
  /** Announces per minute, 0 for no limit; null for the limit of the server. */
  readonly announceLimit: number | null
  readonly uploaded: number
  readonly downloaded: number
  readonly uploadedActual: number
  readonly downloadedActual: number
  readonly createdAt: Date
  readonly lastSeenAt: Date | null
}

export type NewAccount = Pick<
  Account,
  'id' | 'username' | 'email' | 'role' | 'passkey' | 'createdAt' | 'lastSeenAt'
> & {
  readonly passwordHash: string
}

/** Changes that staff may make to an account. */
export type AccountChanges = {
  readonly role?: Role | undefined
  readonly state?: AccountState | undefined
  /** The end of a suspension; null for none. */
  readonly suspendedUntil?: Date | null | undefined
  readonly apiBlocked?: boolean | undefined
  readonly canDownload?: boolean | undefined
  readonly invitesLeft?: number | undefined
  readonly downloadPercent?: number | undefined
  readonly uploadPercent?: number | undefined
  readonly announceLimit?: number | null | undefined
}

/** Changes that users may make to their own account. */
export type Preferences = {
  /** Whether other members can see the totals and ratio. */
  readonly statsPublic?: boolean | undefined
  readonly passkeyOpensTorznab?: boolean | undefined
}

/** Filters for a list of accounts, newest first. Undefined filters match every account. */
export type AccountQuery = Page & {
  /** Part of a username or email address. */
  readonly search?: string | undefined
  readonly role?: Role | undefined
  readonly state?: AccountState | undefined
}

/** The store of accounts. Each method is one atomic change. */
export type AccountStore = {
  byId(id: string): Promise<Account | undefined>
  /** Leaves out unknown ids. */
  byIds(ids: readonly string[]): Promise<ReadonlyMap<string, Account>>
  byUsername(username: string): Promise<Account | undefined>
  /** The account and its password hash, to verify a sign-in. */
  credentials(username: string): Promise<{ account: Account; passwordHash: string } | undefined>
  /**
   * Creates an account and marks its invite as used.
   *
   * @param invite hash of the code; the invite must be unused, valid at `account.createdAt`, and from an active user
   * @throws ApiError CONFLICT if the name or address is taken, FORBIDDEN if the invite cannot be used
   */
  create(account: NewAccount, invite: Buffer | undefined): Promise<Account>
  /**
   * Returns undefined for an unknown id. The admin log records the change and its reason if `by` is given. The user sees
   * the reason of a suspension or ban.
   *
   * @throws ApiError CONFLICT if no active administrator would be left, or an account that is not suspended gets an end
   */
  change(
    id: string,
    changes: AccountChanges,
    by: ActedBy | undefined,
    reason: string | undefined,
  ): Promise<Account | undefined>
  /**
   * Replaces the passkey, and ends the announce keys of all tokens unless they are kept. The admin log records it if `by` is
   * given.
   *
   * @returns the account, and the revoked announce keys
   */
  replacePasskey(
    id: string,
    passkey: string,
    how: { readonly keepAnnounceKeys: boolean; readonly by: ActedBy | undefined },
  ): Promise<{ account: Account; ended: readonly string[] } | undefined>
  /** The announce keys of the tokens of a user. */
  announceKeysOf(id: string): Promise<readonly string[]>
  /**
   * Sets a new password and ends every session by incrementing the session epoch. The admin log records it if `by` is
   * given.
   *
   * @param replaces the hash that must still be stored; undefined to replace any hash
   * @returns undefined if the id is unknown or another hash is stored
   */
  replacePassword(
    id: string,
    passwordHash: string,
    replaces: string | undefined,
    by: ActedBy | undefined,
  ): Promise<Account | undefined>
  /** Ends every session by incrementing the session epoch. The admin log records it if `by` is given. */
  incrementSessionEpoch(id: string, by: ActedBy | undefined): Promise<Account | undefined>
  prefer(id: string, preferences: Preferences): Promise<Account | undefined>
  recordLastSeen(id: string, at: Date): Promise<void>
  list(query: AccountQuery): Promise<Listed<Account>>
}

/** Hashes and checks passwords. */
export type Passwords = {
  /** @returns a PHC string */
  hash(password: string): Promise<string>
  /**
   * @param hash undefined for an unknown user: a decoy is verified, which takes the same time and always fails
   * @throws ApiError UNAVAILABLE if the queue is full
   */
  matches(hash: string | undefined, password: string): Promise<boolean>
}

export type Accounts = ReturnType<typeof createAccounts>

/** An account to store. @param input `signsIn` if the user creates it */
export function newAccount(
  input: Pick<NewAccount, 'username' | 'email' | 'role' | 'passwordHash'> & { readonly signsIn: boolean },
  createdAt: Date,
): NewAccount {
  const { signsIn, ...given } = input
  return { ...given, id: newId(), passkey: newPasskey(), createdAt, lastSeenAt: signsIn ? createdAt : null }
}

/** Registration, authentication, and changes to accounts by users and staff. */
export function createAccounts(deps: {
  store: AccountStore
  passwords: Passwords
  publish: PublishInvalidation
  /** Who can register now. */
  registration: () => Promise<SitePolicy['registration']>
  clock: Clock
}) {
  const { store, passwords, publish, clock } = deps

  /** @param input `signsIn` if the user creates the account @throws ApiError CONFLICT if the name or address is taken */
  async function create(
    input: { username: string; email: string; password: string; role: Role; signsIn?: boolean },
    invite?: Buffer,
  ): Promise<Account> {
    const { username, email, role, signsIn = false } = input
    const passwordHash = await passwords.hash(input.password)
    const account = await store.create(
      newAccount({ username, email, role, signsIn, passwordHash }, new Date(clock.now())),
      invite,
    )
    const isSetUp = role === 'admin' ? [{ kind: 'site-settings' } as const] : []
    await publish(...changedKeys([account.passkey]), ...isSetUp)
    return account
  }

  /**
   * Sets a new password without the current one, and ends every session of the user.
   *
   * @param by the administrator
   * @throws ApiError NOT_FOUND
   */
  async function resetPassword(id: string, next: string, by?: Account): Promise<Account> {
    const replaced = isId(id)
      ? await store.replacePassword(id, await passwords.hash(next), undefined, actedBy(clock, by?.id))
      : undefined
    return requireFound(replaced)
  }

  /** After the commit, so that an announce key that is created in the meantime reads the new state. */
  async function publishChange({ id, passkey }: Account): Promise<void> {
    await publish(...changedKeys([passkey, ...(await store.announceKeysOf(id))]))
  }

  return {
    create,

    /**
     * Creates the account of a member who is about to be signed in.
     *
     * @throws ApiError FORBIDDEN if registration is closed or the invite is missing, used or expired; CONFLICT
     */
    async register(input: { username: string; email: string; password: string; invite?: string | undefined }) {
      const registration = await deps.registration()
      if (registration === 'closed') throw apiError('FORBIDDEN', 'Registration is closed.')
      if (registration === 'invite' && input.invite === undefined)
        throw apiError('FORBIDDEN', 'invite: is required to register.')
      const invite = input.invite === undefined ? undefined : hashInviteCode(input.invite)
      return create({ ...input, role: 'member', signsIn: true }, invite)
    },

    /**
     * Verifies a password. An unknown name takes the same time and gets the same error as a wrong password.
     *
     * @throws ApiError UNAUTHORIZED, or FORBIDDEN if the account is suspended or banned
     */
    async authenticate(username: string, password: string): Promise<Account> {
      const found = USERNAME_PATTERN.test(username) ? await store.credentials(username) : undefined
      const matched = await passwords.matches(found?.passwordHash, password)
      if (found === undefined || !matched) throw apiError('UNAUTHORIZED', 'The username or the password is wrong.')
      const refusal = refusalOf(found.account)
      if (refusal) throw refusal
      await store.recordLastSeen(found.account.id, new Date(clock.now()))
      return found.account
    },

    /** Asks for the password again, because a stolen session must not be enough. @throws ApiError FORBIDDEN */
    async confirmPassword({ username }: Account, password: string): Promise<void> {
      const found = await store.credentials(username)
      if (!(await passwords.matches(found?.passwordHash, password)))
        throw apiError('FORBIDDEN', 'The password is wrong.')
    },

    /** @throws ApiError FORBIDDEN if the current password is wrong, or is replaced in the meantime */
    async changePassword(account: Account, current: string, next: string): Promise<Account> {
      const found = await store.credentials(account.username)
      const matched = await passwords.matches(found?.passwordHash, current)
      // A concurrent reset must win against someone who knows the old password.
      const changed =
        found && matched
          ? await store.replacePassword(account.id, await passwords.hash(next), found.passwordHash, undefined)
          : undefined
      if (changed === undefined) throw apiError('FORBIDDEN', 'currentPassword: this is not your current password.')
      return changed
    },

    resetPassword,

    /**
     * Sets a random password and ends every session of the user.
     *
     * @param by the administrator
     * @returns the password, which cannot be retrieved again
     * @throws ApiError NOT_FOUND, or CONFLICT for the administrator's own password
     */
    async giveRandomPassword(id: string, by: Account): Promise<string> {
      // A stolen session must not be enough to take over the account.
      if (id === by.id)
        throw apiError(
          'CONFLICT',
          'You cannot reset your own password. Change it on your account page with the current one.',
        )
      const password = randomCode(randomBytes(RANDOM_PASSWORD_BYTES))
      await resetPassword(id, password, by)
      return password
    },

    /**
     * Replaces a user's passkey, and the announce keys of their tokens unless they are kept. Announces with the old ones fail,
     * and the user's peers are removed from their swarms.
     *
     * @param options `by` is the administrator
     * @throws ApiError NOT_FOUND
     */
    async resetPasskey(
      id: string,
      { keepAnnounceKeys = false, by }: { keepAnnounceKeys?: boolean | undefined; by?: Account } = {},
    ): Promise<Account> {
      const how = { keepAnnounceKeys, by: actedBy(clock, by?.id) }
      const { account, ended } = requireFound(isId(id) ? await store.replacePasskey(id, newPasskey(), how) : undefined)
      await publish(...changedKeys([...ended, account.passkey]), { kind: 'expelled', userId: account.id })
      return account
    },

    /**
     * Changes an account on behalf of staff.
     *
     * @param reason for the admin log, and for the user if the change suspends or bans them
     * @throws ApiError NOT_FOUND; CONFLICT if administrators would demote or suspend themselves or the last one
     */
    async change(id: string, changes: AccountChanges, by?: Account, reason?: string): Promise<Account> {
      const demotes = changes.role !== undefined && changes.role !== 'admin'
      const excludes = changes.state !== undefined && changes.state !== 'active'
      if (id === by?.id && (demotes || excludes))
        throw apiError('CONFLICT', 'You cannot change your own role or state. Ask another administrator.')
      if (changes.suspendedUntil && changes.suspendedUntil.getTime() <= clock.now())
        throw apiError('BAD_REQUEST', 'suspendedUntil: must be in the future')
      const account = requireFound(
        isId(id) ? await store.change(id, changes, actedBy(clock, by?.id), reason) : undefined,
      )
      await publishChange(account)
      if (excludes) await publish({ kind: 'expelled', userId: account.id })
      return account
    },

    /** Changes a user's own account. @throws ApiError NOT_FOUND */
    async prefer(id: string, preferences: Preferences): Promise<Account> {
      const account = requireFound(await store.prefer(id, preferences))
      await publishChange(account)
      return account
    },

    /** @throws ApiError NOT_FOUND */
    async byId(id: string): Promise<Account> {
      return requireFound(isId(id) ? await store.byId(id) : undefined)
    },

    /** @throws ApiError NOT_FOUND */
    async byUsername(username: string): Promise<Account> {
      return requireFound(await store.byUsername(username))
    },

    list: (query: AccountQuery) => store.list(query),

    /** Ends every session of a user. @param by the administrator @throws ApiError NOT_FOUND */
    async endSessions(id: string, by?: Account): Promise<void> {
      requireFound(isId(id) ? await store.incrementSessionEpoch(id, actedBy(clock, by?.id)) : undefined)
    },
  }
}

function requireFound<T>(found: T | undefined): T {
  if (found === undefined) throw apiError('NOT_FOUND', 'There is no such user.')
  return found
}

type Exclusion = Pick<Account, 'state' | 'stateReason' | 'suspendedUntil'>

/** Why an account cannot be used, with the end of a suspension; undefined if it can. */
export function refusalOf(account: Exclusion): Error | undefined {
  const { state, stateReason } = account
  if (state === 'active') return undefined
  return apiError('FORBIDDEN', `This account is ${state}${exclusionOf(account)}${stateReason === null ? '.' : ''}`)
}

/** The end of a suspension and the reason for it, to be appended to a statement; empty if there is neither. */
export function exclusionOf({ stateReason, suspendedUntil }: Exclusion): string {
  const until =
    suspendedUntil === null ? '' : ` until ${suspendedUntil.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return stateReason === null ? until : `${until}. Reason: ${stateReason}`
}

/** The SHA-256 of an invite code. The code is a credential, so only its hash is stored. */
export function hashInviteCode(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}

/** 100 bits cannot be guessed, even without a limit on sign-ins. */
const RANDOM_PASSWORD_BYTES = 20
