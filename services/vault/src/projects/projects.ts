import {
  createVerifyKey,
  generateKeyPair,
  parsePublicKey,
  publicKeyToHex,
  SignatureError,
  type VerifyKey,
} from '@vault-and-tracker/http-signatures'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { newId } from '@vault-and-tracker/service-kit/ids'
import { type NewEntry, newEntry } from '../audit/audit.ts'
import { apiError } from '../errors.ts'
import type { DataKeys, StoredDataKey } from '../keyring/data-keys.ts'
import { isExpired, type KeyChange, type ProjectKey, replaceKey } from './project-keys.ts'

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
  readonly keys: readonly { key: VerifyKey; notAfter: Date | null }[]
}

/** A project's row with its keys. */
export type StoredProject = {
  readonly uid: string
  readonly name: string
  readonly requireContentDigest: boolean
  readonly createdAt: Date
  readonly keys: readonly ProjectKey[]
}

/** Projects and their keys. Every writing method is one transaction together with its audit entry. */
export type ProjectStore = {
  list(): Promise<readonly StoredProject[]>
  find(name: string): Promise<StoredProject | undefined>
  /** @throws ApiError project_exists */
  create(project: StoredProject, dataKey: StoredDataKey, entry: NewEntry): Promise<void>
  /** Locks the project, calls `decide` with its keys and applies the change. Returns false for an unknown project. */
  changeKeys(name: string, decide: (keys: readonly ProjectKey[]) => KeyChange, entry: NewEntry): Promise<boolean>
  setRequireContentDigest(name: string, required: boolean, entry: NewEntry): Promise<boolean>
  /** Deletes the project with its keys, data keys, secrets and versions. */
  remove(name: string, entry: NewEntry): Promise<boolean>
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
  dataKeys: DataKeys
  clock: Clock
  /** Called with the name of every project that this process changed. */
  onChange: (name: string) => void
}) {
  const { store, dataKeys, clock, onChange } = deps

  return {
    list: async (): Promise<readonly Project[]> => (await store.list()).map(present),

    /** @throws ApiError invalid_public_key, project_exists */
    create: async (input: {
      name: string
      publicKey: string
      requireContentDigest: boolean
      address: string
    }): Promise<void> => {
      const publicKey = readPublicKey(input.publicKey)
      const now = new Date(clock.now())
      const uid = newId()
      const entry = newEntry(clock, {
        action: 'project.create',
        address: input.address,
        detail: { publicKey: publicKeyToHex(publicKey) },
      })
      const project = {
        uid,
        name: input.name,
        requireContentDigest: input.requireContentDigest,
        createdAt: now,
        keys: [{ id: newId(), publicKey, createdAt: now, notAfter: null }],
      }
      await store.create(project, dataKeys.create(uid, 1), entry)
      onChange(input.name)
    },

    /**
     * Replaces the key. Without `publicKey` a key pair is generated; the private key is returned and not stored.
     *
     * @param input `overlapMs` is the time in milliseconds for which replaced keys stay valid
     * @throws ApiError not_found, invalid_public_key, invalid_request when the project has the key already
     */
    rotate: async (input: {
      name: string
      publicKey: string | undefined
      overlapMs: number
      address: string
    }): Promise<{ privateKey: string } | undefined> => {
      const pair = input.publicKey === undefined ? generateKeyPair() : undefined
      const publicKey =
        pair === undefined ? readPublicKey(input.publicKey ?? '') : Buffer.from(pair.publicKeyHex, 'hex')
      const now = new Date(clock.now())
      const entry = newEntry(clock, {
        action: 'rotate',
        address: input.address,
        detail: { publicKey: publicKeyToHex(publicKey), overlapSeconds: input.overlapMs / 1000 },
      })
      const added = { id: newId(), publicKey, createdAt: now, notAfter: null }
      const decide = (keys: readonly ProjectKey[]): KeyChange => replaceKey(keys, added, now, input.overlapMs)
      if (!isProjectName(input.name) || !(await store.changeKeys(input.name, decide, entry)))
        throw apiError('not_found')
      onChange(input.name)
      return pair && { privateKey: pair.privateJwk }
    },

    /** @throws ApiError not_found */
    setRequireContentDigest: async (input: { name: string; required: boolean; address: string }): Promise<void> => {
      const { name, required, address } = input
      const entry = newEntry(clock, { action: 'project.update', address, detail: { requireContentDigest: required } })
      if (!isProjectName(name) || !(await store.setRequireContentDigest(name, required, entry)))
        throw apiError('not_found')
      onChange(name)
    },

    /** @throws ApiError not_found */
    remove: async (input: { name: string; address: string }): Promise<void> => {
      const entry = newEntry(clock, { action: 'project.delete', address: input.address })
      if (!isProjectName(input.name) || !(await store.remove(input.name, entry))) throw apiError('not_found')
      onChange(input.name)
    },

    /** What signatures of the project are verified with; undefined for an unknown project. */
    findWithVerifyKeys: async (name: string): Promise<SigningProject | undefined> => {
      const project = isProjectName(name) ? await store.find(name) : undefined
      if (project === undefined) return undefined
      const now = new Date(clock.now())
      return {
        uid: project.uid,
        name: project.name,
        requireContentDigest: project.requireContentDigest,
        keys: project.keys
          .filter((key) => !isExpired(key, now))
          .map((key) => ({ key: createVerifyKey(key.publicKey), notAfter: key.notAfter })),
      }
    },
  }
}

function present(project: StoredProject): Project {
  const newest = project.keys.find((key) => key.notAfter === null) ?? project.keys[0]
  if (newest === undefined) throw new Error(`project ${project.uid} has no key`)
  return {
    id: project.name,
    name: project.name,
    publicKey: publicKeyToHex(newest.publicKey),
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
