import { allows, type ProjectCaller } from '../access/project-caller.ts'
import { apiError, forbidden } from '../errors.ts'
import type { SignedRequests } from '../signed-requests/signed-requests.ts'
import type { Fetched, Fetches } from './fetches.ts'
import type { SecretReference, Secrets, Stale, ValueToStore } from './secrets.ts'

/** The secrets of a project as the project itself uses them. */
export type ProjectSecrets = ReturnType<typeof createProjectSecrets>

/** A project that changes more often during a request changes endlessly. */
const MAX_CONFIRMATIONS = 5

/** The access a request needs; `env` is undefined if only the store knows it. */
type Needed = { readonly access: 'read' | 'write'; readonly env: string | undefined }

/**
 * Creates the use cases of a project's own secrets, for verified callers within the scope of their key. Signatures are
 * verified with a cached project, and every statement compares it with the stored one. If the two differ, the caller is
 * confirmed and the statement repeated.
 */
export function createProjectSecrets(deps: {
  secrets: Pick<Secrets, 'put' | 'remove'>
  fetches: Pick<Fetches, 'fetch'>
  signedRequests: Pick<SignedRequests, 'confirm'>
}) {
  const { secrets, fetches, signedRequests } = deps

  async function whileCurrent<T>(
    caller: ProjectCaller,
    { access, env }: Needed,
    action: (caller: ProjectCaller) => Promise<T | Stale>,
  ): Promise<T> {
    if (!allows(caller.scope, access, env)) throw forbidden(caller.actor, caller.project)
    let current = caller
    let outcome = await action(current)
    for (let times = 0; outcome === 'stale'; times++) {
      if (times === MAX_CONFIRMATIONS) throw apiError('unavailable')
      const before = current
      current = await signedRequests.confirm(before)
      // Nothing has changed since the last confirmation, and the caller is still not the stored one.
      if (times > 0 && isSame(before, current)) throw apiError('invalid_signature')
      if (!allows(current.scope, access, env)) throw forbidden(caller.actor, caller.project)
      outcome = await action(current)
    }
    return outcome
  }

  return {
    /**
     * Runs a statement for a caller.
     *
     * @param action returns `stale` if the caller is not the stored one; it is repeated with the confirmed caller
     * @throws ApiError forbidden, unknown_project, invalid_signature, unavailable
     */
    whileCurrent,

    /** Fetches an environment. @throws ApiError forbidden, unknown_project, invalid_signature, decryption_failed */
    fetch: (caller: ProjectCaller, env: string): Promise<Fetched> =>
      whileCurrent(caller, { access: 'read', env }, (current) => fetches.fetch(current, env)),

    /** Creates a secret or overwrites its value. @throws ApiError forbidden, unknown_project, invalid_signature */
    put: async (caller: ProjectCaller, secret: ValueToStore): Promise<void> => {
      await whileCurrent(caller, { access: 'write', env: secret.env }, (current) => secrets.put(current, secret))
    },

    /** Deletes a secret. @throws ApiError forbidden, not_found, unknown_project, invalid_signature */
    remove: async (caller: ProjectCaller, secret: SecretReference): Promise<void> => {
      const needed = { access: 'write', env: 'env' in secret ? secret.env : undefined } as const
      const removal = await whileCurrent(caller, needed, (current) => secrets.remove(current, secret))
      if (removal === 'forbidden') throw forbidden(caller.actor, caller.project)
      if (removal === 'absent') throw apiError('not_found')
    },
  }
}

function isSame(one: ProjectCaller, other: ProjectCaller): boolean {
  return one.projectUid === other.projectUid && one.generation === other.generation
}
