import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { Editor, ProjectRef } from '../access/administrator.ts'
import { type NewEntry, newEntry } from '../audit/audit.ts'
import { apiError, noSuch } from '../errors.ts'
import type { StoredDataKey } from '../keyring/data-keys.ts'
import type { OwnerTurns } from '../limits/owner-turns.ts'
import { createThreadTurns } from './decryption-queue.ts'
import { findProject, type SecretStore, type StoredVersion } from './secrets.ts'
import type { Values } from './values.ts'

/** The secrets to copy from one environment of a project to another. */
export type CopyRequest = {
  readonly from: string
  readonly to: string
  /** Undefined for all. */
  readonly keys: readonly string[] | undefined
  /** Whether secrets that exist in both get the value of `from`. */
  readonly overwrite: boolean
}

/** How many secrets were copied, and how many were not because they exist in both environments. */
export type Copied = { readonly copied: number; readonly skipped: number }

/** A secret that was copied, in its new environment. */
export type CopiedSecret = { readonly id: string; readonly key: string; readonly version: number }

/** Copies secrets. One transaction, together with an audit entry per secret. */
export type CopyStore = {
  /** @returns undefined if the project was deleted; `missing` if a key, or the whole environment, is not stored */
  copy(
    project: ProjectRef,
    request: CopyRequest & { readonly now: Date },
    by: Editor,
    reencrypt: (value: StoredVersion, version: number, dataKey: StoredDataKey) => Promise<Buffer>,
    entryFor: (secret: CopiedSecret, revision: number) => NewEntry,
  ): Promise<Copied | 'missing' | undefined>
}

/** How much is encrypted before other requests have their turn, in bytes: a few milliseconds. */
const TURN_COST = 128 * 1024
/** The time a value costs in addition to its bytes, as a number of bytes. */
const ROW_COST = 2_048

/** Copies environments. */
export type Copies = ReturnType<typeof createCopies>

/** Creates the use case of copying secrets between the environments of a project, without revealing their values. */
export function createCopies(deps: {
  store: CopyStore
  projects: Pick<SecretStore, 'findProject'>
  values: Pick<Values, 'prepare' | 'reencrypt'>
  clock: Clock
  inTurn: OwnerTurns
}) {
  const { store, projects, values, clock, inTurn } = deps
  const threadTurn = createThreadTurns(TURN_COST)

  return {
    /**
     * Copies all secrets or none. New secrets take the details of the copied ones; overwritten secrets keep theirs.
     *
     * @throws ApiError not_found, payload_too_large, decryption_failed if a value does not decrypt
     */
    copy: async (projectName: string, request: CopyRequest, by: Editor): Promise<Copied> => {
      const { from, to } = request
      if (from === to) throw apiError('invalid_request', 'to: must differ from `from`.')
      const project = await findProject(projects, projectName, by)
      await values.prepare({ projectUid: project.uid, project: project.name, env: to, key: '', version: 0 })
      const reencrypt = async (value: StoredVersion, version: number, dataKey: StoredDataKey): Promise<Buffer> => {
        await threadTurn(value.blob.length + ROW_COST)
        return values.reencrypt(value, { env: to, version }, dataKey)
      }
      const entryFor = ({ id: secretId, key, version }: CopiedSecret, revision: number) =>
        newEntry(clock, { action: 'put', env: to, by, detail: { secretId, key, version, revision, copiedFrom: from } })
      const copied = await inTurn({ owner: by.actor, project: project.name, wanted: by.wanted }, () =>
        store.copy(project, { ...request, now: new Date(clock.now()) }, by, reencrypt, entryFor),
      )
      if (copied === undefined) throw noSuch('project')
      if (copied === 'missing')
        throw apiError(
          'not_found',
          'The environment to copy from does not have these secrets itself. Nothing was copied.',
        )
      return copied
    },
  }
}
