import { forbidden } from '../audit/refusals.ts'
import { apiError } from '../errors.ts'
import { allows } from '../projects/project-keys.ts'
import type { VerifiedCaller } from '../signed-requests/signed-requests.ts'
import type { BatchedFetch, Fetched } from './batched-fetch.ts'
import type { Secrets, Stale } from './secrets.ts'

/** What a project does with its own secrets, by signed requests. */
export type ProjectSecrets = ReturnType<typeof createProjectSecrets>

/** What a caller wants to do; `env` is undefined where the store finds out. */
type Wanted = { readonly access: 'read' | 'write'; readonly env: string | undefined }

/**
 * Acts for verified callers, within the scope of their key. A signature is verified against a cached project, and each
 * statement compares the caller with the stored one. Where the two differ the caller is confirmed, and the statement
 * repeated, once.
 *
 * @param deps `confirm` compares a caller with the project in the database, or throws the reason to refuse them
 */
export function createProjectSecrets(deps: {
  secrets: Pick<Secrets, 'put' | 'remove'>
  fetch: BatchedFetch
  confirm: (caller: VerifiedCaller) => Promise<VerifiedCaller>
}) {
  const { secrets, fetch, confirm } = deps

  async function whileCurrent<T>(
    caller: VerifiedCaller,
    { access, env }: Wanted,
    action: (caller: VerifiedCaller) => Promise<T | Stale>,
  ): Promise<T> {
    if (!allows(caller.scope, access, env)) throw forbidden(caller.actor, caller.project)
    const first = await action(caller)
    if (first !== 'stale') return first
    const confirmed = await confirm(caller)
    if (!allows(confirmed.scope, access, env)) throw forbidden(caller.actor, caller.project)
    const second = await action(confirmed)
    if (second === 'stale') throw apiError('invalid_signature')
    return second
  }

  return {
    /** All values of an environment. @throws ApiError forbidden, unknown_project, invalid_signature, decryption_failed */
    fetch: (caller: VerifiedCaller, env: string): Promise<Fetched> =>
      whileCurrent(caller, { access: 'read', env }, (current) => fetch(current, env)),

    /** Creates a secret or overwrites its value. @throws ApiError forbidden, unknown_project, invalid_signature */
    put: async (caller: VerifiedCaller, secret: { env: string; key: string; value: string }): Promise<void> => {
      await whileCurrent(caller, { access: 'write', env: secret.env }, (current) => secrets.put(current, secret))
    },

    /** Deletes a secret. @throws ApiError forbidden, not_found, unknown_project, invalid_signature */
    remove: async (caller: VerifiedCaller, id: string): Promise<void> => {
      const wanted = { access: 'write', env: undefined } as const
      const removal = await whileCurrent(caller, wanted, (current) => secrets.remove(current, id))
      if (removal === 'forbidden') throw forbidden(caller.actor, caller.project)
      if (removal === 'absent') throw apiError('not_found')
    },
  }
}
