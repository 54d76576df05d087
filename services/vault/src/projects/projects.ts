import { generateKeyPair, parsePublicKey, publicKeyToHex, SignatureError } from '@vault-and-tracker/http-signatures'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Editor } from '../access/administrator.ts'
import { DEFAULT_KEY, PROJECT_NAME } from '../access/names.ts'
import { FULL_SCOPE, type Scope } from '../access/project-caller.ts'
import type { Administrators } from '../admin/administrators.ts'
import { type Detail, type NewEntry, newEntry } from '../audit/audit.ts'
import { apiError, noSuch } from '../errors.ts'
import {
  type AuthenticRows,
  fingerprintOf,
  type ProjectKey,
  type SealedProject,
  type StoredProject,
} from '../integrity/rows.ts'
import type { DataKeys, StoredDataKey } from '../keyring/data-keys.ts'
import type { OwnerTurns } from '../limits/owner-turns.ts'
import {
  addKey,
  type EndedExchangedKey,
  type ExchangedKey,
  type ListedKey,
  listEnded,
  listExchanged,
  listKeys,
  newestFirst,
  replaceKey,
  representativeKey,
  revokeKey,
  validKey,
} from './project-keys.ts'
import type { SigningProjects } from './signing-projects.ts'

/** A project as administrators see it, with its active keys, newest first. Its id is its name. */
export type Project = {
  readonly id: string
  readonly name: string
  readonly publicKey: string
  readonly createdAt: Date
  readonly requireContentDigest: boolean
  readonly keys: readonly ListedKey[]
}

/** Projects and their keys. Every writing method is one transaction, together with its audit entry. */
export type ProjectStore = {
  list(): Promise<readonly SealedProject[]>
  find(name: string): Promise<SealedProject | undefined>
  /** @throws ApiError project_exists */
  create(project: SealedProject, by: Editor, dataKey: StoredDataKey, entry: NewEntry): Promise<void>
  /**
   * Locks the project, calls `decide` with it and writes the result. Returns false if the project does not exist.
   *
   * @throws ApiError key_exists if a new key is valid in exchange for an ID token
   */
  change(
    name: string,
    by: Editor,
    decide: (project: SealedProject) => SealedProject,
    entryFor: (changed: SealedProject) => NewEntry,
  ): Promise<boolean>
  /** The active keys of a project, or of all, that were admitted for ID tokens. */
  exchangedKeys(projectUid?: string): Promise<readonly ExchangedKey[]>
  /** The latest of them that expired or were revoked in the last 30 days. */
  endedExchangedKeys(projectUid: string): Promise<readonly EndedExchangedKey[]>
  /** Revokes an active key that was admitted for an ID token. Returns false if no such key has the fingerprint. */
  revokeExchangedKey(
    name: string,
    by: Editor,
    fingerprint: string,
    entryFor: (rule: string) => NewEntry,
  ): Promise<boolean>
  /** Deletes the project with its keys, data keys, secrets and versions. */
  remove(name: string, by: Editor, entry: NewEntry): Promise<boolean>
}

/** The projects of the vault. */
export type Projects = ReturnType<typeof createProjects>

/** Creates the use cases of projects and their keys. */
export function createProjects(deps: {
  store: ProjectStore
  rows: AuthenticRows
  dataKeys: DataKeys
  administrators: Pick<Administrators, 'bindOrLater'>
  signingProjects: Pick<SigningProjects, 'forget'>
  inTurn: OwnerTurns
  clock: Clock
}) {
  const { store, rows, dataKeys, administrators, signingProjects, inTurn, clock } = deps

  const turnOf = (project: string, { actor, wanted }: Editor) => ({ owner: actor, project, wanted })

  /** @throws ApiError not_found */
  async function change(
    name: string,
    by: Editor,
    decide: (project: StoredProject) => Partial<StoredProject> | undefined,
    entryFor: (changed: SealedProject) => NewEntry,
  ): Promise<void> {
    const changeRows = (sealed: SealedProject) => rows.changeProject(sealed, decide)
    const isChanged =
      PROJECT_NAME.test(name) && (await inTurn(turnOf(name, by), () => store.change(name, by, changeRows, entryFor)))
    if (!isChanged) throw noSuch('project')
    signingProjects.forget(name)
  }

  return {
    /** Returns all projects, by name. */
    list: async (): Promise<readonly Project[]> => {
      const now = new Date(clock.now())
      return (await store.list()).map((sealed) => present(sealed, rows.openProject(sealed), now))
    },

    /** @throws ApiError invalid_public_key, project_exists */
    create: async (input: {
      name: string
      publicKey: string
      requireContentDigest: boolean
      scope: Scope
      by: Editor
    }): Promise<void> => {
      const { name, requireContentDigest, scope, by } = input
      const publicKey = readPublicKey(input.publicKey)
      const createdAt = new Date(clock.now())
      const uid = newId()
      const entry = newEntry(clock, {
        action: 'project.create',
        by,
        detail: { publicKey: publicKeyToHex(publicKey), generation: 1, ...describeScope(scope) },
      })
      const keys = addKey([], { id: newId(), name: DEFAULT_KEY, publicKey, createdAt }, { scope, expiresAt: null })
      const project = rows.sealProject({ uid, name, requireContentDigest, createdAt, generation: 1, keys })
      const dataKey = await dataKeys.create(uid, 1)
      await inTurn(turnOf(name, by), () => store.create(project, by, dataKey, entry))
      signingProjects.forget(name)
      await administrators.bindOrLater()
    },

    /**
     * Adds a key with a name that no active key of the project has.
     *
     * @param input see {@link PublicKeySource}
     * @throws ApiError not_found, invalid_public_key, key_exists, too_many_keys, invalid_request if the expiry is not in the
     *   next ten years
     */
    addKey: async (
      input: PublicKeySource & { project: string; name: string; scope: Scope; expiresAt: Date | null; by: Editor },
    ): Promise<{ fingerprint: string; privateKey?: string }> => {
      const { project, name, scope, expiresAt, by } = input
      const { publicKey, ...generated } = publicKeyOf(input)
      const added = { id: newId(), name, publicKey, createdAt: new Date(clock.now()) }
      await change(
        project,
        by,
        ({ keys }) => ({ keys: addKey(keys, added, { scope, expiresAt }) }),
        ({ generation, keys }) =>
          newEntry(clock, { action: 'key.add', by, detail: { ...describeKey(keys, added.id), generation } }),
      )
      return { fingerprint: fingerprintOf(publicKey), ...generated }
    },

    /**
     * Replaces the key with a name.
     *
     * @param input see {@link PublicKeySource} and {@link replaceKey}
     * @throws ApiError not_found, invalid_public_key, too_many_keys, key_exists if the key was admitted for an ID token,
     *   invalid_request if the project already has the key or the expiry is not in the next ten years
     */
    rotate: async (
      input: PublicKeySource & {
        project: string
        name: string
        overlapMs: number
        scope: Scope | undefined
        expiresAt: Date | null | undefined
        by: Editor
      },
    ): Promise<{ privateKey?: string }> => {
      const { project, name, overlapMs, by } = input
      const { publicKey, ...generated } = publicKeyOf(input)
      const added = { id: newId(), name, publicKey, createdAt: new Date(clock.now()) }
      await change(
        project,
        by,
        ({ keys }) => ({ keys: replaceKey(keys, added, input) }),
        ({ generation, keys }) =>
          newEntry(clock, {
            action: 'rotate',
            by,
            detail: { ...describeKey(keys, added.id), overlapSeconds: overlapMs / 1000, generation },
          }),
      )
      return generated
    },

    /** @throws ApiError not_found */
    setRequireContentDigest: async (input: { name: string; required: boolean; by: Editor }): Promise<void> => {
      const { name, required, by } = input
      await change(
        name,
        by,
        (project) => (project.requireContentDigest === required ? undefined : { requireContentDigest: required }),
        ({ generation }) =>
          newEntry(clock, { action: 'project.update', by, detail: { requireContentDigest: required, generation } }),
      )
    },

    /** @throws ApiError not_found */
    remove: async ({ name, by }: { name: string; by: Editor }): Promise<void> => {
      const entry = newEntry(clock, { action: 'project.delete', by })
      const isRemoved = PROJECT_NAME.test(name) && (await inTurn(turnOf(name, by), () => store.remove(name, by, entry)))
      if (!isRemoved) throw noSuch('project')
      signingProjects.forget(name)
    },

    /** See {@link listKeys}; with those that were admitted for ID tokens. @throws ApiError not_found */
    keysOf: async (name: string, which: { ended: boolean }): Promise<readonly ListedKey[]> => {
      const sealed = PROJECT_NAME.test(name) ? await store.find(name) : undefined
      if (sealed === undefined) throw noSuch('project')
      const exchanged = (await store.exchangedKeys(sealed.uid)).filter(rows.exchangedKeys.accept)
      const ended = which.ended ? await store.endedExchangedKeys(sealed.uid) : []
      const own = listKeys(rows.openProject(sealed).keys, new Date(clock.now()), which)
      return newestFirst([...own, ...exchanged.map(listExchanged), ...ended.map(listEnded)])
    },

    /** Returns the active keys of all projects, sorted by the name of the project, then newest first. */
    allKeys: async (): Promise<readonly { readonly project: string; readonly keys: readonly ListedKey[] }[]> => {
      const now = new Date(clock.now())
      const [all, exchanged] = await Promise.all([store.list(), store.exchangedKeys()])
      const accepted = exchanged.filter(rows.exchangedKeys.accept)
      return all.map((sealed) => {
        const own = listKeys(rows.openProject(sealed).keys, now, { ended: false })
        const ofProject = accepted.filter(({ projectUid }) => projectUid === sealed.uid)
        return { project: sealed.name, keys: newestFirst([...own, ...ofProject.map(listExchanged)]) }
      })
    },

    /**
     * Revokes an active key at all replicas, even if it is the only one. If the project does not have it, the project
     * changes all the same: a key whose row is missing at this moment is invalid when the row is restored.
     *
     * @throws ApiError not_found
     */
    revokeKey: async (input: { name: string; fingerprint: string; by: Editor }): Promise<void> => {
      const { name, fingerprint, by } = input
      const now = new Date(clock.now())
      const entryFor = (rule: string) =>
        newEntry(clock, { action: 'key.revoke', by, detail: { name: rule, fingerprint, exchanged: true } })
      const isExchanged =
        PROJECT_NAME.test(name) &&
        (await inTurn(turnOf(name, by), () => store.revokeExchangedKey(name, by, fingerprint, entryFor)))
      if (isExchanged) return
      let revoked: ProjectKey | undefined
      await change(
        name,
        by,
        ({ keys }) => {
          revoked = validKey(keys, fingerprint, now)
          return { keys: revoked === undefined ? keys : revokeKey(keys, revoked, now) }
        },
        ({ generation }) =>
          revoked === undefined
            ? newEntry(clock, { action: 'project.update', by, detail: { missingKey: fingerprint, generation } })
            : newEntry(clock, { action: 'key.revoke', by, detail: { name: revoked.name, fingerprint, generation } }),
      )
      if (revoked === undefined) throw noSuch('key')
    },
  }
}

/** Where the public key of a new key comes from: without one, a pair is generated. Its private key is not stored. */
type PublicKeySource = { readonly publicKey: string | undefined }

function publicKeyOf(source: PublicKeySource): { publicKey: Uint8Array; privateKey?: string } {
  if (source.publicKey !== undefined) return { publicKey: readPublicKey(source.publicKey) }
  const { publicKeyHex, privateJwk } = generateKeyPair()
  return { publicKey: Buffer.from(publicKeyHex, 'hex'), privateKey: privateJwk }
}

/** A new key in the audit log. */
function describeKey(keys: readonly ProjectKey[], id: string): Detail {
  const key = keys.find((each) => each.id === id)
  if (key === undefined) return {}
  const { name, publicKey, expiresAt, scope } = key
  return {
    ...{ name, fingerprint: fingerprintOf(publicKey), publicKey: publicKeyToHex(publicKey) },
    ...(expiresAt !== null && { expiresAt: expiresAt.toISOString() }),
    ...describeScope(scope),
  }
}

/** A scope in the audit log; empty for one that allows everything. */
function describeScope({ access, envs }: Scope): Detail {
  return {
    ...(access !== FULL_SCOPE.access && { access }),
    ...(envs !== null && { envs: envs.join(',') }),
  }
}

/** Shows the stored key of a project that has no authentic one, although it cannot be used. */
function present(sealed: SealedProject, project: StoredProject, now: Date): Project {
  const shown = representativeKey(project.keys.length > 0 ? project.keys : sealed.keys, now)
  return {
    id: project.name,
    name: project.name,
    publicKey: shown === undefined ? '' : publicKeyToHex(shown.publicKey),
    createdAt: project.createdAt,
    requireContentDigest: project.requireContentDigest,
    keys: listKeys(project.keys, now, { ended: false }),
  }
}

function readPublicKey(publicKey: string): Uint8Array {
  try {
    return parsePublicKey(publicKey)
  } catch (error) {
    if (error instanceof SignatureError) throw apiError('invalid_public_key', undefined, { cause: error })
    throw error
  }
}
