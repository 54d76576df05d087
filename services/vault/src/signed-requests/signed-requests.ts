import {
  checkContent,
  checkWindow,
  parseSignedRequest,
  type ReceivedMessage,
  SignatureError,
  type VerifiedRequest,
  verifySignatureOffThread,
} from '@vault-and-tracker/http-signatures'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { apiError, type ErrorCode } from '../errors.ts'
import type { Registration } from '../projects/projects.ts'
import type { Registrations } from './registrations.ts'

/** Remembers spent nonces for longer than any signature can live. */
export type NonceStore = {
  /** Spends a nonce. False when it was spent before, by whichever replica. */
  spend(projectUid: string, nonce: string): Promise<boolean>
}

/** A request that proved who sent it. */
export type SignedBy = Readonly<{ projectUid: string; project: string; publicKey: Buffer; coversContent: boolean }>

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
 * Checks signed requests in the one order that tells a stranger nothing and spends nobody's nonce: headers, project,
 * key, signature, clock, body, nonce. Each step has its own code; see the table in the README.
 */
export function createSignedRequests(deps: { registrations: Registrations; nonces: NonceStore; clock: Clock }) {
  const { registrations, nonces, clock } = deps

  /** Verifies against what is known of the project, and once more against the database when that fails. */
  async function verify(message: ReceivedMessage, fresh: boolean): Promise<[VerifiedRequest, Registration]> {
    const parsed = translate(() => parseSignedRequest(message))
    const { project, publicKeyHex } = parsed.claims
    let registration = await registrations.find(project, fresh)
    // The key may have been added a moment ago, through another replica.
    if (!fresh && !hasValidKey(registration, publicKeyHex, clock))
      registration = await registrations.find(project, true)
    if (registration === undefined) throw apiError('unknown_project')
    const keys = registration.keys.filter(({ notAfter }) => isValidAt(notAfter, clock)).map(({ key }) => key)
    return [await verifySignatureOffThread(parsed, keys).catch(raiseOurs), registration]
  }

  /** A demand that the request does not meet may have been dropped a moment ago, through another replica. */
  async function demandsDigest(known: Registration, { claims }: VerifiedRequest, fresh: boolean): Promise<boolean> {
    if (!known.requireContentDigest || claims.coversContent || fresh) return known.requireContentDigest
    return (await registrations.find(known.name, true))?.requireContentDigest ?? true
  }

  /** One pass over all checks. */
  async function check(signed: SignedMessage, fresh: boolean): Promise<{ caller: SignedBy; body: Buffer }> {
    const [verified, registration] = await verify(signed.message, fresh)
    const timely = translate(() => checkWindow(verified, clock.now()))
    const body = await signed.readBody()
    const required = signed.isWrite && (await demandsDigest(registration, verified, fresh))
    const { claims } = translate(() => checkContent(timely, body, { required }))
    if (!(await nonces.spend(registration.uid, claims.nonce))) throw apiError('replayed_nonce')
    const { uid, name } = registration
    const publicKey = Buffer.from(claims.publicKeyHex, 'hex')
    return { caller: { projectUid: uid, project: name, publicKey, coversContent: claims.coversContent }, body }
  }

  return {
    /**
     * Checks a request and runs an action for its sender.
     *
     * The action says `stale` when the database does not agree any more with what the signature was checked against:
     * the key ended, the project was deleted. Then everything is checked once more against the database.
     *
     * @throws missing_signature, unknown_project, invalid_signature, expired, replayed_nonce
     */
    run: async <T>(
      signed: SignedMessage,
      action: (caller: SignedBy, body: Buffer) => Promise<T | 'stale'>,
    ): Promise<T> => {
      for (const fresh of [false, true]) {
        const { caller, body } = await check(signed, fresh)
        const result = await action(caller, body)
        if (result !== 'stale') return result
      }
      throw apiError('invalid_signature')
    },
  }
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
    return raiseOurs(error)
  }
}

function raiseOurs(error: unknown): never {
  const code = error instanceof SignatureError ? CODES[error.code] : undefined
  throw code === undefined ? error : apiError(code, { cause: error })
}

function hasValidKey(registration: Registration | undefined, publicKeyHex: string, clock: Clock): boolean {
  return (
    registration?.keys.some(({ key, notAfter }) => key.publicKeyHex === publicKeyHex && isValidAt(notAfter, clock)) ??
    true
  )
}

function isValidAt(notAfter: Date | null, clock: Clock): boolean {
  return notAfter === null || clock.now() < notAfter.getTime()
}
