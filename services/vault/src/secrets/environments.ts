import { apiError } from '../errors.ts'
import { isCode, type RowCodes } from '../keyring/row-codes.ts'
import type { OnRefused } from '../projects/authentic-projects.ts'

/** The name of a secret and its current version. */
export type CurrentVersion = { readonly key: string; readonly version: number }

/** What is stored of an environment. `stored` is undefined where nothing was ever put. */
export type StoredEnvironment = {
  readonly projectUid: string
  readonly env: string
  readonly current: readonly CurrentVersion[]
  readonly stored: { readonly revision: number; readonly code: Buffer } | undefined
}

/** The code of an environment after a change. */
export type NextEnvironment = { readonly revision: number; readonly code: Buffer }

/** Whether an environment is as the vault left it. One that nothing was ever put into has no secrets and no code. */
export function isAuthenticEnvironment(codes: RowCodes, { stored, ...environment }: StoredEnvironment): boolean {
  if (stored === undefined) return environment.current.length === 0
  return isCode(codes.environment({ ...environment, revision: stored.revision }), stored.code)
}

/** Authenticates environments. */
export type Environments = ReturnType<typeof createEnvironments>

/**
 * Authenticates which secrets an environment has and which version of each is current. A secret that was removed, added
 * or turned back in the database without the keyring fails everything that reads or changes its environment.
 */
export function createEnvironments(deps: { codes: RowCodes; onRefused: OnRefused }) {
  const { codes, onRefused } = deps

  /** @throws ApiError decryption_failed when the environment is not as the vault left it */
  function assertAuthentic(environment: StoredEnvironment): void {
    if (isAuthenticEnvironment(codes, environment)) return
    onRefused('environments', { projectUid: environment.projectUid, env: environment.env })
    throw apiError('decryption_failed')
  }

  return {
    assertAuthentic,

    /**
     * Authenticates an environment after a change of one of its secrets.
     *
     * @param before as it is stored, locked
     * @param change the secret that was put, or, without a version, deleted
     * @throws ApiError decryption_failed when the environment is not as the vault left it
     */
    after: (before: StoredEnvironment, change: { key: string; version: number | undefined }): NextEnvironment => {
      assertAuthentic(before)
      const { projectUid, env } = before
      const { key, version } = change
      const others = before.current.filter((each) => each.key !== key)
      const current = version === undefined ? others : [...others, { key, version }]
      const revision = (before.stored?.revision ?? 0) + 1
      return { revision, code: codes.environment({ projectUid, env, revision, current }) }
    },
  }
}
