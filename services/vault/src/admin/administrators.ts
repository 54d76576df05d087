import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import { type By, type NewEntry, newEntry } from '../audit/audit.ts'
import { apiError } from '../errors.ts'
import { type AdministratorProjectRow, type AdministratorRow, isCode, type RowCodes } from '../keyring/row-codes.ts'
import type { OnRefused } from '../projects/authentic-projects.ts'
import type { ProjectRef } from '../projects/projects.ts'
import { ROLES, type Role } from './permissions.ts'

/** A named administrator. Only the hash of their token is kept. */
export type NamedAdministrator = AdministratorRow & { readonly role: Role }

/** An administrator with the projects that their names stand for. */
export type SignedInAdministrator = NamedAdministrator & {
  /** Null for all. */
  readonly bound: readonly ProjectRef[] | null
  /** Names that no project ever had since they were given. */
  readonly unbound: readonly string[]
}

/** The row of a project that an administrator was given. Anybody may have written it. */
export type SealedAdministratorProject = AdministratorProjectRow & { readonly code: Buffer }

/** The row of an administrator with its code. Anybody may have written it. */
export type SealedAdministrator = AdministratorRow & { readonly code: Buffer }

/** Named administrators. Every writing method is one transaction together with its audit entry. */
export type AdministratorStore = {
  list(): Promise<readonly SealedAdministrator[]>
  findByTokenHash(tokenHash: Buffer): Promise<SealedAdministrator | undefined>
  /** Returns false when there are so many administrators already. */
  create(administrator: SealedAdministrator, most: number, entry: NewEntry): Promise<boolean>
  remove(id: string, entry: NewEntry): Promise<boolean>
  /** The projects that an administrator was given, and whether they are there still. */
  projectsOf(administratorId: string): Promise<readonly (SealedAdministratorProject & { readonly exists: boolean })[]>
  /** The projects whose names administrators were given and which they are not bound to, nor to another one of the name. */
  unboundProjects(): Promise<readonly AdministratorProjectRow[]>
  /** Binds administrators to projects, unless they are bound to one of the name. */
  bind(rows: readonly SealedAdministratorProject[]): Promise<void>
}

/** The named administrators of the vault. */
export type Administrators = ReturnType<typeof createAdministrators>

/** 256 bits, so that a hash without salt and stretching is enough. */
const TOKEN_BYTES = 32

const MOST = 1_000

/** Adds, lists, removes and recognises named administrators. */
export function createAdministrators(deps: {
  store: AdministratorStore
  codes: Pick<RowCodes, 'administrator' | 'administratorProject'>
  onRefused: OnRefused
  clock: Clock
  /** Called when names could not be bound to projects, which is repeated later. */
  onUnbound: (error: unknown) => void
}) {
  const { store, codes, onRefused, clock, onUnbound } = deps

  /** The administrator of a row that the vault wrote; undefined for any other. */
  function open(row: SealedAdministrator): NamedAdministrator | undefined {
    const role = ROLES.find((known) => known === row.role)
    if (role !== undefined && isCode(codes.administrator(row), row.code)) return { ...row, role }
    onRefused('administrators', { administrator: row.id })
    return undefined
  }

  /** A name is bound to the first project that has it. Another project of the name, after a deletion, is another one. */
  async function bindUnbound(): Promise<void> {
    const rows = await store.unboundProjects()
    if (rows.length > 0) await store.bind(rows.map((row) => ({ ...row, code: codes.administratorProject(row) })))
  }

  /** As {@link bindUnbound}, after a change that is committed already: its answer does not depend on this. */
  const bindOrLater = (): Promise<void> => bindUnbound().catch(onUnbound)

  async function withProjects(administrator: NamedAdministrator): Promise<SignedInAdministrator> {
    const { id, projects } = administrator
    if (projects === null) return { ...administrator, bound: null, unbound: [] }
    const rows = await store.projectsOf(id)
    const names = new Set(rows.map(({ name }) => name))
    const bound = rows.filter((row) => {
      const isAuthentic = isCode(codes.administratorProject(row), row.code)
      if (!isAuthentic) onRefused('administrators', { administrator: id, project: row.name })
      return isAuthentic && row.exists
    })
    return {
      ...administrator,
      bound: bound.map(({ name, projectUid }) => ({ name, uid: projectUid })),
      unbound: projects.filter((name) => !names.has(name)),
    }
  }

  return {
    bindUnbound,
    bindOrLater,

    /** All administrators, the expired ones too, in the order in which they were added. */
    list: async (): Promise<readonly NamedAdministrator[]> => (await store.list()).flatMap((row) => open(row) ?? []),

    /**
     * Adds an administrator.
     *
     * @returns the token, which is kept nowhere
     * @throws ApiError invalid_request when the expiry is not in the future, or there are 1,000 administrators already
     */
    add: async (input: {
      name: string
      role: Role
      projects: readonly string[] | null
      expiresAt: Date | null
      by: By
    }): Promise<{ id: string; token: string }> => {
      const { name, role, projects, expiresAt, by } = input
      const createdAt = new Date(clock.now())
      if (expiresAt !== null && expiresAt <= createdAt)
        throw apiError('invalid_request', 'expiresAt: must be in the future')
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      const row = { id: newId(), name, tokenHash: hashOf(token), role, projects, createdAt, expiresAt }
      const entry = newEntry(clock, {
        action: 'administrator.create',
        by,
        detail: { administrator: row.id, name, role, projects: projects?.join(',') ?? null },
      })
      if (!(await store.create({ ...row, code: codes.administrator(row) }, MOST, entry)))
        throw apiError('invalid_request', `There are ${String(MOST)} administrators already.`)
      await bindOrLater()
      return { id: row.id, token }
    },

    /** Ends the token of an administrator at once. @throws ApiError not_found */
    remove: async (id: string, by: By): Promise<void> => {
      const entry = newEntry(clock, { action: 'administrator.delete', by, detail: { administrator: id } })
      if (!isId(id) || !(await store.remove(id, entry))) throw apiError('not_found')
    },

    /** Whose token it is; undefined for a token of nobody, or one that has expired. */
    findByToken: async (token: string): Promise<SignedInAdministrator | undefined> => {
      const row = await store.findByTokenHash(hashOf(token))
      const found = row && open(row)
      if (found === undefined) return undefined
      const isExpired = found.expiresAt !== null && found.expiresAt.getTime() <= clock.now()
      return isExpired ? undefined : withProjects(found)
    },
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
