import { KeyObject } from 'node:crypto'
import type { Lookup } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import { type By, type NewEntry, newEntry } from '../audit/audit.ts'
import { apiError } from '../errors.ts'
import type { DataKeys, StoredDataKey } from '../keyring/data-keys.ts'
import { DecryptionError, dataKeyVersionOf, decryptValue, encryptValue } from '../keyring/envelope.ts'
import type { Wanted } from '../limits/wanted.ts'
import type { WriteTurns } from '../limits/write-turns.ts'
import type { Scope } from '../projects/project-keys.ts'
import { isProjectName, type Theirs } from '../projects/projects.ts'
import { createDecryptionReports, type NamedPlace } from './decryption-errors.ts'
import type { StoredEnvironment } from './environments.ts'

/**
 * The verified signer of a request. A store checks again, in the statement that does the work, that it is still valid.
 */
export type Caller = {
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
  /** Names the key in the audit log. */
  readonly actor: string
  readonly address: string
  readonly wanted?: Wanted | undefined
}

/** The project, its keys or its rules changed after the signature was verified: verify it again. */
export type Stale = 'stale'

/** What became of a secret that a caller wanted to delete. */
export type Removal = 'deleted' | 'absent' | 'forbidden' | Stale

/** A request of one caller for all values of an environment, with its audit entry. */
export type Fetch = { readonly caller: Caller; readonly env: string; readonly now: Date; readonly entry: NewEntry }

/** A value as it is stored. */
export type StoredValue = { readonly key: string; readonly version: number; readonly blob: Buffer }

/** All values of an environment, with its revision and its code; without them nothing was ever put there. */
export type StoredValues = {
  readonly values: readonly StoredValue[]
  readonly stored: StoredEnvironment['stored']
}

/** A secret in a listing, without its value. */
export type SecretMetadata = {
  readonly id: string
  readonly key: string
  readonly env: string
  readonly updatedAt: Date
}

/** A version in a listing, without its value. */
export type VersionMetadata = { readonly version: number; readonly createdAt: Date; readonly current: boolean }

/** The versions of a secret, with its place. */
export type SecretVersions = {
  readonly project: string
  readonly env: string
  readonly versions: readonly VersionMetadata[]
}

/** An administrator who acts on a secret by its id: those of other projects are unknown to them. */
export type Acting = By & { readonly projects: Theirs; readonly wanted?: Wanted | undefined }

/** Encrypts a value for the version that the transaction reserved, with the data key that it read. */
export type EncryptForVersion = (version: number, dataKey: StoredDataKey) => Promise<Buffer>

/** A secret of a caller's project: by its id, or by its place. */
export type SecretReference = { readonly id: string } | { readonly env: string; readonly key: string }

/** Makes the audit entry of a deleted secret. */
export type EntryForDeleted = (deleted: { id: string; env: string; key: string; revision: number }) => NewEntry

/** A version to restore, read while its secret is locked. `dataKey` encrypts the restored value. */
export type StoredVersion = StoredValue & {
  readonly projectUid: string
  readonly project: string
  readonly env: string
  readonly dataKey: StoredDataKey
}

/** Secrets and their versions. Every method is one statement or one transaction together with its audit entry. */
export type SecretStore = {
  /**
   * All values of each caller's project in an environment, in the order of the callers; callers that ask for the same
   * values get the same object. The audit entries are committed when the promise resolves.
   */
  readAll(fetches: readonly Fetch[]): Promise<readonly (StoredValues | Stale)[]>
  /** Whether a project exists. */
  hasProject(projectUid: string): Promise<boolean>
  /** Adds a version, and the secret if it is new. `entryFor` makes the audit entry for the reserved version. */
  put(
    caller: Caller,
    secret: { id: string; env: string; key: string; now: Date },
    encrypt: EncryptForVersion,
    entryFor: (secretId: string, version: number, revision: number) => NewEntry,
  ): Promise<'stored' | Stale>
  /** Deletes a secret of the caller's project with all its versions, unless it is in an environment beyond their scope. */
  remove(caller: Caller, wanted: SecretReference, now: Date, entryFor: EntryForDeleted): Promise<Removal>
  /** The project of a secret, when it is one of these. */
  projectOf(id: string, projects: Theirs): Promise<{ uid: string; name: string } | undefined>
  /** Deletes a secret of any of these projects. */
  removeAny(id: string, by: Pick<Acting, 'projects' | 'wanted'>, entryFor: EntryForDeleted): Promise<boolean>
  /** The uid of a project, undefined when there is none. */
  findProject(name: string): Promise<string | undefined>
  /** Secrets in the order of environments and names, after one of them. */
  listAfter(
    projectUid: string,
    env: string | undefined,
    after: Pick<SecretMetadata, 'env' | 'key'> | undefined,
    limit: number,
  ): Promise<readonly SecretMetadata[]>
  /** Newest first; undefined when there is no such secret. */
  versionsOf(id: string, projects: Theirs): Promise<SecretVersions | undefined>
  /** Adds a version with the value of an older one, which `reencrypt` encrypts for the new version. */
  restore(
    asked: { id: string; version: number; now: Date },
    by: Pick<Acting, 'projects' | 'wanted'>,
    reencrypt: (old: StoredVersion, oldKey: StoredDataKey, version: number) => Promise<Buffer>,
    entryFor: (env: string, version: number, revision: number) => NewEntry,
  ): Promise<number | undefined>
}

/** The secrets of the vault. */
export type Secrets = ReturnType<typeof createSecrets>

/** An environment's name: 1 to 64 letters, digits, dots, dashes and underscores. */
export const ENV = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
/** A secret's name: 1 to 256 characters, none of them a control character. */
export const SECRET_KEY = /^[^\p{Cc}\p{Surrogate}]{1,256}$/u

/** The environment of a request that names none. */
export const DEFAULT_ENV = 'production'

/** The longest value, in bytes of UTF-8. */
export const MAX_VALUE_BYTES = 65_536

/** How much a project may store. */
export type StorageLimits = {
  /** Of one environment: its names and encrypted values together. */
  readonly environmentBytes: number
  /** Of one environment. */
  readonly secrets: number
  readonly environments: number
  /** Of one secret; the oldest are dropped. */
  readonly versions: number
}

/** What a secret costs memory and the thread in addition to its bytes, as a number of bytes. */
const ROW_BYTES = 2_048

/** What it costs to hold and to decrypt secrets: many small ones cost more than their bytes. */
export function costOf(bytes: number, secrets: number): number {
  return bytes + secrets * ROW_BYTES
}

/** Secrets that are read and written to a listing before other requests have their turn. */
const LISTED_AT_ONCE = 1_000

/** The largest version, as the column is an integer. */
const MAX_VERSION = 2_147_483_647

/** Reads and writes secrets. Values are encrypted before they reach the store. */
export function createSecrets(deps: {
  store: SecretStore
  dataKeys: DataKeys
  clock: Clock
  inTurn: WriteTurns
  /** Gets why a stored value does not decrypt, and the names of its place; never a value. */
  onDecryptionError: (error: unknown, place: NamedPlace) => void
}) {
  const { store, dataKeys, clock, inTurn } = deps
  const { reportingErrors, reportingLaterErrors } = createDecryptionReports(deps.onDecryptionError)

  function deletionEntry(by: By): EntryForDeleted {
    return ({ id, env, key, revision }) =>
      newEntry(clock, { action: 'delete', env, by, detail: { secretId: id, key, revision } })
  }

  const turnOf = ({ project, wanted }: Caller) => ({ owner: `project ${project}`, project, wanted })

  /** Runs a write of an administrator to a secret in its turn; undefined where none of their projects has the secret. */
  async function ofAdministrator<T>(
    id: string,
    by: Acting,
    work: () => Promise<T>,
    prepare?: (project: { uid: string; name: string }) => Promise<void>,
  ): Promise<T | undefined> {
    const project = isId(id) ? await store.projectOf(id, by.projects) : undefined
    if (project === undefined) return undefined
    await prepare?.(project)
    return inTurn({ owner: by.actor, project: project.name, wanted: by.wanted }, work)
  }

  /** Waits for the data key of a value; undefined when its project was deleted in the meantime. */
  async function keyOrAbsent(
    found: Lookup<KeyObject>,
    place: NamedPlace,
    dekV: number,
  ): Promise<KeyObject | undefined> {
    return reportingLaterErrors(place, async () => {
      const key = await found
      if (key === undefined && (await store.hasProject(place.projectUid)))
        throw new DecryptionError(`data key ${dekV} is not stored`)
      return key
    })
  }

  return {
    /**
     * Decrypts a value of the caller's project, synchronously when the data key is cached. Undefined when the project
     * was deleted in the meantime.
     *
     * @throws ApiError decryption_failed
     */
    decrypt: (caller: Caller, env: string, stored: StoredValue): string | Promise<string | undefined> => {
      const { key, version, blob } = stored
      const place = { projectUid: caller.projectUid, project: caller.project, env, key, version }
      const dekV = reportingErrors(place, () => dataKeyVersionOf(blob))
      const found = dataKeys.find(caller.projectUid, dekV)
      if (found instanceof KeyObject) return reportingErrors(place, () => decryptValue(found, place, blob))
      return keyOrAbsent(found, place, dekV).then(
        (dataKey) => dataKey && reportingErrors(place, () => decryptValue(dataKey, place, blob)),
      )
    },

    put: async (caller: Caller, secret: { env: string; key: string; value: string }): Promise<'stored' | Stale> => {
      const { env, key, value } = secret
      const placeOf = (version: number) => ({
        projectUid: caller.projectUid,
        project: caller.project,
        env,
        key,
        version,
      })
      const encrypt: EncryptForVersion = (version, stored) => {
        const place = placeOf(version)
        return reportingLaterErrors(place, async () =>
          encryptValue(await dataKeys.unwrap(caller.projectUid, stored), stored.dekV, place, value),
        )
      }
      const entryFor = (secretId: string, version: number, revision: number) =>
        newEntry(clock, { action: 'put', env, by: caller, detail: { secretId, key, version, revision } })
      // Before their turn: while a service of keys is away, all of them fail at once instead of one after the other.
      await reportingLaterErrors(placeOf(0), () => dataKeys.prepare(caller.projectUid))
      return inTurn(turnOf(caller), () =>
        store.put(caller, { id: newId(), env, key, now: new Date(clock.now()) }, encrypt, entryFor),
      )
    },

    /** An id of another project and text that is no id are `absent`, like an unknown id. */
    remove: async (caller: Caller, wanted: SecretReference): Promise<Removal> => {
      if ('id' in wanted && !isId(wanted.id)) return 'absent'
      return inTurn(turnOf(caller), () => store.remove(caller, wanted, new Date(clock.now()), deletionEntry(caller)))
    },

    /** @throws ApiError not_found */
    removeAny: async (id: string, by: Acting): Promise<void> => {
      const removed = await ofAdministrator(id, by, () => store.removeAny(id, by, deletionEntry(by)))
      if (removed !== true) throw apiError('not_found')
    },

    /** In pieces, since a project may have very many secrets. @throws ApiError not_found */
    listOf: async function* (project: string, env: string | undefined): AsyncGenerator<readonly SecretMetadata[]> {
      const uid = isProjectName(project) ? await store.findProject(project) : undefined
      if (uid === undefined) throw apiError('not_found')
      for (let after: SecretMetadata | undefined; ; ) {
        const page = await store.listAfter(uid, env, after, LISTED_AT_ONCE)
        yield page
        after = page.at(-1)
        if (page.length < LISTED_AT_ONCE) return
      }
    },

    /** @throws ApiError not_found */
    versionsOf: async (id: string, projects: Theirs): Promise<SecretVersions> => {
      const listed = isId(id) ? await store.versionsOf(id, projects) : undefined
      if (listed === undefined) throw apiError('not_found')
      return listed
    },

    /**
     * Makes the value of an older version current again, as a new version.
     *
     * @returns the number of the new version
     * @throws ApiError not_found, decryption_failed
     */
    restore: async (id: string, version: number, by: Acting): Promise<number> => {
      const reencrypt = (old: StoredVersion, oldKey: StoredDataKey, next: number): Promise<Buffer> => {
        const { projectUid, project, env, key } = old
        const place = { projectUid, project, env, key, version: old.version }
        return reportingLaterErrors(place, async () => {
          const [from, to] = await Promise.all([
            dataKeys.unwrap(old.projectUid, oldKey),
            dataKeys.unwrap(old.projectUid, old.dataKey),
          ])
          const target = { ...place, version: next }
          return encryptValue(to, old.dataKey.dekV, target, decryptValue(from, place, old.blob))
        })
      }
      const entryFor = (env: string, next: number, revision: number) =>
        newEntry(clock, {
          action: 'restore',
          env,
          by,
          detail: { secretId: id, restored: version, version: next, revision },
        })
      if (version > MAX_VERSION) throw apiError('not_found')
      const prepare = ({ uid, name }: { uid: string; name: string }) =>
        reportingLaterErrors({ projectUid: uid, project: name, env: '', key: '', version }, () => dataKeys.prepare(uid))
      const restored = await ofAdministrator(
        id,
        by,
        () => store.restore({ id, version, now: new Date(clock.now()) }, by, reencrypt, entryFor),
        prepare,
      )
      if (restored === undefined) throw apiError('not_found')
      return restored
    },
  }
}
