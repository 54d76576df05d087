import {
  checkContent,
  checkWindow,
  parseSignedRequest,
  type ReceivedMessage,
  SignatureError,
  type TimelyRequest,
  type VerifiedRequest,
  verifySignatureOffThread,
} from '@vault-and-tracker/http-signatures'
import { createBatcher } from '@vault-and-tracker/service-kit/core/batch'
import { createLookupCache } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { apiError, type ErrorCode } from '../errors.ts'
import type { Wanted } from '../limits/wanted.ts'
import type { Scope } from '../projects/project-keys.ts'
import type { SigningProject } from '../projects/projects.ts'

/** Every statement for a caller compares them with the stored project, so a cached one may be old. */
const PRESENT_TTL_MS = 60_000
/** No statement checks an absence: a project created through another replica is unknown here for a second at most. */
const ABSENT_TTL_MS = 1_000
const MAX_CACHED = 10_000

/** A nonce of a key. Nonces belong to a key and not to a project: one that is registered again has the same ones. */
export type Nonce = Pick<TimelyRequest['claims'], 'publicKeyHex' | 'nonce' | 'created'>

/**
 * Whether a nonce was unspent, whichever replica is asked. One that may have been forgotten counts as replayed. A request
 * has expired when it was created too long before or after the time of the store, and then its nonce is not spent.
 */
export type Verdict = 'unspent' | 'replayed' | 'expired'

/** Remembers spent nonces for longer than any signature is valid. */
export type NonceStore = {
  /** Spends nonces in one call. @returns what came of each, in their order */
  spend(nonces: readonly Nonce[]): Promise<readonly (Verdict | Promise<Verdict>)[]>
  /** What time it is for the store, in milliseconds, as far as is known without asking it. */
  now(): number
}

/** A call to the nonce store costs more than a nonce in it: they wait for the requests whose signatures are being verified. */
const SHARED = { concurrency: 2, maxBatchSize: 64, lingerMs: 2 }

/** What signatures are verified against, cached for a short time. */
export type SigningProjects = {
  /** The project, undefined when there is none. `fresh` reads it from the database now. */
  find(name: string, fresh: boolean): Promise<SigningProject | undefined>
  /** Drops what is cached of a project that was changed by this process. */
  forget(name: string): void
}

/** What else a request arrived with. */
export type ReceivedContent = {
  readonly body: Buffer
  /** The client's address, for the audit log. */
  readonly address: string
  /** Whether a project may demand that the signature covers the body. */
  readonly isWrite: boolean
  /** Whether the client still waits for a write. */
  readonly wanted?: Wanted | undefined
}

/** A request whose signature was verified and is timely. Its body was not looked at. */
export type AuthenticatedRequest = { readonly timely: TimelyRequest; readonly signer: SigningProject }

/** A project whose signature was verified. */
export type VerifiedCaller = {
  readonly kind: 'project'
  readonly projectUid: string
  /** The project's name. */
  readonly project: string
  readonly publicKey: Buffer
  /** The generation of the project that the key is of. */
  readonly generation: number
  /** What the key may do. */
  readonly scope: Scope
  /** Whether the signature covers the body. */
  readonly coversContent: boolean
  readonly isWrite: boolean
  /** Names the key in the audit log. */
  readonly actor: string
  readonly address: string
  readonly wanted?: Wanted | undefined
}

/** Checks signed requests. */
export type SignedRequests = ReturnType<typeof createSignedRequests>

/**
 * Checks signed requests in the order that reveals least to an unauthenticated client and never spends the nonce of
 * another project: headers, project, key, signature, clock, body, nonce. Each step has its own error code; see the table
 * in the README.
 */
export function createSignedRequests(deps: {
  signingProjects: SigningProjects
  nonces: NonceStore
  clock: Clock
  /** Called with the id of the key whenever a request is accepted. */
  onUse: (keyId: string) => void
}) {
  const { signingProjects, nonces, clock, onUse } = deps
  const fetches = createPending()
  const signatures = createPending()
  const spend = createBatcher<Nonce, Verdict>((waiting) => nonces.spend(waiting), {
    ...SHARED,
    isReady: () => signatures.count() === 0,
  })

  /** Verifies against what is cached of the project, and against the database when the cached project lacks the key. */
  async function verifySignature(message: ReceivedMessage): Promise<[VerifiedRequest, SigningProject]> {
    const parsed = translate(() => parseSignedRequest(message))
    const { project, publicKeyHex } = parsed.claims
    let signer = await signingProjects.find(project, false)
    // The key may have been added a moment ago, through another replica.
    if (signer !== undefined && findValidKey(signer, publicKeyHex, clock) === undefined)
      signer = await signingProjects.find(project, true)
    if (signer === undefined) throw apiError('unknown_project')
    const keys = signer.keys.filter(({ notAfter }) => isValidAt(notAfter, clock)).map(({ key }) => key)
    return [await verifySignatureOffThread(parsed, keys).catch(rethrow), signer]
  }

  /** A requirement that the request does not meet may have been dropped a moment ago, through another replica. */
  async function requiresDigest(known: SigningProject, { claims }: TimelyRequest): Promise<boolean> {
    if (!known.requireContentDigest || claims.coversContent) return known.requireContentDigest
    return (await signingProjects.find(known.name, true))?.requireContentDigest ?? true
  }

  async function spendNonce({ publicKeyHex, nonce, created }: TimelyRequest['claims']): Promise<void> {
    const verdict = await spend({ publicKeyHex, nonce, created })
    if (verdict === 'expired') throw apiError('expired')
    if (verdict === 'replayed') throw apiError('replayed_nonce')
  }

  return {
    /**
     * The first step, before the body is read: checks the signature against what is cached of the project, and its time
     * against what is known of that of the nonces, which decides in the end.
     *
     * @throws ApiError missing_signature, unknown_project, invalid_signature, expired
     */
    authenticate: async (message: ReceivedMessage): Promise<AuthenticatedRequest> => {
      const [verified, signer] = await signatures.during(() => verifySignature(message))
      return { timely: translate(() => checkWindow(verified, nonces.now())), signer }
    },

    /**
     * The second step: checks that the body is the one that was signed, and spends the nonce. Every statement for the
     * caller compares them with the stored project.
     *
     * @throws ApiError invalid_signature, replayed_nonce
     */
    accept: async (
      { timely, signer }: AuthenticatedRequest,
      { body, address, isWrite, wanted }: ReceivedContent,
    ): Promise<VerifiedCaller> => {
      const required = isWrite && (await requiresDigest(signer, timely))
      const { claims } = translate(() => checkContent(timely, body, { required }))
      await spendNonce(claims)
      const key = signer.keys.find((each) => each.key.publicKeyHex === claims.publicKeyHex)
      if (key === undefined) throw apiError('invalid_signature')
      onUse(key.id)
      const publicKey = Buffer.from(claims.publicKeyHex, 'hex')
      return {
        kind: 'project',
        projectUid: signer.uid,
        project: signer.name,
        publicKey,
        generation: signer.generation,
        scope: key.scope,
        coversContent: claims.coversContent,
        isWrite,
        actor: `key:${key.fingerprint}`,
        address,
        wanted,
      }
    },

    /** Whether there is a project of this name, by what is cached. */
    isProject: async (name: string): Promise<boolean> => (await signingProjects.find(name, false)) !== undefined,

    /** Counts a fetch as pending while its verification runs, however it ends. */
    countFetch: fetches.during,

    /** How many fetches are being verified now. */
    countPendingFetches: fetches.count,

    /**
     * Compares a verified caller with the project in the database, for when a statement refused what the cached project
     * allowed. The signature itself stays verified: the project must still have the key that it was verified with.
     *
     * @returns the caller as one of the project that has the name now
     * @throws ApiError unknown_project, invalid_signature
     */
    confirm: async (caller: VerifiedCaller): Promise<VerifiedCaller> => {
      const signer = await signingProjects.find(caller.project, true)
      if (signer === undefined) throw apiError('unknown_project')
      const uncovered = caller.isWrite && signer.requireContentDigest && !caller.coversContent
      const key = findValidKey(signer, caller.publicKey.toString('hex'), clock)
      if (uncovered || key === undefined) throw apiError('invalid_signature')
      return { ...caller, projectUid: signer.uid, generation: signer.generation, scope: key.scope }
    },
  }
}

/** The project that a request says it is of; nothing of it is proven. Undefined for a request that is not signed as it must be. */
export function claimedProject(message: ReceivedMessage): string | undefined {
  try {
    return parseSignedRequest(message).claims.project
  } catch (error) {
    if (error instanceof SignatureError) return undefined
    throw error
  }
}

/** Counts work while it runs, however it ends. */
function createPending() {
  let pending = 0
  return {
    count: (): number => pending,
    during: async <T>(work: () => Promise<T>): Promise<T> => {
      pending++
      try {
        return await work()
      } finally {
        pending--
      }
    },
  }
}

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

function findValidKey(signer: SigningProject, publicKeyHex: string, clock: Clock) {
  return signer.keys.find(({ key, notAfter }) => key.publicKeyHex === publicKeyHex && isValidAt(notAfter, clock))
}

function isValidAt(notAfter: Date | null, clock: Clock): boolean {
  return notAfter === null || clock.now() < notAfter.getTime()
}
