import { apiError } from '../errors.ts'
import type { VerifiedCaller } from '../signed-requests/signed-requests.ts'
import type { BatchedFetch, Fetched } from './batched-fetch.ts'
import type { Secrets, Stale } from './secrets.ts'

/** What a project does with its own secrets, by signed requests. */
export type ProjectSecrets = ReturnType<typeof createProjectSecrets>

/**
 * Acts for verified callers. A signature is verified against a cached project, and each statement compares the caller
 * with the stored one. Where the two differ the caller is confirmed, and the statement repeated, once.
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
    action: (caller: VerifiedCaller) => Promise<T | Stale>,
  ): Promise<T> {
    const first = await action(caller)
    if (first !== 'stale') return first
    const second = await action(await confirm(caller))
    if (second === 'stale') throw apiError('invalid_signature')
    return second
  }

  return {
    /** All values of an environment. @throws ApiError unknown_project, invalid_signature, decryption_failed */
    fetch: (caller: VerifiedCaller, env: string): Promise<Fetched> =>
      whileCurrent(caller, (current) => fetch(current, env)),

    /** Creates a secret or overwrites its value. @throws ApiError unknown_project, invalid_signature */
    put: async (caller: VerifiedCaller, secret: { env: string; key: string; value: string }): Promise<void> => {
      await whileCurrent(caller, (current) => secrets.put(current, secret))
    },

    /** Deletes a secret. @throws ApiError not_found, unknown_project, invalid_signature */
    remove: async (caller: VerifiedCaller, id: string): Promise<void> => {
      if ((await whileCurrent(caller, (current) => secrets.remove(current, id))) === 'absent')
        throw apiError('not_found')
    },
  }
}
