import {
  checkContent,
  checkWindow,
  parseSignedRequest,
  type ReceivedMessage,
  SignatureError,
  type VerifiedRequest,
  verifySignatureOffThread,
} from '@vault-and-tracker/http-signatures'
import { createLookupCache } from '@vault-and-tracker/service-kit/cache'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { apiError, type ErrorCode } from '../errors.ts'
import type { SigningProject } from '../projects/projects.ts'

/** What signatures are verified against, cached for a short time. */
export type SigningProjects = {
  /** The project, undefined when there is none. `fresh` reads it from the database now. */
  find(name: string, fresh: boolean): Promise<SigningProject | undefined>
  /** Drops what is cached of a project that was changed by this process. */
  forget(name: string): void
}

/** Whoever acts on a cached project confirms it in their own statement, so it may be cached for long. */
const PRESENT_TTL_MS = 60_000
/** Nobody confirms an absence: a project created through another replica is unknown here for a second at most. */
const ABSENT_TTL_MS = 1_000
const MAX_CACHED = 10_000

/** Caches projects and their keys, so that a signed fetch needs no query but its own. */
export function createSigningProjects(deps: {
  read: (name: string) => Promise<SigningProject | undefined>
  clock: Clock
}): SigningProjects {
  const cache = createLookupCache<string, SigningProject>({
    load: deps.read,
    clock: deps.clock,
    maxValues: MAX_CACHED,
    maxAbsences: MAX_CACHED,
    valueTtlMs: PRESENT_TTL_MS,
    absenceTtlMs: ABSENT_TTL_MS,
    serveStale: false,
  })
  return {
    find: async (name, fresh) => (fresh ? cache.reload(name) : cache.get(name)),
    forget: (name) => cache.forget(name),
  }
}

/** Remembers spent nonces for longer than any signature can live. */
export type NonceStore = {
  /** Spends a nonce. False when it was spent before, by whichever replica. */
  spend(projectUid: string, nonce: string): Promise<boolean>
}

/** The project that signed a request. */
export type SignedBy = Readonly<{ projectUid: string; project: string; publicKey: Buffer; coversContent: boolean }>

/** A caller whose signature was verified, with the bytes of the body that came with it. */
export type VerifiedCaller = SignedBy &
  Readonly<{
    ip: string
    body: Buffer
    /**
     * Checks the request once more against the database, for when its state turned out to be newer than what the
     * signature was checked against.
     *
     * @throws the same errors as the first check
     */
    verifyAgain: () => Promise<VerifiedCaller>
  }>

/** What a request arrived with. */
export type SignedMessage = Readonly<{
  message: ReceivedMessage
  /** The bytes of the body; asked for only after the signature has verified. */
  readBody: () => Promise<Buffer>
  /** Whether a project may demand that the signature covers the body. */
  isWrite: boolean
}>

/** Checks signed requests. */
export type SignedRequests = ReturnType<typeof createSignedRequests>

/**
 * Checks signed requests in the order that reveals least to an unauthenticated client and never spends the nonce of
 * another project: headers, project, key, signature, clock, body, nonce. Each step has its own error code; see the table
 * in the README.
 */
export function createSignedRequests(deps: { signingProjects: SigningProjects; nonces: NonceStore; clock: Clock }) {
  const { signingProjects, nonces, clock } = deps

  /** Verifies against what is known of the project, and once more against the database when that fails. */
  async function verify(message: ReceivedMessage, fresh: boolean): Promise<[VerifiedRequest, SigningProject]> {
    const parsed = translate(() => parseSignedRequest(message))
    const { project, publicKeyHex } = parsed.claims
    let signer = await signingProjects.find(project, fresh)
    // The key may have been added a moment ago, through another replica.
    if (!fresh && !hasValidKey(signer, publicKeyHex, clock)) signer = await signingProjects.find(project, true)
    if (signer === undefined) throw apiError('unknown_project')
    const keys = signer.keys.filter(({ notAfter }) => isValidAt(notAfter, clock)).map(({ key }) => key)
    return [await verifySignatureOffThread(parsed, keys).catch(rethrow), signer]
  }

  /** A requirement that the request does not meet may have been dropped a moment ago, through another replica. */
  async function requiresDigest(known: SigningProject, { claims }: VerifiedRequest, fresh: boolean): Promise<boolean> {
    if (!known.requireContentDigest || claims.coversContent || fresh) return known.requireContentDigest
    return (await signingProjects.find(known.name, true))?.requireContentDigest ?? true
  }

  /** One pass over all checks. */
  async function check(signed: SignedMessage, fresh: boolean): Promise<SignedBy & { body: Buffer }> {
    const [verified, signer] = await verify(signed.message, fresh)
    const timely = translate(() => checkWindow(verified, clock.now()))
    const body = await signed.readBody()
    const required = signed.isWrite && (await requiresDigest(signer, verified, fresh))
    const { claims } = translate(() => checkContent(timely, body, { required }))
    if (!(await nonces.spend(signer.uid, claims.nonce))) throw apiError('replayed_nonce')
    const { uid, name } = signer
    const publicKey = Buffer.from(claims.publicKeyHex, 'hex')
    return { projectUid: uid, project: name, publicKey, coversContent: claims.coversContent, body }
  }

  return {
    /**
     * Checks a request against what is known of its project, or, with `fresh`, against the database.
     *
     * @throws missing_signature, unknown_project, invalid_signature, expired, replayed_nonce
     */
    verify: (signed: SignedMessage, { fresh }: { fresh: boolean }) => check(signed, fresh),
  }
}

/**
 * Runs an action for a verified caller. The action returns `stale` when the database no longer agrees with what the
 * signature was checked against: the key ended, the project was deleted. Then the caller is verified again, once.
 *
 * @throws invalid_signature when the second attempt is stale too
 */
export async function whileCurrent<T>(
  caller: VerifiedCaller,
  action: (caller: VerifiedCaller) => Promise<T | 'stale'>,
): Promise<T> {
  const result = await action(caller)
  if (result !== 'stale') return result
  const second = await action(await caller.verifyAgain())
  if (second === 'stale') throw apiError('invalid_signature')
  return second
}

const CODES: Partial<Record<SignatureError['code'], ErrorCode>> = {
  missing_signature: 'missing_signature',
  invalid_signature: 'invalid_signature',
  expired: 'expired',
}

/** Gives the library's errors their code in our table. */
function translate<T>(step: () => T): T {
  try {
    return step()
  } catch (error) {
    return rethrow(error)
  }
}

function rethrow(error: unknown): never {
  const code = error instanceof SignatureError ? CODES[error.code] : undefined
  throw code === undefined ? error : apiError(code, undefined, { cause: error })
}

function hasValidKey(signer: SigningProject | undefined, publicKeyHex: string, clock: Clock): boolean {
  return (
    signer?.keys.some(({ key, notAfter }) => key.publicKeyHex === publicKeyHex && isValidAt(notAfter, clock)) ?? true
  )
}

function isValidAt(notAfter: Date | null, clock: Clock): boolean {
  return notAfter === null || clock.now() < notAfter.getTime()
}
