import { parsePublicKey, publicKeyToHex, SignatureError } from '@vault-and-tracker/http-signatures'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Exchanger, Scope } from '../access/project-caller.ts'
import { keyActor, type NewEntry, newEntry } from '../audit/audit.ts'
import { apiError } from '../errors.ts'
import type { Nonces } from '../integrity/nonces.ts'
import { type AuthenticRows, type ExchangedKeyRow, fingerprintOf, type Sealed } from '../integrity/rows.ts'
import type { OwnerTurns } from '../limits/owner-turns.ts'
import { createPending } from '../limits/pending.ts'
import type { Wanted } from '../limits/wanted.ts'
import { matchesClaims } from './claim-patterns.ts'
import {
  type IdToken,
  invalidToken,
  readIdToken,
  SKEW_SECONDS,
  type UnverifiedToken,
  verifyIdToken,
} from './id-tokens.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import type { RuleOfProject, TrustRules } from './trust-rules.ts'

/** Keys that were admitted for ID tokens. */
export type ExchangeStore = {
  /**
   * Admits a key under a rule and inserts the audit entry, in one transaction. Keys that expired ten minutes ago are
   * removed.
   *
   * @param spend is called last, and throws if the ID token was spent before
   * @returns the active key of the project that has this public key, if it was admitted before
   */
  admit(
    key: Sealed<ExchangedKeyRow>,
    given: { rule: RuleOfProject; maxValid: number; wanted: Wanted | undefined; entry: NewEntry },
    spend: () => Promise<void>,
  ): Promise<'admitted' | 'no rule' | 'key exists' | 'full' | Sealed<ExchangedKeyRow>>
}

/** An admitted key. */
export type Exchanged = { readonly project: string; readonly expiresAt: Date; readonly scope: Scope }

/** Active exchanged keys per project. */
const MAX_VALID_KEYS = 500

const BUSY = 'Too many ID tokens are being exchanged. Try again in a moment.'
/** Half of all pending exchanges, so that an issuer that hangs leaves room for tokens of others. */
const MAX_VERIFYING_PER_ISSUER = 250

/** Of the subject, for administrators. */
const MAX_SUBJECT_LENGTH = 200

/** Exchanges ID tokens for keys. */
export type Exchanges = ReturnType<typeof createExchanges>

/** Creates the use case of an exchange. */
export function createExchanges(deps: {
  store: ExchangeStore
  trustRules: Pick<TrustRules, 'find' | 'findAll'>
  issuerKeys: IssuerKeys
  nonces: Pick<Nonces, 'spendToken' | 'spenderOf' | 'now'>
  rows: Pick<AuthenticRows, 'exchangedKeys'>
  inTurn: OwnerTurns
  clock: Clock
}) {
  const { store, trustRules, issuerKeys, nonces, rows, inTurn, clock } = deps
  const pending = createPending(BUSY)
  const verifying = createPending(BUSY, { total: Infinity, perClient: MAX_VERIFYING_PER_ISSUER })

  async function spend({ digest, issued, expires }: IdToken, by: Uint8Array, now: Date): Promise<void> {
    const keepMs = Math.ceil((expires + SKEW_SECONDS) * 1000 - now.getTime()) + SKEW_SECONDS * 1000
    const token = { digest, issued: Math.floor(issued), by: publicKeyToHex(by) }
    if (!(await nonces.spendToken(token, keepMs))) throw invalidToken('It was already used. Request a new one.')
  }

  /** A client that lost the response repeats its request. @throws ApiError key_exists if it was another token */
  async function requireRepeated(
    { digest }: IdToken,
    rule: RuleOfProject,
    known: Sealed<ExchangedKeyRow>,
  ): Promise<void> {
    const isRepeated = known.ruleId === rule.id && (await nonces.spenderOf(digest)) === publicKeyToHex(known.publicKey)
    if (!isRepeated || !rows.exchangedKeys.accept(known)) throw keyExists()
  }

  /**
   * Chooses the only rule that accepts a verified token. A project without rules gets the same answer as one that does not
   * exist.
   */
  async function chooseRule(
    { audiences, claims }: IdToken,
    { issuer, algorithm, project, rule: name }: Pick<Request, 'project' | 'rule'> & Omit<UnverifiedToken, 'token'>,
  ): Promise<RuleOfProject> {
    const ofAudience = { issuer, algorithm, audiences }
    const [rule, ...others] = (await trustRules.findAll({ ...ofAudience, project, name })).filter(
      (each) => each.algorithms.includes(algorithm) && matchesClaims(each.claims, claims),
    )
    if (rule === undefined && (await trustRules.find(ofAudience)) === undefined)
      throw invalidToken('It is for another audience.')
    if (rule === undefined) throw apiError('no_trust_rule')
    if (others.some((other) => other.project !== rule.project))
      throw apiError('invalid_request', 'project: is required, because rules of several projects accept this ID token.')
    if (others.length > 0)
      throw apiError('invalid_request', 'rule: is required, because several rules of the project accept this ID token.')
    return rule
  }

  async function exchange(input: Request): Promise<Exchanged> {
    const { by } = input
    const publicKey = readPublicKey(input.publicKey)
    const unverified = readIdToken(input.idToken)
    const { issuer, algorithm } = unverified
    const first = await trustRules.find({ issuer, algorithm })
    if (first === undefined) throw invalidToken('No trust rule names its issuer.')
    // The time of the store that remembers spent tokens: clocks of replicas may be wrong.
    const now = new Date(nonces.now())
    const { algorithms } = first
    const idToken = await verifying(issuer, () => verifyIdToken(unverified, { algorithms, issuerKeys, now }))
    const rule = await chooseRule(idToken, { ...input, issuer, algorithm })
    const key = rows.exchangedKeys.seal({
      ...{ id: newId(), projectUid: rule.projectUid, ruleId: rule.id, publicKey, scope: rule.scope },
      ...{ subject: shorten(idToken.subject), createdAt: now },
      expiresAt: new Date(now.getTime() + rule.minutes * 60_000),
    })
    const fingerprint = fingerprintOf(publicKey)
    const entry = newEntry(clock, {
      action: 'key.exchange',
      by: { actor: keyActor(fingerprint, rule.name), address: by.address },
      detail: {
        ...{ rule: rule.id, name: rule.name, issuer: rule.issuer, subject: key.subject },
        ...{ publicKey: publicKeyToHex(publicKey), fingerprint, until: key.expiresAt.toISOString() },
        ...{ access: key.scope.access, envs: key.scope.envs?.join(',') ?? null },
      },
    })
    const { wanted } = by
    const outcome = await inTurn({ owner: `exchange ${rule.project}`, project: rule.project, wanted }, () =>
      store.admit(key, { rule, maxValid: MAX_VALID_KEYS, wanted, entry }, () => spend(idToken, publicKey, now)),
    )
    // The rule was removed meanwhile.
    if (outcome === 'no rule') throw apiError('no_trust_rule')
    if (outcome === 'key exists') throw keyExists()
    if (outcome === 'full')
      throw apiError(
        'too_many_keys',
        `The project already has ${String(MAX_VALID_KEYS)} exchanged keys. Wait until some expire, or revoke some.`,
      )
    if (outcome !== 'admitted') await requireRepeated(idToken, rule, outcome)
    const { expiresAt, scope } = outcome === 'admitted' ? key : outcome
    return { project: rule.project, expiresAt, scope }
  }

  return {
    /**
     * Admits a public key for as long as the trust rule that accepts the ID token allows. The same token admits the
     * same key again, without extending its validity.
     *
     * @throws ApiError invalid_public_key, invalid_id_token, no_trust_rule, key_exists, too_many_keys, unavailable;
     *   invalid_request if several rules accept it
     */
    exchange: (input: Request): Promise<Exchanged> => pending(input.by.client, () => exchange(input)),
  }
}

type Request = {
  readonly idToken: string
  readonly publicKey: string
  readonly project: string | undefined
  readonly rule: string | undefined
  readonly by: Exchanger
}

const keyExists = (): Error => apiError('key_exists', 'The project already has this public key.')

function shorten(subject: string): string {
  return subject.slice(0, MAX_SUBJECT_LENGTH).replaceAll(/[\p{Cc}\p{Surrogate}]/gu, '\uFFFD')
}

function readPublicKey(text: string): Uint8Array {
  try {
    return parsePublicKey(text)
  } catch (error) {
    if (error instanceof SignatureError) throw apiError('invalid_public_key', undefined, { cause: error })
    throw error
  }
}
