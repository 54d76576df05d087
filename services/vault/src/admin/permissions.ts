import { forbidden } from '../audit/refusals.ts'
import type { Wanted } from '../limits/wanted.ts'
import type { ProjectRef } from '../projects/projects.ts'

/** What a named administrator may do: everything that is listed here, or only read. */
export const ROLES = ['administrator', 'auditor'] as const

/** The role of a named administrator. */
export type Role = (typeof ROLES)[number]

/** Whoever made a request with an admin token. */
export type Administrator = {
  readonly kind: 'administrator'
  /** `administrator` for the holder of ADMIN_TOKEN, else followed by a colon and the id. */
  readonly actor: string
  readonly address: string
  /** `holder` of ADMIN_TOKEN: may do everything, and alone makes and removes administrators. */
  readonly role: Role | 'holder'
  /** The projects that they may touch; null for all. */
  readonly projects: readonly ProjectRef[] | null
  /** Names of no project yet, which they may register. */
  readonly unbound: readonly string[]
  /** Whether they still wait for what they write. */
  readonly wanted?: Wanted | undefined
}

/** An endpoint, as far as it decides who may use it; `project` is the one that its path names. */
export type Asked = { readonly method: string; readonly path: string; readonly project: string | undefined }

const ADMINISTRATORS = '/v1/admin/administrators'

/**
 * Whether an administrator may use an endpoint. Where it names a project, that decides before anybody looks for the
 * project, so that the answer does not tell whether it exists.
 */
export function mayUse({ role, projects }: Administrator, { method, path, project }: Asked): boolean {
  if (role === 'holder') return true
  if (role === 'auditor' && method !== 'GET') return false
  if (path.startsWith(ADMINISTRATORS)) return method === 'GET' && projects === null
  return project === undefined || touches({ projects }, project)
}

/** Whether a project is one of those that an administrator may touch. */
export function touches({ projects }: Pick<Administrator, 'projects'>, project: string): boolean {
  return projects === null || projects.some(({ name }) => name === project)
}

/** @throws ApiError forbidden where an administrator may not touch a project that the body or the query names */
export function requireProject(administrator: Administrator, project: string): void {
  if (!touches(administrator, project)) throw forbidden(administrator.actor, project)
}

/** @throws ApiError forbidden where an administrator may not register a project under a name */
export function requireName(administrator: Administrator, name: string): void {
  if (administrator.projects !== null && !administrator.unbound.includes(name))
    throw forbidden(administrator.actor, name)
}

/** The projects whose entries of the audit log an administrator may see, of all or of one; undefined for every project. */
export function visibleTo({ projects }: Administrator, project: string | undefined) {
  const theirs = projects?.filter(({ name }) => project === undefined || name === project)
  return {
    projectIds: theirs?.map(({ name }) => name) ?? (project === undefined ? undefined : [project]),
    projectUids: theirs?.map(({ uid }) => uid),
  }
}
