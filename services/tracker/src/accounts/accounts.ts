import { randomBytes } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import { apiError } from '../errors.ts'
import type { PublishInvalidation } from '../invalidation/invalidation.ts'
import type { Total } from '../lists/total.ts'
import { hashInviteCode } from './invite-code.ts'
import type { Passwords } from './passwords.ts'
import { RANDOM_PASSWORD_BYTES, randomPassword } from './random-password.ts'

export const ROLES = ['member', 'moderator', 'admin'] as const
export const ACCOUNT_STATES = ['active', 'suspended', 'banned'] as const
export type Role = (typeof ROLES)[number]
export type AccountState = (typeof ACCOUNT_STATES)[number]

/**
 * 2 to 32 characters that need no escaping in URLs or HTML. Case is stored, but names are unique without regard to it.
 */
export const USERNAME_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9._-]{1,31}$/

/** The minimum resists guessing at five attempts in five minutes; the maximum keeps hashing cheap. */
export const PASSWORD_LENGTH = { min: 8, max: 256 }

/** The account of a user. Byte counts have multipliers applied, except those named `actual`. */
export type Account = {
  readonly id: string
  readonly username: string
  readonly email: string
  readonly role: Role
  readonly state: AccountState
  readonly apiBlocked: boolean
  readonly canDownload: boolean
  readonly statsPublic: boolean
  /** 40 lower-case hex digits that authenticate announces of this user. */
  readonly passkey: string
  readonly sessionEpoch: number
  readonly invitesLeft: number
  /** The percentage of the user's downloads that is charged. */
  readonly downloadPercent: number
  /** The percentage of the user's uploads that is credited. */
  readonly uploadPercent: number
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
  readonly apiBlocked?: boolean | undefined
  readonly canDownload?: boolean | undefined
  readonly invitesLeft?: number | undefined
  readonly downloadPercent?: number | undefined
  readonly uploadPercent?: number | undefined
}

/** Which accounts, the newest first. What is undefined does not matter. */
export type AccountQuery = {
  /** Part of a name or address. */
  readonly search: string | undefined
  readonly role?: Role | undefined
  readonly state?: AccountState | undefined
  readonly page: number
  readonly limit: number
}

export type AccountPage = Total & { readonly items: readonly Account[] }

/** The store of accounts. Each method is one atomic change. */
export type AccountStore = {
  byId(id: string): Promise<Account | undefined>
  /** Those that there are of the ids. */
  byIds(ids: readonly string[]): Promise<ReadonlyMap<string, Account>>
  byUsername(username: string): Promise<Account | undefined>
  /** The account and its password hash, to verify a sign-in. */
  credentials(username: string): Promise<{ account: Account; passwordHash: string } | undefined>
  /**
   * Creates an account and marks its invite as used.
   *
   * @param invite hash of the code; the invite must be unused, not expired at `account.createdAt`, and of an active user
   * @throws ApiError CONFLICT when the name or address is taken, FORBIDDEN when the invite cannot be used
   */
  create(account: NewAccount, invite: Buffer | undefined): Promise<Account>
  /**
   * Undefined for an unknown id. The admin log records the change and its reason when `by` is given.
   *
   * @throws ApiError CONFLICT when no active administrator would be left
   */
  change(
    id: string,
    changes: AccountChanges,
    by: ActedBy | undefined,
    reason: string | undefined,
  ): Promise<Account | undefined>
  /** Replaces the passkey and returns the old one too. The admin log records it when `by` is given. */
  replacePasskey(
    id: string,
    passkey: string,
    by: ActedBy | undefined,
  ): Promise<{ account: Account; oldPasskey: string } | undefined>
  /**
   * Sets a new password and ends every session by incrementing the session epoch. The admin log records it when `by` is given.
   *
   * @param replaces the only hash that may be replaced; undefined for whichever there is
   * @returns undefined for an unknown id, and where there is another hash
   */
  replacePassword(
    id: string,
    passwordHash: string,
    replaces: string | undefined,
    by: ActedBy | undefined,
  ): Promise<Account | undefined>
  /** Ends every session by incrementing the session epoch. The admin log records it when `by` is given. */
  incrementSessionEpoch(id: string, by: ActedBy | undefined): Promise<Account | undefined>
  /** Sets whether other members see the account's totals. */
  setStatsPublic(id: string, isPublic: boolean): Promise<Account | undefined>
  recordLastSeen(id: string, at: Date): Promise<void>
  list(query: AccountQuery): Promise<AccountPage>
}

/** Whether anyone may register, only people with an invite, or nobody. */
export type Registration = 'open' | 'invite' | 'closed'

export type Accounts = ReturnType<typeof createAccounts>

/** 160 random bits as 40 lower-case hex digits. */
function newPasskey(): string {
  return randomBytes(20).toString('hex')
}

/** Registration, authentication, and the changes that users and staff make to an account. */
export function createAccounts(deps: {
  store: AccountStore
  passwords: Passwords
  publish: PublishInvalidation
  registration: Registration
  clock: Clock
}) {
  const { store, passwords, publish, clock } = deps

  /** @param input `signsIn` where it is its user who creates it @throws ApiError CONFLICT when the name or address is taken */
  async function create(
    input: { username: string; email: string; password: string; role: Role; signsIn?: boolean },
    invite?: Buffer,
  ): Promise<Account> {
    const { username, email, role, signsIn = false } = input
    const passwordHash = await passwords.hash(input.password)
    const createdAt = new Date(clock.now())
    const account = await store.create(
      {
        id: newId(),
        username,
        email,
        role,
        passkey: newPasskey(),
        passwordHash,
        createdAt,
        lastSeenAt: signsIn ? createdAt : null,
      },
      invite,
    )
    await publish({ kind: 'user', passkey: account.passkey })
    return account
  }

  /**
   * Sets a new password without asking for the current one, and ends every session of the user.
   *
   * @param by the administrator who does it
   * @throws ApiError NOT_FOUND
   */
  async function resetPassword(id: string, next: string, by?: Account): Promise<Account> {
    const replaced = isId(id)
      ? await store.replacePassword(id, await passwords.hash(next), undefined, actedBy(clock, by?.id))
      : undefined
    return requireFound(replaced)
  }

  return {
    create,

    /**
     * Creates the account of a member, who is signed in with it.
     *
     * @throws ApiError FORBIDDEN when registration is closed or the invite is missing, used or expired; CONFLICT
     */
    async register(input: { username: string; email: string; password: string; invite?: string | undefined }) {
      if (deps.registration === 'closed') throw apiError('FORBIDDEN', 'Registration is closed.')
      if (deps.registration === 'invite' && input.invite === undefined)
        throw apiError('FORBIDDEN', 'Registration needs an invite.')
      const invite = input.invite === undefined ? undefined : hashInviteCode(input.invite)
      return create({ ...input, role: 'member', signsIn: true }, invite)
    },

    /**
     * Verifies a password. An unknown name takes as long and gets the same error as a wrong password.
     *
     * @throws ApiError UNAUTHORIZED, or FORBIDDEN when the account is suspended or banned
     */
    async authenticate(username: string, password: string): Promise<Account> {
      const found = USERNAME_PATTERN.test(username) ? await store.credentials(username) : undefined
      const matched = await passwords.matches(found?.passwordHash, password)
      if (found === undefined || !matched) throw apiError('UNAUTHORIZED', 'The username or the password is wrong.')
      if (found.account.state !== 'active') throw apiError('FORBIDDEN', `This account is ${found.account.state}.`)
      await store.recordLastSeen(found.account.id, new Date(clock.now()))
      return found.account
    },

    /** @throws ApiError FORBIDDEN when the current password is wrong, or becomes so meanwhile */
    async changePassword(account: Account, current: string, next: string): Promise<Account> {
      const found = await store.credentials(account.username)
      const matched = await passwords.matches(found?.passwordHash, current)
      // Whoever knows an old password must not undo a reset that came between.
      const changed =
        found && matched
          ? await store.replacePassword(account.id, await passwords.hash(next), found.passwordHash, undefined)
          : undefined
      if (changed === undefined) throw apiError('FORBIDDEN', 'The current password is wrong.')
      return changed
    },

    resetPassword,

    /**
     * Gives a user a random password, and ends every session of theirs.
     *
     * @param by the administrator who does it
     * @returns the password, which cannot be read again
     * @throws ApiError NOT_FOUND, or CONFLICT for one's own password
     */
    async giveRandomPassword(id: string, by: Account): Promise<string> {
      // Who has a session of theirs, and not the password, must not get the account.
      if (id === by.id)
        throw apiError(
          'CONFLICT',
          'You cannot reset your own password; change it in your account, with the current one.',
        )
      const password = randomPassword(randomBytes(RANDOM_PASSWORD_BYTES))
      await resetPassword(id, password, by)
      return password
    },

    /**
     * Gives a user a new passkey; announces with the old one fail from then on, and the user's peers leave.
     *
     * @param by the administrator who does it
     * @throws ApiError NOT_FOUND
     */
    async resetPasskey(id: string, by?: Account): Promise<Account> {
      const replaced = isId(id) ? await store.replacePasskey(id, newPasskey(), actedBy(clock, by?.id)) : undefined
      const { account, oldPasskey } = requireFound(replaced)
      const expelled = { kind: 'expelled', userId: account.id } as const
      await publish({ kind: 'user', passkey: oldPasskey }, { kind: 'user', passkey: account.passkey }, expelled)
      return account
    },

    /**
     * Changes an account on behalf of staff.
     *
     * @param reason why, for the admin log
     * @throws ApiError NOT_FOUND, or CONFLICT when administrators would change their own role or state, or none would be left
     */
    async change(id: string, changes: AccountChanges, by?: Account, reason?: string): Promise<Account> {
      const demotes = changes.role !== undefined && changes.role !== 'admin'
      const excludes = changes.state !== undefined && changes.state !== 'active'
      if (id === by?.id && (demotes || excludes))
        throw apiError('CONFLICT', 'You cannot change your own role or state; another administrator can.')
      const account = requireFound(
        isId(id) ? await store.change(id, changes, actedBy(clock, by?.id), reason) : undefined,
      )
      await publish({ kind: 'user', passkey: account.passkey })
      if (excludes) await publish({ kind: 'expelled', userId: account.id })
      return account
    },

    /** Sets whether other members see uploaded, downloaded and ratio. @throws ApiError NOT_FOUND */
    async setStatsPublic(id: string, isPublic: boolean): Promise<Account> {
      return requireFound(await store.setStatsPublic(id, isPublic))
    },

    /** @throws ApiError NOT_FOUND */
    async byId(id: string): Promise<Account> {
      return requireFound(isId(id) ? await store.byId(id) : undefined)
    },

    /** @throws ApiError NOT_FOUND */
    async byUsername(username: string): Promise<Account> {
      return requireFound(await store.byUsername(username))
    },

    /** The id of a user by id or name; undefined for an unknown name. Whether an id exists is not checked. */
    findId: async (idOrName: string): Promise<string | undefined> =>
      isId(idOrName) ? idOrName : (await store.byUsername(idOrName))?.id,

    list: (query: AccountQuery) => store.list(query),

    /** Ends every session of a user. @param by the administrator who does it @throws ApiError NOT_FOUND */
    async endSessions(id: string, by?: Account): Promise<void> {
      requireFound(isId(id) ? await store.incrementSessionEpoch(id, actedBy(clock, by?.id)) : undefined)
    },
  }
}

function requireFound<T>(found: T | undefined): T {
  if (found === undefined) throw apiError('NOT_FOUND', 'There is no such user.')
  return found
}
