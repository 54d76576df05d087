import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import type { AllowedProjects, Editor, ProjectRef } from '../access/administrator.ts'
import { PROJECT_NAME } from '../access/names.ts'
import { allows, type ProjectCaller } from '../access/project-caller.ts'
import { type By, type Detail, type NewEntry, newEntry } from '../audit/audit.ts'
import { apiError, forbidden, isApiError, noSuch } from '../errors.ts'
import type { StoredDataKey } from '../keyring/data-keys.ts'
import type { OwnerTurns } from '../limits/owner-turns.ts'
import {
  parseTemplate,
  type Reference,
  type ReferencePlace,
  referencesOf,
  type Template,
} from '../references/references.ts'
import type { DetailChanges, RecordedDetails } from './details.ts'
import { type Generation, generateValue } from './generated.ts'
import { BrokenEnvironment } from './reference-checks.ts'
import type { NamedPlace, Values } from './values.ts'

/** The project, its keys or its rules changed after the signature was verified: verify it again. */
export type Stale = 'stale'

/** The result of a deletion by a project. */
export type Removal = 'deleted' | 'absent' | 'forbidden' | Stale

/** A secret in a listing, without its value. */
export type SecretMetadata = {
  readonly id: string
  readonly key: string
  readonly env: string
  readonly updatedAt: Date
  /** Only in the listing of a value with references. */
  readonly references?: true
} & RecordedDetails

/** A value to store, with the id of the secret if it is new. */
export type NewValue = {
  readonly id: string
  readonly env: string
  readonly key: string
  /** The environments to which the value refers; its own one has empty names. */
  readonly references: readonly ReferencePlace[]
  readonly details: DetailChanges
  readonly now: Date
  readonly actor: string
}

/** A value with its place, and details to change. */
export type ValueToStore = {
  readonly env: string
  readonly key: string
  readonly value: string
  /** Whether the value contains references, which are resolved when it is fetched. */
  readonly references?: boolean
  readonly details?: DetailChanges
}

/** Encrypts a value to store for its version. */
export type EncryptNewValue = (version: number, dataKey: StoredDataKey) => Promise<Buffer>

/** Returns the audit entry of a stored value. */
export type EntryForStored = (secretId: string, version: number, revision: number) => NewEntry

/** The versions of a secret without their values, the newest first. */
export type SecretVersions = {
  readonly project: string
  readonly env: string
  readonly versions: readonly SecretVersion[]
}

type SecretVersion = {
  readonly version: number
  readonly createdAt: Date
  readonly current: boolean
  /** Who stored it, as in the audit log; null if it is older than this record. */
  readonly actor: string | null
  /** The name that the key had, if it was one. */
  readonly keyName?: string
}

/** A secret of the caller's project, by its id or by its place. */
export type SecretReference = { readonly id: string } | { readonly env: string; readonly key: string }

/** Returns the audit entry of a deleted secret. */
export type EntryForDeleted = (deleted: { id: string; env: string; key: string; revision: number }) => NewEntry

/** A version to restore, read while its secret is locked. */
export type StoredVersion = { readonly place: NamedPlace; readonly dataKey: StoredDataKey; readonly blob: Buffer }

/** Secrets and their versions. Every method is one statement, or one transaction together with its audit entry. */
export type SecretStore = {
  hasProject(projectUid: string): Promise<boolean>
  /** Adds a version, and the secret if it is new, with the value that `encrypt` returns for the reserved version. */
  put(
    caller: ProjectCaller,
    secret: NewValue,
    encrypt: EncryptNewValue,
    entryFor: EntryForStored,
  ): Promise<'stored' | Stale>
  /** The same for an administrator. Returns the version; undefined if the project was deleted. */
  putAny(
    project: ProjectRef,
    secret: NewValue,
    by: Editor,
    encrypt: EncryptNewValue,
    entryFor: EntryForStored,
  ): Promise<number | undefined>
  /** Changes the details of a secret of any of the editor's projects. */
  annotate(
    id: string,
    details: DetailChanges,
    by: Editor,
    entryFor: (secret: { env: string; key: string }) => NewEntry,
  ): Promise<boolean>
  /** Deletes a secret of the caller's project with all its versions, if its environment is in the caller's scope. */
  remove(caller: ProjectCaller, secret: SecretReference, now: Date, entryFor: EntryForDeleted): Promise<Removal>
  /** The project of a secret, if it is one of these. */
  projectOf(id: string, projects: AllowedProjects): Promise<ProjectRef | undefined>
  /** Deletes a secret of any of the editor's projects. */
  removeAny(id: string, by: Editor, entryFor: EntryForDeleted): Promise<boolean>
  /** The uid of a project. */
  findProject(name: string): Promise<string | undefined>
  /** Secrets by environment and name, after one of them. */
  listAfter(
    projectUid: string,
    env: string | undefined,
    after: Pick<SecretMetadata, 'env' | 'key'> | undefined,
    limit: number,
  ): Promise<readonly SecretMetadata[]>
  versionsOf(id: string, projects: AllowedProjects): Promise<SecretVersions | undefined>
  /** Adds a version with the value of an older one, which `reencrypt` encrypts for the new version. */
  restore(
    version: { id: string; version: number; now: Date },
    by: Editor,
    reencrypt: Values['reencrypt'],
    entryFor: (secret: { env: string; key: string }, version: number, revision: number) => NewEntry,
  ): Promise<number | undefined>
}

/** How much a project may store. */
export type StorageLimits = {
  /** The names and encrypted values of an environment together. */
  readonly environmentBytes: number
  /** Secrets per environment. */
  readonly secrets: number
  readonly environments: number
  /** Versions per secret; older ones are dropped. */
  readonly versions: number
}

/** Returns the project with a name, if it is one of these. @throws ApiError not_found */
export async function findProject(
  store: Pick<SecretStore, 'findProject'>,
  name: string,
  { projects }: Pick<Editor, 'projects'>,
): Promise<ProjectRef> {
  const uid = await store.findProject(name)
  if (uid === undefined || projects?.every((each) => each.uid !== uid) === true) throw noSuch('project')
  return { uid, name }
}

/** How many secrets of a listing are read before other requests have their turn. */
const LIST_BATCH = 1_000

/** The largest value of the version's column. */
const MAX_VERSION = 2_147_483_647

/** The secrets of the vault. */
export type Secrets = ReturnType<typeof createSecrets>

/** Creates the use cases of secrets, except fetches. */
export function createSecrets(deps: { store: SecretStore; values: Values; clock: Clock; inTurn: OwnerTurns }) {
  const { store, values, clock, inTurn } = deps

  const turnOf = ({ project, wanted }: ProjectCaller) => ({ owner: `project ${project}`, project, wanted })

  function deletionEntry(by: By): EntryForDeleted {
    return ({ id, env, key, revision }) =>
      newEntry(clock, { action: 'delete', env, by, detail: { secretId: id, key, revision } })
  }

  /** Runs a write of an administrator in its turn; undefined if none of their projects has the secret. */
  async function byAdministrator<T>(
    id: string,
    by: Editor,
    work: () => Promise<T>,
    prepare?: (project: ProjectRef) => Promise<void>,
  ): Promise<T | undefined> {
    const project = isId(id) ? await store.projectOf(id, by.projects) : undefined
    if (project === undefined) return undefined
    await prepare?.(project)
    return inTurn({ owner: by.actor, project: project.name, wanted: by.wanted }, work)
  }

  /** Prepares a write: what the store needs to encrypt the value and to record it. */
  async function prepared(
    project: ProjectRef,
    { env, key, value, references = false, details = {} }: ValueToStore,
    by: By,
    more: Detail = {},
  ) {
    const placeOf = (version: number): NamedPlace => ({
      ...{ projectUid: project.uid, project: project.name, env, key, version },
    })
    // Before its turn, so that writes fail together instead of one after another while the key service is unavailable.
    await values.prepare(placeOf(0))
    const source = references ? templateOf(value) : undefined
    const refers = source === undefined ? [] : referencesOf(source)
    const format = source === undefined ? 'plain' : 'template'
    const encrypt: EncryptNewValue = (version, dataKey) => values.encrypt(placeOf(version), dataKey, value, format)
    const entryFor: EntryForStored = (secretId, version, revision) =>
      newEntry(clock, {
        ...{ action: 'put', env, by },
        detail: { secretId, key, version, revision, ...(references && { references }), ...more },
      })
    const secretNow = (): NewValue => ({
      ...{ id: newId(), env, key, details, now: new Date(clock.now()), actor: by.actor },
      references: source === undefined ? [] : placesOf(refers),
    })
    return { refers, encrypt, entryFor, secretNow }
  }

  return {
    put: async (caller: ProjectCaller, secret: ValueToStore): Promise<'stored' | Stale> => {
      const project = { uid: caller.projectUid, name: caller.project }
      const { refers, encrypt, entryFor, secretNow } = await prepared(project, secret, caller)
      // Otherwise a key could show an environment that it may not read to those who read this one.
      const isInScope = ({ place }: Reference): boolean =>
        place?.project !== caller.project || place.env === secret.env || allows(caller.scope, 'read', place.env)
      if (!refers.every(isInScope)) throw forbidden(caller.actor, caller.project)
      return withinScope(caller, () => inTurn(turnOf(caller), () => store.put(caller, secretNow(), encrypt, entryFor)))
    },

    /**
     * Creates a secret of a project or overwrites its value, as an administrator.
     *
     * @param value the value, or how to generate it
     * @returns the version
     * @throws ApiError not_found, payload_too_large, unresolved_reference
     */
    putAny: async (
      projectName: string,
      { value, ...secret }: Omit<ValueToStore, 'value'> & { readonly value: string | Generation },
      by: Editor,
    ): Promise<number> => {
      const project = await findProject(store, projectName, by)
      const isGenerated = typeof value !== 'string'
      const text = isGenerated ? generateValue(value) : value
      const more = isGenerated ? { generated: true } : {}
      const { encrypt, entryFor, secretNow } = await prepared(project, { ...secret, value: text }, by, more)
      const version = await inTurn({ owner: by.actor, project: project.name, wanted: by.wanted }, () =>
        store.putAny(project, secretNow(), by, encrypt, entryFor),
      )
      if (version === undefined) throw noSuch('project')
      return version
    },

    /** Changes the details of a secret; null removes one. @throws ApiError not_found */
    annotate: async (id: string, details: DetailChanges, by: Editor): Promise<void> => {
      const changed = Object.entries(details).flatMap(([name, value]) => (value === undefined ? [] : [name]))
      const entryFor = ({ env, key }: { env: string; key: string }) =>
        newEntry(clock, { action: 'annotate', env, by, detail: { secretId: id, key, changed: changed.join(',') } })
      const found = await byAdministrator(id, by, () => store.annotate(id, details, by, entryFor))
      if (found !== true) throw noSuch('secret')
    },

    /** Text that is not an id, and the id of another project's secret, are `absent`. */
    remove: async (caller: ProjectCaller, secret: SecretReference): Promise<Removal> => {
      if ('id' in secret && !isId(secret.id)) return 'absent'
      return withinScope(caller, () =>
        inTurn(turnOf(caller), () => store.remove(caller, secret, new Date(clock.now()), deletionEntry(caller))),
      )
    },

    /** @throws ApiError not_found, unresolved_reference */
    removeAny: async (id: string, by: Editor): Promise<void> => {
      const removed = await byAdministrator(id, by, () => store.removeAny(id, by, deletionEntry(by)))
      if (removed !== true) throw noSuch('secret')
    },

    /** Lists the secrets of a project in batches. @throws ApiError not_found */
    listOf: async function* (project: string, env: string | undefined): AsyncGenerator<readonly SecretMetadata[]> {
      const uid = PROJECT_NAME.test(project) ? await store.findProject(project) : undefined
      if (uid === undefined) throw noSuch('project')
      for (let after: SecretMetadata | undefined; ; ) {
        const batch = await store.listAfter(uid, env, after, LIST_BATCH)
        yield batch
        after = batch.at(-1)
        if (batch.length < LIST_BATCH) return
      }
    },

    /** @throws ApiError not_found */
    versionsOf: async (id: string, projects: AllowedProjects): Promise<SecretVersions> => {
      const listed = isId(id) ? await store.versionsOf(id, projects) : undefined
      if (listed === undefined) throw noSuch('secret')
      return listed
    },

    /**
     * Makes the value of an older version current again, as a new version.
     *
     * @returns the new version
     * @throws ApiError not_found, unresolved_reference, decryption_failed
     */
    restore: async (id: string, version: number, by: Editor): Promise<number> => {
      if (version > MAX_VERSION) throw noSuch('version')
      const entryFor = ({ env, key }: { env: string; key: string }, next: number, revision: number) =>
        newEntry(clock, {
          action: 'restore',
          env,
          by,
          detail: { secretId: id, key, restored: version, version: next, revision },
        })
      const restored = await byAdministrator(
        id,
        by,
        () => store.restore({ id, version, now: new Date(clock.now()) }, by, values.reencrypt, entryFor),
        ({ uid, name }) => values.prepare({ projectUid: uid, project: name, env: '', key: '', version }),
      )
      if (restored === undefined) throw noSuch('version')
      return restored
    },
  }
}

/** Keeps the names of environments outside its scope, and of their keys, from a key whose write would break them. */
async function withinScope<T>({ scope }: ProjectCaller, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const broken = isApiError(error) && error.cause instanceof BrokenEnvironment ? error.cause.env : undefined
    if (broken === undefined || scope.envs === null || scope.envs.includes(broken)) throw error
    throw apiError(
      'unresolved_reference',
      'This change would break references in an environment that this key cannot access. Ask an administrator.',
    )
  }
}

/** @throws ApiError invalid_request if the text is malformed */
function templateOf(text: string): Template {
  const parsed = parseTemplate(text)
  if ('problem' in parsed) throw apiError('invalid_request', `value: ${parsed.problem}.`)
  return parsed
}

/** The environments of references, each once. A value without any is marked with its own one. */
function placesOf(references: readonly Reference[]): readonly ReferencePlace[] {
  const own = { project: '', env: '' }
  const places = [own, ...references.map(({ place }) => place ?? own)]
  return [...new Map(places.map((place) => [`${place.project}/${place.env}`, place])).values()]
}
