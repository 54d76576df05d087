import {
  createVerifyKey,
  generateKeyPair,
  parsePublicKey,
  publicKeyToHex,
  SignatureError,
  type VerifyKey,
} from '@vault-and-tracker/http-signatures'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { type By, type Detail, type NewEntry, newEntry } from '../audit/audit.ts'
import { apiError } from '../errors.ts'
import type { DataKeys, StoredDataKey } from '../keyring/data-keys.ts'
import type { Wanted } from '../limits/wanted.ts'
import type { WriteTurns } from '../limits/write-turns.ts'
import type { AuthenticProjects, SealedProject, StoredProject } from './authentic-projects.ts'
import {
  applyChange,
  FULL_SCOPE,
  fingerprintOf,
  isExpired,
  type ProjectKey,
  replacedScope,
  replaceKey,
  revokeKey,
  type Scope,
} from './project-keys.ts'

/** A project as administrators see it. Its id is its name. */
export type Project = {
  readonly id: string
  readonly name: string
  readonly publicKey: string
  readonly createdAt: Date
  readonly requireContentDigest: boolean
}

/** What signatures of a project are verified with. `notAfter` is null for a key that does not end. */
export type SigningProject = {
  readonly uid: string
  readonly name: string
  readonly requireContentDigest: boolean
  /** Every statement for a caller compares it with the stored one: another one means that something changed. */
  readonly generation: number
  readonly keys: readonly { id: string; fingerprint: string; key: VerifyKey; notAfter: Date | null; scope: Scope }[]
}

/** A project by its name and by what tells it from another one of the name. */
export type ProjectRef = { readonly uid: string; readonly name: string }

/** The projects that an administrator may touch; null for all. */
export type Theirs = readonly ProjectRef[] | null

/** The uids of these projects, none for all: to be used where only some are theirs. */
export function uidsOf(projects: Theirs | undefined): readonly string[] {
  return (projects ?? []).map(({ uid }) => uid)
}

/** Who changes a project, which of them they may, and whether they still wait for it. */
export type Changing = By & { readonly wanted?: Wanted | undefined; readonly projects?: Theirs }

/** Projects and their keys. Every writing method is one transaction together with its audit entry. */
export type ProjectStore = {
  list(): Promise<readonly SealedProject[]>
  find(name: string): Promise<SealedProject | undefined>
  /** @throws ApiError project_exists */
  create(project: SealedProject, by: Changing, dataKey: StoredDataKey, entry: NewEntry): Promise<void>
  /** Locks the project, calls `decide` with it and writes the result. Returns false for an unknown project. */
  change(
    name: string,
    by: Changing,
    decide: (project: SealedProject) => SealedProject,
    entryFor: (changed: SealedProject) => NewEntry,
  ): Promise<boolean>
  /** Deletes the project with its keys, data keys, secrets and versions. */
  remove(name: string, by: Changing, entry: NewEntry): Promise<boolean>
}

/** The projects of the vault. */
export type Projects = ReturnType<typeof createProjects>

/** A project's name: 1 to 63 letters, digits, dots, dashes and underscores. */
export const PROJECT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/

/** Whether a text can be a project's name: 1 to 63 letters, digits, dots, dashes and underscores. */
export function isProjectName(text: string): boolean {
  return PROJECT_NAME.test(text)
}

/** Registers, lists, changes and deletes projects, and provides the keys that signatures are verified with. */
export function createProjects(deps: {
  store: ProjectStore
  authentic: AuthenticProjects
  dataKeys: DataKeys
  clock: Clock
  inTurn: WriteTurns
  /** Called after a project was registered. */
  onCreate?: () => Promise<void>
  /** Called with the name of every project that this process changed. */
  onChange: (name: string) => void
}) {
  const { store, authentic, dataKeys, clock, inTurn, onCreate, onChange } = deps

  const turnOf = (project: string, { actor, wanted }: Changing) => ({ owner: actor, project, wanted })

  /** @throws ApiError not_found */
  async function change(
    name: string,
    by: Changing,
    decide: (project: SealedProject) => SealedProject,
    entryFor: (changed: SealedProject) => NewEntry,
  ): Promise<void> {
    const isChanged =
      isProjectName(name) && (await inTurn(turnOf(name, by), () => store.change(name, by, decide, entryFor)))
    if (!isChanged) throw apiError('not_found')
    onChange(name)
  }

  return {
    /** All projects in the order of their names, each with its valid keys, the newest first. */
    list: async (): Promise<readonly (Project & { readonly keys: readonly ProjectKey[] })[]> => {
      const now = new Date(clock.now())
      return (await store.list()).map((sealed) => {
        const project = authentic.open(sealed)
        return { ...present(sealed, project), keys: validKeys(project, now) }
      })
    },

    /** @throws ApiError invalid_public_key, project_exists */
    create: async (input: {
      name: string
      publicKey: string
      requireContentDigest: boolean
      scope: Scope
      by: Changing
    }): Promise<void> => {
      const publicKey = readPublicKey(input.publicKey)
      const now = new Date(clock.now())
      const uid = newId()
      const entry = newEntry(clock, {
        action: 'project.create',
        by: input.by,
        detail: { publicKey: publicKeyToHex(publicKey), generation: 1, ...describeScope(input.scope) },
      })
      const project = {
        uid,
        name: input.name,
        requireContentDigest: input.requireContentDigest,
        createdAt: now,
        generation: 1,
        keys: [{ id: newId(), publicKey, createdAt: now, notAfter: null, scope: input.scope, lastUsedAt: null }],
      }
      const dataKey = await dataKeys.create(uid, 1)
      await inTurn(turnOf(input.name, input.by), () => store.create(authentic.seal(project), input.by, dataKey, entry))
      onChange(input.name)
      await onCreate?.()
    },

    /**
     * Replaces the key. Without `publicKey` a key pair is generated; the private key is returned and not stored.
     *
     * @param input `overlapMs` is the time in milliseconds for which replaced keys stay valid; without `scope` the key
     *   has that of the one it replaces
     * @throws ApiError not_found, invalid_public_key, invalid_request when the project has the key already
     */
    rotate: async (input: {
      name: string
      publicKey: string | undefined
      overlapMs: number
      scope: Scope | undefined
      by: Changing
    }): Promise<{ privateKey: string } | undefined> => {
      const pair = input.publicKey === undefined ? generateKeyPair() : undefined
      const publicKey =
        pair === undefined ? readPublicKey(input.publicKey ?? '') : Buffer.from(pair.publicKeyHex, 'hex')
      const now = new Date(clock.now())
      const id = newId()
      const decide = (sealed: SealedProject) =>
        authentic.change(sealed, ({ keys }) => {
          const scope = input.scope ?? replacedScope(keys, now)
          const added = { id, publicKey, createdAt: now, notAfter: null, scope, lastUsedAt: null }
          return { keys: applyChange(keys, replaceKey(keys, added, now, input.overlapMs)) }
        })
      const entryFor = ({ generation, keys }: SealedProject) =>
        newEntry(clock, {
          action: 'rotate',
          by: input.by,
          detail: {
            ...{ publicKey: publicKeyToHex(publicKey), overlapSeconds: input.overlapMs / 1000, generation },
            ...describeScope(keys.find((key) => key.id === id)?.scope ?? FULL_SCOPE),
          },
        })
      await change(input.name, input.by, decide, entryFor)
      return pair && { privateKey: pair.privateJwk }
    },

    /** @throws ApiError not_found */
    setRequireContentDigest: async (input: { name: string; required: boolean; by: Changing }): Promise<void> => {
      const { name, required, by } = input
      const decide = (sealed: SealedProject) =>
        authentic.change(sealed, (project) =>
          project.requireContentDigest === required ? undefined : { requireContentDigest: required },
        )
      const entryFor = ({ generation }: SealedProject) =>
        newEntry(clock, { action: 'project.update', by, detail: { requireContentDigest: required, generation } })
      await change(name, by, decide, entryFor)
    },

    /** @throws ApiError not_found */
    remove: async ({ name, by }: { name: string; by: Changing }): Promise<void> => {
      const entry = newEntry(clock, { action: 'project.delete', by })
      const isRemoved = isProjectName(name) && (await inTurn(turnOf(name, by), () => store.remove(name, by, entry)))
      if (!isRemoved) throw apiError('not_found')
      onChange(name)
    },

    /** The valid keys of a project, the newest first. @throws ApiError not_found */
    keysOf: async (name: string): Promise<readonly ProjectKey[]> => {
      const sealed = isProjectName(name) ? await store.find(name) : undefined
      if (sealed === undefined) throw apiError('not_found')
      return validKeys(authentic.open(sealed), new Date(clock.now()))
    },

    /** Makes a valid key invalid for every replica, also where it is the only one. @throws ApiError not_found */
    revokeKey: async (input: { name: string; fingerprint: string; by: Changing }): Promise<void> => {
      const { name, fingerprint, by } = input
      const now = new Date(clock.now())
      const decide = (sealed: SealedProject) =>
        authentic.change(sealed, ({ keys }) => ({ keys: revokeKey(keys, fingerprint, now) }))
      const entryFor = ({ generation }: SealedProject) =>
        newEntry(clock, { action: 'key.revoke', by, detail: { fingerprint, generation } })
      await change(name, by, decide, entryFor)
    },

    /** What signatures of the project are verified with; undefined for an unknown project. */
    findWithVerifyKeys: async (name: string): Promise<SigningProject | undefined> => {
      const sealed = isProjectName(name) ? await store.find(name) : undefined
      if (sealed === undefined) return undefined
      const project = authentic.open(sealed)
      const now = new Date(clock.now())
      return {
        uid: project.uid,
        name: project.name,
        requireContentDigest: project.requireContentDigest,
        generation: project.generation,
        keys: project.keys
          .filter((key) => !isExpired(key, now))
          .map(({ id, publicKey, notAfter, scope }) => ({
            ...{ id, notAfter, scope, fingerprint: fingerprintOf(publicKey) },
            key: createVerifyKey(publicKey),
          })),
      }
    },
  }
}

/** The newest first. */
function validKeys({ keys }: StoredProject, now: Date): readonly ProjectKey[] {
  return keys.filter((key) => !isExpired(key, now)).toReversed()
}

/** A scope in the audit log; nothing for one that allows everything. */
function describeScope({ access, envs }: Scope): Detail {
  return {
    ...(access !== FULL_SCOPE.access && { access }),
    ...(envs !== null && { envs: envs.join(',') }),
  }
}

/** Of a project without an authentic key, which nobody can use, the stored key is shown. */
function present(sealed: SealedProject, project: StoredProject): Project {
  const keys = project.keys.length > 0 ? project.keys : sealed.keys
  const newest = keys.find((key) => key.notAfter === null) ?? keys[0]
  return {
    id: project.name,
    name: project.name,
    publicKey: newest === undefined ? '' : publicKeyToHex(newest.publicKey),
    createdAt: project.createdAt,
    requireContentDigest: project.requireContentDigest,
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
