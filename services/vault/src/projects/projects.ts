import { generateKeyPair, parsePublicKey, publicKeyToHex, SignatureError } from '@vault-and-tracker/http-signatures'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Editor } from '../access/administrator.ts'
import { PROJECT_NAME } from '../access/names.ts'
import { FULL_SCOPE, type Scope } from '../access/project-caller.ts'
import type { Administrators } from '../admin/administrators.ts'
import { type Detail, type NewEntry, newEntry } from '../audit/audit.ts'
import { apiError } from '../errors.ts'
import type { AuthenticRows, ProjectKey, SealedProject, StoredProject } from '../integrity/rows.ts'
import type { DataKeys, StoredDataKey } from '../keyring/data-keys.ts'
import type { WriteTurns } from '../limits/write-turns.ts'
import { isExpired, replacedScope, replaceKey, revokeKey } from './project-keys.ts'
import type { SigningProjects } from './signing-projects.ts'

/** A project as administrators see it, with its valid keys, the newest first. Its id is its name. */
export type Project = {
  readonly id: string
  readonly name: string
  readonly publicKey: string
  readonly createdAt: Date
  readonly requireContentDigest: boolean
  readonly keys: readonly ProjectKey[]
}

/** Projects and their keys. Every writing method is one transaction, together with its audit entry. */
export type ProjectStore = {
  list(): Promise<readonly SealedProject[]>
  find(name: string): Promise<SealedProject | undefined>
  /** @throws ApiError project_exists */
  create(project: SealedProject, by: Editor, dataKey: StoredDataKey, entry: NewEntry): Promise<void>
  /** Locks the project, calls `decide` with it and writes the result. Returns false if the project does not exist. */
  change(
    name: string,
    by: Editor,
    decide: (project: SealedProject) => SealedProject,
    entryFor: (changed: SealedProject) => NewEntry,
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
  inTurn: WriteTurns
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
    if (!isChanged) throw apiError('not_found')
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
      const key = { id: newId(), publicKey, createdAt, notAfter: null, scope, lastUsedAt: null }
      const project = rows.sealProject({ uid, name, requireContentDigest, createdAt, generation: 1, keys: [key] })
      const dataKey = await dataKeys.create(uid, 1)
      await inTurn(turnOf(name, by), () => store.create(project, by, dataKey, entry))
      signingProjects.forget(name)
      await administrators.bindOrLater()
    },

    /**
     * Replaces the key. Without `publicKey` a key pair is generated; the private key is returned and not stored.
     *
     * @param input `overlapMs` is how long replaced keys stay valid; without `scope` the key has that of the replaced one
     * @throws ApiError not_found, invalid_public_key, invalid_request if the project already has the key
     */
    rotate: async (input: {
      name: string
      publicKey: string | undefined
      overlapMs: number
      scope: Scope | undefined
      by: Editor
    }): Promise<{ privateKey: string } | undefined> => {
      const { name, overlapMs, by } = input
      const pair = input.publicKey === undefined ? generateKeyPair() : undefined
      const publicKey =
        pair === undefined ? readPublicKey(input.publicKey ?? '') : Buffer.from(pair.publicKeyHex, 'hex')
      const now = new Date(clock.now())
      const id = newId()
      const rotateKeys = ({ keys }: StoredProject) => {
        const scope = input.scope ?? replacedScope(keys, now)
        const added = { id, publicKey, createdAt: now, notAfter: null, scope, lastUsedAt: null }
        return { keys: replaceKey(keys, added, now, overlapMs) }
      }
      const entryFor = ({ generation, keys }: SealedProject) =>
        newEntry(clock, {
          action: 'rotate',
          by,
          detail: {
            ...{ publicKey: publicKeyToHex(publicKey), overlapSeconds: overlapMs / 1000, generation },
            ...describeScope(keys.find((key) => key.id === id)?.scope ?? FULL_SCOPE),
          },
        })
      await change(name, by, rotateKeys, entryFor)
      return pair && { privateKey: pair.privateJwk }
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
      if (!isRemoved) throw apiError('not_found')
      signingProjects.forget(name)
    },

    /** Returns the valid keys of a project, the newest first. @throws ApiError not_found */
    keysOf: async (name: string): Promise<readonly ProjectKey[]> => {
      const sealed = PROJECT_NAME.test(name) ? await store.find(name) : undefined
      if (sealed === undefined) throw apiError('not_found')
      return validKeys(rows.openProject(sealed), new Date(clock.now()))
    },

    /** Revokes a valid key at all replicas, even if it is the only one. @throws ApiError not_found */
    revokeKey: async (input: { name: string; fingerprint: string; by: Editor }): Promise<void> => {
      const { name, fingerprint, by } = input
      const now = new Date(clock.now())
      await change(
        name,
        by,
        ({ keys }) => ({ keys: revokeKey(keys, fingerprint, now) }),
        ({ generation }) => newEntry(clock, { action: 'key.revoke', by, detail: { fingerprint, generation } }),
      )
    },
  }
}

function validKeys({ keys }: StoredProject, now: Date): readonly ProjectKey[] {
  return keys.filter((key) => !isExpired(key, now)).toReversed()
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
  const keys = project.keys.length > 0 ? project.keys : sealed.keys
  const newest = keys.find((key) => key.notAfter === null) ?? keys[0]
  return {
    id: project.name,
    name: project.name,
    publicKey: newest === undefined ? '' : publicKeyToHex(newest.publicKey),
    createdAt: project.createdAt,
    requireContentDigest: project.requireContentDigest,
    keys: validKeys(project, now),
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
