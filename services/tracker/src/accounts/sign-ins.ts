import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId } from '@vault-and-tracker/service-kit/core/ids'
import { apiError } from '../errors.ts'
import { type FactorKind, type Factors, newChallenge, type Proof } from '../factors/factors.ts'
import { type Account, type Accounts, refusalOf } from './accounts.ts'

/** A sign-in that waits for the second factor ends after this time. */
export const PENDING_MS = 5 * 60_000

/** Sign-ins per account that wait. A further one ends the oldest. */
export const MAX_PENDING = 5

/** A sign-in whose password was right. It is no session, and ends with the session epoch of the account. */
export type PendingSignIn = {
  readonly tokenHash: string
  readonly userId: string
  readonly epoch: number
  /** What a security key has to sign. */
  readonly challenge: string
  /** In milliseconds since the Unix epoch. */
  readonly createdAt: number
}

/** The sign-ins that wait, `MAX_PENDING` per account, each for `PENDING_MS`. */
export type PendingSignInStore = {
  add(pending: PendingSignIn): Promise<void>
  listOf(userId: string): Promise<readonly PendingSignIn[]>
  /** @returns false if it was taken before */
  take(pending: PendingSignIn): Promise<boolean>
}

export type SignIns = ReturnType<typeof createSignIns>

/** Sign-ins with a password, and a second factor if the account has one. */
export function createSignIns(deps: {
  accounts: Pick<Accounts, 'authenticate' | 'byId'>
  factors: Pick<Factors, 'kindsOf' | 'securityKeyOptions' | 'accepts'>
  store: PendingSignInStore
  clock: Clock
}) {
  const { accounts, factors, store, clock } = deps

  return {
    /**
     * Verifies a password.
     *
     * @returns the account if it has no second factor, else the token of a pending sign-in
     * @throws ApiError UNAUTHORIZED, or FORBIDDEN if the account is suspended or banned
     */
    async begin(username: string, password: string): Promise<{ account: Account } | { pending: string }> {
      const account = await accounts.authenticate(username, password)
      // Read after the epoch: a factor that is added in between ends the session that would be opened without it.
      if ((await factors.kindsOf(account.id)).length === 0) return { account }
      const token = `${account.id}.${randomBytes(32).toString('base64url')}`
      await store.add({
        tokenHash: hashToken(token),
        userId: account.id,
        epoch: account.sessionEpoch,
        challenge: newChallenge(),
        createdAt: clock.now(),
      })
      return { pending: token }
    },

    /** The pending sign-in of a token; undefined if it has ended or never existed. */
    async find(token: string): Promise<PendingSignIn | undefined> {
      const [userId = ''] = token.split('.', 1)
      if (!isId(userId)) return undefined
      const tokenHash = hashToken(token)
      const pending = (await store.listOf(userId)).find((each) => each.tokenHash === tokenHash)
      return pending && clock.now() - pending.createdAt <= PENDING_MS ? pending : undefined
    },

    /** The kinds of factors that finish a sign-in, and options for `navigator.credentials.get`. @throws ApiError CONFLICT */
    async methods(pending: PendingSignIn | undefined): Promise<{
      kinds: readonly FactorKind[]
      securityKey: Awaited<ReturnType<Factors['securityKeyOptions']>>
    }> {
      if (pending === undefined) throw ended()
      const [kinds, securityKey] = await Promise.all([
        factors.kindsOf(pending.userId),
        factors.securityKeyOptions(pending.userId, pending.challenge),
      ])
      return { kinds, securityKey }
    },

    /**
     * Finishes a sign-in, once.
     *
     * @throws ApiError UNAUTHORIZED for a wrong or used proof, CONFLICT if the sign-in has ended, FORBIDDEN if the account
     *   is suspended or banned
     */
    async finish(pending: PendingSignIn | undefined, proof: Proof): Promise<Account> {
      if (pending === undefined) throw ended()
      const account = await accounts.byId(pending.userId)
      if (account.sessionEpoch !== pending.epoch) throw ended()
      const refusal = refusalOf(account)
      if (refusal) throw refusal
      if (!(await factors.accepts(account.id, proof, pending.challenge)))
        throw apiError(
          'UNAUTHORIZED',
          'code' in proof
            ? 'The code is wrong or has already been used.'
            : 'This security key does not belong to your account.',
        )
      if (!(await store.take(pending))) throw ended()
      return account
    },
  }
}

function ended(): Error {
  return apiError('CONFLICT', 'This sign-in has ended. Start again with your password.')
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
