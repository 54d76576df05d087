import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { apiError } from '../errors.ts'
import { randomCode } from '../factors/random-codes.ts'
import type { PublishInvalidation } from '../invalidation/invalidation.ts'
import { type Account, type NewAccount, newAccount, type Passwords } from './accounts.ts'

/** 130 bits. */
const CODE_CHARACTERS = 26

/** Why the first administrator cannot be created: the code does not work, or the site already had an administrator. */
export type SetupRefusal = 'wrong-code' | 'closed'

/**
 * The store of setup codes. Codes work for 24 hours according to the clock of Postgres, and only as long as the site never had an
 * administrator. Each method is one atomic change.
 */
export type FirstAdministratorStore = {
  /** Adds a code, and deletes those that no longer work. @returns false if the site already had an administrator */
  addCode(codeHash: Buffer): Promise<boolean>
  /** Why a code cannot be used now; undefined if it can. */
  refusalOf(codeHash: Buffer): Promise<SetupRefusal | undefined>
  /**
   * Creates the administrator and deletes all codes. The admin log records it. Only one of several concurrent calls
   * succeeds.
   *
   * @throws ApiError CONFLICT if the name or address is taken
   */
  create(account: NewAccount, codeHash: Buffer): Promise<Account | SetupRefusal>
}

export type FirstAdministrator = ReturnType<typeof createFirstAdministrator>

/** Creates the first administrator with a code that only readers of the log know. */
export function createFirstAdministrator(deps: {
  store: FirstAdministratorStore
  passwords: Pick<Passwords, 'hash'>
  publish: PublishInvalidation
  clock: Clock
}) {
  const { store, passwords, publish, clock } = deps

  return {
    /** A new code, whose hash is stored; undefined if the site already had an administrator. */
    async issueCode(): Promise<string | undefined> {
      // One word, which a double click selects.
      const code = plain(randomCode(randomBytes(CODE_CHARACTERS)))
      return (await store.addCode(hashCode(code))) ? code : undefined
    },

    /**
     * Creates the administrator, who is about to be signed in.
     *
     * @throws ApiError FORBIDDEN if the code is wrong or has expired; CONFLICT if the site already had an administrator, or
     *   the name or address is taken
     */
    async create(input: { code: string; username: string; email: string; password: string }): Promise<Account> {
      const { code, username, email, password } = input
      const codeHash = hashCode(plain(code))
      // Before the hash of the password, which is costly.
      const refusal = await store.refusalOf(codeHash)
      if (refusal) throw refused(refusal)
      const passwordHash = await passwords.hash(password)
      const created = await store.create(
        newAccount({ username, email, role: 'admin', signsIn: true, passwordHash }, new Date(clock.now())),
        codeHash,
      )
      if (typeof created === 'string') throw refused(created)
      await publish({ kind: 'user', passkey: created.passkey }, { kind: 'site-settings' })
      return created
    },
  }
}

function refused(refusal: SetupRefusal): Error {
  return refusal === 'closed'
    ? apiError('CONFLICT', 'This site is already set up. Sign in instead.')
    : apiError('FORBIDDEN', 'code: this code is wrong or has expired. Restart the tracker to get a new one.')
}

/** Without the quotes, spaces and dashes that people copy or add. */
function plain(code: string): string {
  return code.toLowerCase().replace(/[^a-z\d]/g, '')
}

function hashCode(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}
