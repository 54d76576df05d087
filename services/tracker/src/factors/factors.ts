import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import { apiError } from '../errors.ts'
import { randomCode } from './random-codes.ts'
import {
  type Assertion,
  creationOptions,
  type Registration,
  type RelyingParty,
  requestOptions,
  type SecurityKey,
  verifyAssertion,
  verifyRegistration,
} from './security-keys.ts'
import { base32, SECRET_BYTES, stepOf, totpUri } from './totp.ts'

/** A second factor: an app that shows codes (RFC 6238), or a security key (WebAuthn). */
export type FactorKind = 'totp' | 'security-key'

export type Factor = {
  readonly id: string
  readonly kind: FactorKind
  readonly name: string
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}

/** The account that factors belong to. A change with an outdated session epoch is refused. */
export type Holder = { readonly id: string; readonly username: string; readonly sessionEpoch: number }

/** What a user presents in addition to the password: a code of their app, a recovery code, or a security key. */
export type Proof = { readonly code: string } | { readonly securityKey: Assertion }

/** The secret of an app, and the step whose code has confirmed it, which is not accepted again. */
type TotpSecret = { readonly secret: Buffer; readonly lastStep: number }

export type NewFactor = Pick<Factor, 'id' | 'name' | 'createdAt'> & (TotpSecret | SecurityKey)

export const MAX_FACTORS = 10
const RECOVERY_CODES = 10
/** 80 bits cannot be guessed, even from their hashes. */
const RECOVERY_CODE_BYTES = 16

/** Factors of users. Each method is one atomic change; those that change factors increment the session epoch. */
export type FactorStore = {
  /** Oldest first. */
  list(userId: string): Promise<readonly Factor[]>
  securityKeys(userId: string): Promise<readonly SecurityKey[]>
  totpSecret(userId: string): Promise<Buffer | undefined>
  countRecoveryCodes(userId: string): Promise<number>
  /**
   * Adds a factor. The first one also replaces the recovery codes.
   *
   * @returns the new epoch; undefined if the epoch is outdated or the user has `MAX_FACTORS`, an app already, or that
   *   security key
   */
  add(
    holder: Holder,
    factor: NewFactor,
    codeHashes: readonly Buffer[],
  ): Promise<{ readonly sessionEpoch: number; readonly isFirst: boolean } | undefined>
  /** @returns the new epoch; undefined if there is no such factor, the epoch is outdated, or it is the last and `keepOne` */
  remove(
    holder: Holder,
    id: string,
    keepOne: boolean,
  ): Promise<{ readonly sessionEpoch: number; readonly isLast: boolean } | undefined>
  /** Removes all factors of a user and notifies them. @returns false if there were none */
  removeAll(userId: string, at: Date, by: ActedBy | undefined): Promise<boolean>
  /** Does not end sessions. */
  replaceRecoveryCodes(holder: Holder, codeHashes: readonly Buffer[]): Promise<boolean>
  /** Accepts a step. @returns false if the same or a later one was accepted before */
  useStep(userId: string, step: number, at: Date): Promise<boolean>
  /** Stores the new counter. @returns false if another use did so in the meantime */
  useSecurityKey(userId: string, securityKey: SecurityKey, counter: number, at: Date): Promise<boolean>
  /** Deletes a code. @returns false if it is unknown or was used */
  useRecoveryCode(userId: string, codeHash: Buffer): Promise<boolean>
}

/** A factor that a user is setting up: the secret of an app, or the challenge for a new security key. */
export type Setup = { readonly kind: FactorKind; readonly secret: string; readonly sessionId: string }

/** Setups that wait for confirmation, one per user, for ten minutes. */
export type SetupStore = {
  save(userId: string, setup: Setup): Promise<void>
  find(userId: string): Promise<Setup | undefined>
  /** @returns false if it was taken or replaced in the meantime */
  take(userId: string, setup: Setup): Promise<boolean>
}

export type Factors = ReturnType<typeof createFactors>

/** The second factors of accounts. Callers have checked the password before `start…`, `remove` and `renewCodes`. */
export function createFactors(deps: {
  store: FactorStore
  setups: SetupStore
  site: RelyingParty
  /** The name that apps and browsers show. */
  siteName: () => Promise<string>
  clock: Clock
  /** Whether staff need a factor. */
  isRequiredForStaff: () => Promise<boolean>
}) {
  const { store, setups, site, clock } = deps
  const now = (): Date => new Date(clock.now())
  const needsFactor = async (role: string): Promise<boolean> => role !== 'member' && (await deps.isRequiredForStaff())

  async function setupOf(holder: Holder, sessionId: string, kind: FactorKind): Promise<Setup> {
    const setup = await setups.find(holder.id)
    if (setup?.kind !== kind || setup.sessionId !== sessionId)
      throw apiError('CONFLICT', 'This setup has expired. Start again.')
    return setup
  }

  /** @returns the new epoch, and the recovery codes if it is the first factor */
  async function add(holder: Holder, setup: Setup, factor: Pick<Factor, 'name'> & (TotpSecret | SecurityKey)) {
    if (!(await setups.take(holder.id, setup))) throw apiError('CONFLICT', 'This setup has expired. Start again.')
    const codes = newCodes()
    const added = await store.add(holder, { ...factor, id: newId(), createdAt: now() }, codes.map(hashCode))
    if (added === undefined)
      throw apiError(
        'CONFLICT',
        `You already have an authenticator app, this security key, or the maximum of ${MAX_FACTORS} second factors.`,
      )
    return { sessionEpoch: added.sessionEpoch, recoveryCodes: added.isFirst ? codes : [] }
  }

  async function acceptsCode(userId: string, code: string): Promise<boolean> {
    const digits = code.replace(/\s/g, '')
    if (!/^\d{6}$/.test(digits)) return store.useRecoveryCode(userId, hashCode(code))
    const secret = await store.totpSecret(userId)
    const step = secret && stepOf(secret, digits, clock.now())
    return step !== undefined && store.useStep(userId, step, now())
  }

  return {
    /** The factors of a user, the number of unused recovery codes, and whether the user needs a factor. */
    async overview({ id, role }: { readonly id: string; readonly role: string }) {
      const [items, recoveryCodes] = await Promise.all([store.list(id), store.countRecoveryCodes(id)])
      return { items, recoveryCodes, isRequired: await needsFactor(role) }
    },

    /** The kinds of factors that a user has; none if the password suffices. */
    async kindsOf(userId: string): Promise<readonly FactorKind[]> {
      return [...new Set((await store.list(userId)).map(({ kind }) => kind))]
    },

    /** Starts to add an app. @returns the secret in Base32, and the URI for a QR code */
    async startTotp(holder: Holder, sessionId: string) {
      const secret = randomBytes(SECRET_BYTES)
      await setups.save(holder.id, { kind: 'totp', secret: secret.toString('base64url'), sessionId })
      return { secret: base32(secret), uri: totpUri(secret, await deps.siteName(), holder.username) }
    },

    /** Adds the app whose code it is. @throws ApiError CONFLICT, or BAD_REQUEST for a wrong code */
    async confirmTotp(holder: Holder, sessionId: string, code: string) {
      const setup = await setupOf(holder, sessionId, 'totp')
      const secret = Buffer.from(setup.secret, 'base64url')
      const lastStep = stepOf(secret, code.replace(/\s/g, ''), clock.now())
      if (lastStep === undefined)
        throw apiError(
          'BAD_REQUEST',
          'code: does not match. Enter the current code, and check the clock of your device.',
        )
      return add(holder, setup, { name: 'Authenticator app', secret, lastStep })
    },

    /** Starts to add a security key. @returns options for `navigator.credentials.create` */
    async startSecurityKey(holder: Holder, sessionId: string) {
      const secret = newChallenge()
      await setups.save(holder.id, { kind: 'security-key', secret, sessionId })
      const existing = await store.securityKeys(holder.id)
      return creationOptions({ id: site.id, name: await deps.siteName() }, holder, secret, existing)
    },

    /** Adds the security key that a browser created. @throws ApiError CONFLICT, or BAD_REQUEST if it is not valid */
    async confirmSecurityKey(holder: Holder, sessionId: string, name: string, registration: Registration) {
      const setup = await setupOf(holder, sessionId, 'security-key')
      const securityKey = await verifyRegistration(site, setup.secret, registration)
      if (securityKey === undefined)
        throw apiError('BAD_REQUEST', 'credential: is not a new security key for this site.')
      return add(holder, setup, { name, ...securityKey })
    },

    /** Options for `navigator.credentials.get`; undefined without a security key. */
    async securityKeyOptions(userId: string, challenge: string) {
      const securityKeys = await store.securityKeys(userId)
      return securityKeys.length === 0 ? undefined : requestOptions(site, challenge, securityKeys)
    },

    /** Whether a proof is valid, which makes it invalid for the next time. @param challenge that a security key has signed */
    async accepts(userId: string, proof: Proof, challenge: string): Promise<boolean> {
      if ('code' in proof) return acceptsCode(userId, proof.code)
      const securityKey = (await store.securityKeys(userId)).find(
        ({ credentialId }) => credentialId === proof.securityKey.id,
      )
      const counter = securityKey && (await verifyAssertion(site, challenge, proof.securityKey, securityKey))
      return (
        counter !== undefined && securityKey !== undefined && store.useSecurityKey(userId, securityKey, counter, now())
      )
    },

    /** Removes a factor. @returns the new epoch, and whether none is left @throws ApiError NOT_FOUND, or CONFLICT if staff need it */
    async remove(holder: Holder & { readonly role: string }, id: string) {
      const keepsOne = await needsFactor(holder.role)
      const factors = await store.list(holder.id)
      if (!factors.some((factor) => factor.id === id)) throw apiError('NOT_FOUND', 'There is no such factor.')
      if (keepsOne && factors.length === 1)
        throw apiError('CONFLICT', 'Staff need a second factor. Add another one before you remove this one.')
      const removed = await store.remove(holder, id, keepsOne)
      if (removed === undefined) throw apiError('CONFLICT', 'Your factors have changed. Reload the page.')
      return removed
    },

    /** Removes all factors of a user on behalf of staff. @throws ApiError CONFLICT if there are none, or for one's own */
    async removeAll(userId: string, by?: { readonly id: string }): Promise<void> {
      if (by?.id === userId) throw apiError('CONFLICT', 'Remove your own second factor on your account page.')
      if (!(await store.removeAll(userId, now(), actedBy(clock, by?.id))))
        throw apiError('CONFLICT', 'This user has no second factor.')
    },

    /** Replaces the recovery codes. @returns the new ones, which cannot be retrieved again @throws ApiError CONFLICT */
    async renewCodes(holder: Holder): Promise<readonly string[]> {
      const codes = newCodes()
      if (!(await store.replaceRecoveryCodes(holder, codes.map(hashCode))))
        throw apiError('CONFLICT', 'Recovery codes need a second factor. Add one first.')
      return codes
    },
  }
}

/** A challenge that a security key signs. */
export function newChallenge(): string {
  return randomBytes(32).toString('base64url')
}

function newCodes(): readonly string[] {
  return Array.from({ length: RECOVERY_CODES }, () => randomCode(randomBytes(RECOVERY_CODE_BYTES)))
}

/** The SHA-256 of a recovery code. Case, dashes and spaces do not matter. */
function hashCode(code: string): Buffer {
  return createHash('sha256').update(code.toLowerCase().replace(/[\s-]/g, '')).digest()
}
