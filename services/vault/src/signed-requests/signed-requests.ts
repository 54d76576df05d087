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
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { ProjectCaller } from '../access/project-caller.ts'
import { keyActor } from '../audit/audit.ts'
import { apiError, type ErrorCode, endedKey, hiddenOrigin } from '../errors.ts'
import type { Nonce, Nonces, Verdict } from '../integrity/nonces.ts'
import { endedState, isExpired } from '../projects/project-keys.ts'
import type { KeyUses, SigningKey, SigningProject, SigningProjects } from '../projects/signing-projects.ts'
import { isOfHiddenOrigin } from './hidden-origin.ts'

/** Nonces wait for other requests whose signatures are being verified, because a call costs more than a nonce in it. */
const BATCHES = { concurrency: 2, maxBatchSize: 64, lingerMs: 2 }

/** The parts of a request that are not in the signed headers. */
export type ReceivedContent = Pick<ProjectCaller, 'address' | 'isWrite' | 'wanted'> & { readonly body: Buffer }

/** A timely request whose signature was verified, without its body. */
export type AuthenticatedRequest = { readonly timely: TimelyRequest; readonly signer: SigningProject }

/** Checks signed requests. */
export type SignedRequests = ReturnType<typeof createSignedRequests>

/**
 * Checks signed requests in the order that reveals least to unauthenticated clients and never spends the nonce of another
 * project: headers, project, key, signature, clock, body, nonce. Each step has its own error code.
 */
export function createSignedRequests(deps: {
  signingProjects: SigningProjects
  nonces: Pick<Nonces, 'spend' | 'now'>
  keyUses: Pick<KeyUses, 'note'>
  clock: Clock
  /** Called for each timely request with a valid signature of an expired or revoked key. */
  onEndedKey: (state: 'expired' | 'revoked') => void
}) {
  const { signingProjects, nonces, keyUses, clock, onEndedKey } = deps
  const fetches = createCounter()
  const signatures = createCounter()
  const spend = createBatcher<Nonce, Verdict>((waiting) => nonces.spend(waiting), {
    ...BATCHES,
    isReady: () => signatures.count() === 0,
  })

  /** Exchanged keys expire by the clock that set their end. */
  const hasEnded = (key: SigningKey): boolean =>
    isExpired(key, new Date(key.exchanged === undefined ? clock.now() : nonces.now()))

  function findValidKey({ keys }: SigningProject, publicKeyHex: string): SigningKey | undefined {
    const key = keys.get(publicKeyHex)
    return key === undefined || hasEnded(key) ? undefined : key
  }

  /** After a change of a project, all clients that waited are confirmed at once. */
  const findFresh = sharedInTurn(signingProjects.findFresh)

  async function verifySignature(message: ReceivedMessage): Promise<[VerifiedRequest, SigningProject]> {
    const parsed = translate(() => parseSignedRequest(message))
    const { project, publicKeyHex } = parsed.claims
    let signer = await signingProjects.find(project)
    // The key may have just been added through another replica, or admitted for an ID token.
    if (signer !== undefined && findValidKey(signer, publicKeyHex) === undefined)
      signer = await signingProjects.findWithKey(signer, publicKeyHex)
    if (signer === undefined) throw apiError('unknown_project')
    let key = signer.keys.get(publicKeyHex)
    const keys = key === undefined ? [] : [key.verifyKey()]
    const verified = await verifySignatureOffThread(parsed, keys).catch((error: unknown) => refuse(error, message, key))
    if (key?.exchanged !== undefined && hasEnded(key)) {
      // It may have been admitted again.
      signer = (await signingProjects.findFreshWithKey(project, publicKeyHex)) ?? signer
      key = signer.keys.get(publicKeyHex)
    }
    if (key !== undefined && hasEnded(key))
      throw isTimely(verified) ? refuseEnded(signer, key) : apiError('invalid_signature')
    return [verified, signer]
  }

  /** Tells only the holder of the key that a proxy hides what was signed. */
  async function refuse(error: unknown, message: ReceivedMessage, key: SigningKey | undefined): Promise<never> {
    const isHidden =
      error instanceof SignatureError &&
      key !== undefined &&
      !hasEnded(key) &&
      (await isOfHiddenOrigin(message, key.verifyKey()))
    throw isHidden ? hiddenOrigin(error) : rethrow(error)
  }

  function isTimely(verified: VerifiedRequest): boolean {
    try {
      checkWindow(verified, nonces.now())
      return true
    } catch (error) {
      if (error instanceof SignatureError) return false
      throw error
    }
  }

  /** Counts a request of an expired or revoked key. Its client gets the answer for an unknown key. */
  function refuseEnded({ name }: SigningProject, key: SigningKey): Error {
    onEndedKey(endedState(key))
    return endedKey(keyActor(key.fingerprint(), key.name), name)
  }

  /** The requirement may have just been dropped through another replica. */
  async function requiresDigest(known: SigningProject, { claims }: TimelyRequest): Promise<boolean> {
    if (!known.requireContentDigest || claims.coversContent) return known.requireContentDigest
    return (await signingProjects.findFresh(known.name))?.requireContentDigest ?? true
  }

  async function spendNonce({ publicKeyHex, nonce, created }: TimelyRequest['claims']): Promise<void> {
    const verdict = await spend({ publicKeyHex, nonce, created })
    if (verdict === 'expired') throw apiError('expired')
    if (verdict === 'replayed') throw apiError('replayed_nonce')
  }

  return {
    /**
     * Verifies the signature before the body is read, with the cached project and an estimate of the time that `accept`
     * checks again.
     *
     * @throws ApiError missing_signature, unknown_project, invalid_signature, expired
     */
    authenticate: async (message: ReceivedMessage): Promise<AuthenticatedRequest> => {
      const [verified, signer] = await signatures.during(() => verifySignature(message))
      return { timely: translate(() => checkWindow(verified, nonces.now())), signer }
    },

    /**
     * Checks that the body is the signed one, and spends the nonce. Every statement for the caller compares it with the
     * stored project.
     *
     * @throws ApiError invalid_signature, expired, replayed_nonce
     */
    accept: async (
      { timely, signer }: AuthenticatedRequest,
      { body, address, isWrite, wanted }: ReceivedContent,
    ): Promise<ProjectCaller> => {
      const required = isWrite && (await requiresDigest(signer, timely))
      const { claims } = translate(() => checkContent(timely, body, { required }))
      await spendNonce(claims)
      const key = signer.keys.get(claims.publicKeyHex)
      if (key === undefined) throw apiError('invalid_signature')
      keyUses.note(key.id)
      return {
        kind: 'project',
        projectUid: signer.uid,
        project: signer.name,
        publicKey: Buffer.from(claims.publicKeyHex, 'hex'),
        exchanged: key.exchanged,
        generation: signer.generation,
        scope: key.scope,
        coversContent: claims.coversContent,
        isWrite,
        actor: keyActor(key.fingerprint(), key.name),
        address,
        wanted,
      }
    },

    /** Whether a project exists, according to the cache. */
    isProject: async (name: string): Promise<boolean> => (await signingProjects.find(name)) !== undefined,

    /** Counts a fetch as pending while its verification runs. */
    countFetch: fetches.during,

    /** How many fetches are being verified. */
    countPendingFetches: fetches.count,

    /**
     * Compares a caller with the stored project, after a statement refused a request that the cached project allows.
     * The project must still have the key that the signature was verified with.
     *
     * @returns the caller with the current project
     * @throws ApiError unknown_project, invalid_signature
     */
    confirm: async (caller: ProjectCaller): Promise<ProjectCaller> => {
      const publicKeyHex = caller.publicKey.toString('hex')
      const signer = await (caller.exchanged === undefined
        ? findFresh(caller.project)
        : signingProjects.findFreshWithKey(caller.project, publicKeyHex))
      if (signer === undefined) throw apiError('unknown_project')
      const isUncovered = caller.isWrite && signer.requireContentDigest && !caller.coversContent
      const key = signer.keys.get(publicKeyHex)
      if (isUncovered || key === undefined) throw apiError('invalid_signature')
      if (hasEnded(key)) throw refuseEnded(signer, key)
      const { uid: projectUid, generation } = signer
      const { exchanged, scope } = key
      return { ...caller, actor: keyActor(key.fingerprint(), key.name), projectUid, generation, exchanged, scope }
    },
  }
}

/** The project that a request names, which is not proven; undefined if the signature headers are malformed. */
export function claimedProject(message: ReceivedMessage): string | undefined {
  try {
    return parseSignedRequest(message).claims.project
  } catch (error) {
    if (error instanceof SignatureError) return undefined
    throw error
  }
}

/** Counts running work. */
function createCounter() {
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

/** Shares a read between all calls for a name before it starts, which is at the end of this turn of the event loop. */
function sharedInTurn<T>(read: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const starting = new Map<string, Promise<T>>()
  return (name) => {
    const joined = starting.get(name)
    if (joined !== undefined) return joined
    const started = new Promise<T>((resolve) => {
      setImmediate(() => {
        starting.delete(name)
        resolve(read(name))
      })
    })
    starting.set(name, started)
    return started
  }
}

const CODES: Partial<Record<SignatureError['code'], ErrorCode>> = {
  missing_signature: 'missing_signature',
  invalid_signature: 'invalid_signature',
  expired: 'expired',
}

/** Translates the library's errors. */
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
