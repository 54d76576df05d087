import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { isId, newId } from '@vault-and-tracker/service-kit/ids'
import { type By, type NewEntry, newEntry } from '../audit/audit.ts'
import { apiError } from '../errors.ts'
import { type AdministratorRow, isCode, type RowCodes } from '../keyring/row-codes.ts'
import type { OnRefused } from '../projects/authentic-projects.ts'
import { ROLES, type Role } from './permissions.ts'

/** A named administrator. Only the hash of their token is kept. */
export type NamedAdministrator = AdministratorRow & { readonly role: Role }

/** The row of an administrator with its code. Anybody may have written it. */
export type SealedAdministrator = AdministratorRow & { readonly code: Buffer }

/** Named administrators. Every writing method is one transaction together with its audit entry. */
export type AdministratorStore = {
  list(): Promise<readonly SealedAdministrator[]>
  findByTokenHash(tokenHash: Buffer): Promise<SealedAdministrator | undefined>
  /** Returns false when there are so many administrators already. */
  create(administrator: SealedAdministrator, most: number, entry: NewEntry): Promise<boolean>
  remove(id: string, entry: NewEntry): Promise<boolean>
}

/** The named administrators of the vault. */
export type Administrators = ReturnType<typeof createAdministrators>

/** 256 bits, so that a hash without salt and stretching is enough. */
const TOKEN_BYTES = 32

const MOST = 1_000

/** Adds, lists, removes and recognises named administrators. */
export function createAdministrators(deps: {
  store: AdministratorStore
  codes: Pick<RowCodes, 'administrator'>
  onRefused: OnRefused
  clock: Clock
}) {
  const { store, codes, onRefused, clock } = deps

  /** The administrator of a row that the vault wrote; undefined for any other. */
  function open(row: SealedAdministrator): NamedAdministrator | undefined {
    const role = ROLES.find((known) => known === row.role)
    if (role !== undefined && isCode(codes.administrator(row), row.code)) return { ...row, role }
    onRefused('administrators', { administrator: row.id })
    return undefined
  }

  return {
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
      return { id: row.id, token }
    },

    /** Ends the token of an administrator at once. @throws ApiError not_found */
    remove: async (id: string, by: By): Promise<void> => {
      const entry = newEntry(clock, { action: 'administrator.delete', by, detail: { administrator: id } })
      if (!isId(id) || !(await store.remove(id, entry))) throw apiError('not_found')
    },

    /** Whose token it is; undefined for a token of nobody, or one that has expired. */
    findByToken: async (token: string): Promise<NamedAdministrator | undefined> => {
      const row = await store.findByTokenHash(hashOf(token))
      const found = row && open(row)
      if (found === undefined) return undefined
      return found.expiresAt === null || found.expiresAt.getTime() > clock.now() ? found : undefined
    },
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
