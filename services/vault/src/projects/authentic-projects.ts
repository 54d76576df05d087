import { apiError } from '../errors.ts'
import { isCode, type RowCodes } from '../keyring/row-codes.ts'
import type { ProjectKey } from './project-keys.ts'

/** A project with its keys, as the vault acts on it. */
export type StoredProject = {
  readonly uid: string
  readonly name: string
  readonly requireContentDigest: boolean
  readonly createdAt: Date
  /** Grows with every change of the project or its keys. */
  readonly generation: number
  readonly keys: readonly ProjectKey[]
}

/** The row of a project and those of its keys, each with its code. Anybody may have written them. */
export type SealedProject = Omit<StoredProject, 'keys'> & {
  readonly code: Buffer | null
  readonly keys: readonly (ProjectKey & { readonly code: Buffer | null })[]
}

/** A table of which rows can be refused. */
export const REFUSED_TABLES = ['projects', 'project_keys', 'environments', 'administrators', 'audit_seals'] as const
export type RefusedTable = (typeof REFUSED_TABLES)[number]

/** Is told of every row that was refused because its code is missing or wrong. */
export type OnRefused = (table: RefusedTable, place: object) => void

/** Authenticates projects. */
export type AuthenticProjects = ReturnType<typeof createAuthenticProjects>

/** Makes the codes of projects and their keys, and refuses rows that were not written with the keyring. */
export function createAuthenticProjects(deps: { codes: RowCodes; onRefused: OnRefused }) {
  const { codes, onRefused } = deps

  function isAuthentic(project: SealedProject): boolean {
    if (isCode(codes.project(project), project.code)) return true
    onRefused('projects', { project: project.name })
    return false
  }

  /** The project with those of its keys that are authentic. Where its own row is not, no key is, and rules are strict. */
  function open(sealed: SealedProject): StoredProject {
    const project = { ...withoutCode(sealed), keys: [] }
    if (!isAuthentic(sealed)) return { ...project, requireContentDigest: true }
    const authentic = sealed.keys.filter((key) => {
      if (isCode(codes.key(project, { ...key, ...key.scope }), key.code)) return true
      onRefused('project_keys', { project: project.name, publicKey: Buffer.from(key.publicKey).toString('hex') })
      return false
    })
    return { ...project, keys: authentic.map(withoutCode) }
  }

  function seal(project: StoredProject): SealedProject {
    return {
      ...project,
      code: codes.project(project),
      keys: project.keys.map((key) => ({ ...key, code: codes.key(project, { ...key, ...key.scope }) })),
    }
  }

  return {
    open,
    seal,
    /**
     * The project after a change, sealed as its next generation. Keys that are not authentic are not among its keys.
     *
     * @param change undefined where there is nothing to change: then the project is returned as it is
     * @throws ApiError decryption_failed when the project itself is not authentic: the change would make it so
     */
    change: (
      sealed: SealedProject,
      change: (project: StoredProject) => Partial<StoredProject> | undefined,
    ): SealedProject => {
      if (!isAuthentic(sealed)) throw apiError('decryption_failed', 'The stored project was not written by the vault.')
      const project = open(sealed)
      const changed = change(project)
      return changed === undefined ? sealed : seal({ ...project, ...changed, generation: project.generation + 1 })
    },
  }
}

function withoutCode<Row extends { code: Buffer | null }>(row: Row): Omit<Row, 'code'> {
  const rest: Omit<Row, 'code'> & { code?: Buffer | null } = { ...row }
  delete rest.code
  return rest
}
