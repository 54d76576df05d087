import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import { type AllowedProjects, ROLES, type Role } from '../access/administrator.ts'
import { type By, type NewEntry, newEntry } from '../audit/audit.ts'
import { apiError, noSuch } from '../errors.ts'
import type { AdministratorProjectRow, AdministratorRow, AuthenticRows, Sealed } from '../integrity/rows.ts'

/** A named administrator. Only the hash of the token is stored. */
export type NamedAdministrator = AdministratorRow & { readonly role: Role }

/** An administrator with the projects to which the names in their list refer. */
export type SignedInAdministrator = NamedAdministrator & {
  /** Null for all projects. */
  readonly bound: AllowedProjects
  /** Names that no project has had since they were added to the list. */
  readonly unbound: readonly string[]
}

/** Named administrators. Every writing method is one transaction, together with its audit entry. */
export type AdministratorStore = {
  list(): Promise<readonly Sealed<AdministratorRow>[]>
  find(by: { tokenHash: Buffer } | { id: string }): Promise<Sealed<AdministratorRow> | undefined>
  /** Returns false if there are `max` administrators already. */
  create(administrator: Sealed<AdministratorRow>, max: number, entry: NewEntry): Promise<boolean>
  remove(id: string, entry: NewEntry): Promise<boolean>
  /** The projects an administrator is bound to, and whether they still exist. */
  projectsOf(administratorId: string): Promise<readonly (Sealed<AdministratorProjectRow> & { exists: boolean })[]>
  /** Projects with a name in an administrator's list that is not bound to any project. */
  unboundProjects(): Promise<readonly AdministratorProjectRow[]>
  /** Binds names to projects, unless they are bound already. */
  bind(rows: readonly Sealed<AdministratorProjectRow>[]): Promise<void>
}

/** The named administrators of the vault. */
export type Administrators = ReturnType<typeof createAdministrators>

/** 256 bits, so a plain hash is sufficient. */
const TOKEN_BYTES = 32

const MAX_ADMINISTRATORS = 1_000

/**
 * Creates the use cases of named administrators.
 *
 * @param deps `onUnbound` is called if names could not be bound to projects, which is retried later
 */
export function createAdministrators(deps: {
  store: AdministratorStore
  rows: AuthenticRows
  clock: Clock
  onUnbound: (error: unknown) => void
}) {
  const { store, rows, clock, onUnbound } = deps

  function open(row: Sealed<AdministratorRow>): NamedAdministrator | undefined {
    const role = rows.administrators.accept(row) ? ROLES.find((known) => known === row.role) : undefined
    return role && { ...row, role }
  }

  /** Binds names to the first project that has them. After its deletion, a new project of the same name is a different one. */
  async function bindUnbound(): Promise<void> {
    const unbound = await store.unboundProjects()
    if (unbound.length > 0) await store.bind(unbound.map(rows.administratorProjects.seal))
  }

  /** As {@link bindUnbound}, after a change whose answer does not depend on it. */
  const bindOrLater = (): Promise<void> => bindUnbound().catch(onUnbound)

  async function withProjects(administrator: NamedAdministrator): Promise<SignedInAdministrator> {
    const { id, projects } = administrator
    if (projects === null) return { ...administrator, bound: null, unbound: [] }
    const bindings = await store.projectsOf(id)
    const names = new Set(bindings.map(({ name }) => name))
    return {
      ...administrator,
      bound: bindings
        .filter((binding) => rows.administratorProjects.accept(binding) && binding.exists)
        .map(({ name, projectUid }) => ({ name, uid: projectUid })),
      unbound: projects.filter((name) => !names.has(name)),
    }
  }

  async function findValid(by: Parameters<AdministratorStore['find']>[0]): Promise<SignedInAdministrator | undefined> {
    const row = await store.find(by)
    const found = row && open(row)
    if (found === undefined) return undefined
    const isExpired = found.expiresAt !== null && found.expiresAt.getTime() <= clock.now()
    return isExpired ? undefined : withProjects(found)
  }

  return {
    bindUnbound,
    bindOrLater,

    /** Returns all administrators, including expired ones, in the order in which they were added. */
    list: async (): Promise<readonly NamedAdministrator[]> => (await store.list()).flatMap((row) => open(row) ?? []),

    /**
     * Adds an administrator.
     *
     * @returns the token, which is not stored
     * @throws ApiError invalid_request if the expiry is not in the future, or there are 1,000 administrators already
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
      if (!(await store.create(rows.administrators.seal(row), MAX_ADMINISTRATORS, entry)))
        throw apiError(
          'invalid_request',
          `There are already ${String(MAX_ADMINISTRATORS)} administrators. Remove one first.`,
        )
      await bindOrLater()
      return { id: row.id, token }
    },

    /** Revokes the token of an administrator immediately. @throws ApiError not_found */
    remove: async (id: string, by: By): Promise<void> => {
      const entry = newEntry(clock, { action: 'administrator.delete', by, detail: { administrator: id } })
      if (!isId(id) || !(await store.remove(id, entry))) throw noSuch('administrator')
    },

    /** Returns the administrator with a token, undefined if the token is unknown or expired. */
    findByToken: (token: string): Promise<SignedInAdministrator | undefined> => findValid({ tokenHash: hashOf(token) }),

    /** Returns the administrator with an id, undefined if there is none or their token has expired. */
    findById: async (id: string): Promise<SignedInAdministrator | undefined> =>
      isId(id) ? findValid({ id }) : undefined,
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
