import { forbidden } from '../audit/refusals.ts'
import { apiError } from '../errors.ts'
import { allows } from '../projects/project-keys.ts'
import type { VerifiedCaller } from '../signed-requests/signed-requests.ts'
import type { BatchedFetch, Fetched } from './batched-fetch.ts'
import type { SecretReference, Secrets, Stale } from './secrets.ts'

/** What a project does with its own secrets, by signed requests. */
export type ProjectSecrets = ReturnType<typeof createProjectSecrets>

/** A project that changes as often while one request is carried out is changed without end. */
const MAX_CONFIRMATIONS = 5

/** What a caller wants to do; `env` is undefined where the store finds out. */
type Intent = { readonly access: 'read' | 'write'; readonly env: string | undefined }

/**
 * Acts for verified callers, within the scope of their key. A signature is verified against a cached project, and each
 * statement compares the caller with the stored one. Where the two differ the caller is confirmed, and the statement
 * repeated, a few times: an administrator may change the project between the two.
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
    { access, env }: Intent,
    action: (caller: VerifiedCaller) => Promise<T | Stale>,
  ): Promise<T> {
    if (!allows(caller.scope, access, env)) throw forbidden(caller.actor, caller.project)
    let current = caller
    let outcome = await action(current)
    for (let times = 0; outcome === 'stale'; times++) {
      if (times === MAX_CONFIRMATIONS) throw apiError('unavailable')
      const before = current
      current = await confirm(before)
      // Nothing has changed since they were confirmed, and they still are not the stored one.
      if (times > 0 && isSame(before, current)) throw apiError('invalid_signature')
      if (!allows(current.scope, access, env)) throw forbidden(caller.actor, caller.project)
      outcome = await action(current)
    }
    return outcome
  }

  const isSame = (one: VerifiedCaller, other: VerifiedCaller): boolean =>
    one.projectUid === other.projectUid && one.generation === other.generation

  return {
    /** All values of an environment. @throws ApiError forbidden, unknown_project, invalid_signature, decryption_failed */
    fetch: (caller: VerifiedCaller, env: string): Promise<Fetched> =>
      whileCurrent(caller, { access: 'read', env }, (current) => fetch(current, env)),

    /** Creates a secret or overwrites its value. @throws ApiError forbidden, unknown_project, invalid_signature */
    put: async (caller: VerifiedCaller, secret: { env: string; key: string; value: string }): Promise<void> => {
      await whileCurrent(caller, { access: 'write', env: secret.env }, (current) => secrets.put(current, secret))
    },

    /** Deletes a secret. @throws ApiError forbidden, not_found, unknown_project, invalid_signature */
    remove: async (caller: VerifiedCaller, wanted: SecretReference): Promise<void> => {
      const intent = { access: 'write', env: 'env' in wanted ? wanted.env : undefined } as const
      const removal = await whileCurrent(caller, intent, (current) => secrets.remove(current, wanted))
      if (removal === 'forbidden') throw forbidden(caller.actor, caller.project)
      if (removal === 'absent') throw apiError('not_found')
    },
  }
}
