import { forbidden } from '../errors.ts'
import type { Wanted } from '../limits/wanted.ts'

/** The role of a named administrator: everything listed here, secrets only, or read only. */
export const ROLES = ['administrator', 'editor', 'auditor'] as const
export type Role = (typeof ROLES)[number]

/** A project by its name and its uid, which differs from that of any other project of the same name. */
export type ProjectRef = { readonly uid: string; readonly name: string }

/** The projects an administrator has access to; null for all. */
export type AllowedProjects = readonly ProjectRef[] | null

/** A role in some projects. */
export type Grant = {
  /** The `holder` of ADMIN_TOKEN may do everything, and alone manages named administrators. */
  readonly role: Role | 'holder'
  readonly projects: AllowedProjects
  /** Names that no project has yet, which the administrator may register. */
  readonly unbound: readonly string[]
}

/** An administrator who was identified, with everything they may do. */
export type IdentifiedAdministrator = {
  readonly kind: 'administrator'
  /** `administrator` for the holder of ADMIN_TOKEN, `administrator:<id>` for a named one, or `oidc:<subject>`. */
  readonly actor: string
  readonly address: string
  /** Someone with a token has one; someone who signed in with OIDC has those of their groups. */
  readonly grants: readonly Grant[]
  /** The session of a cookie. */
  readonly session?: CurrentSession | undefined
  /** The token of a request without a session. */
  readonly token?: PresentedToken | undefined
  readonly wanted?: Wanted | undefined
}

/** A session that has not ended. */
export type ActiveSession = Pick<IdentifiedAdministrator, 'actor' | 'grants'> & {
  readonly id: string
  /** A name for people, which the person may have chosen. */
  readonly name: string
  readonly expiresAt: Date
}

type CurrentSession = Pick<ActiveSession, 'id' | 'name' | 'expiresAt'> & {
  /** Where the browser is after signing out. */
  readonly signedOutUrl: string
  /** Deletes the cookie with the response. */
  readonly clear: () => void
}

/** A valid token, without its text. */
export type TokenOfAdministrator = Pick<IdentifiedAdministrator, 'actor' | 'grants'> & {
  /** A name for people. */
  readonly name: string
  /** Identifies the token for as long as it is valid. */
  readonly credential: string
}

type PresentedToken = Pick<TokenOfAdministrator, 'name' | 'credential'> & {
  /** @throws ApiError forbidden if the request was not made by a page of the vault */
  readonly requireOwnPage: () => void
  /** Stores a session in the browser with the response. */
  readonly remember: (cookie: string, maxAgeMs: number) => void
}

/** An administrator who may use an endpoint: those of their grants together that allow it. */
export type Administrator = IdentifiedAdministrator & Omit<Grant, 'role'>

/** An administrator as far as changes need to know. */
export type Editor = Pick<Administrator, 'actor' | 'address' | 'projects' | 'wanted'>

/** The part of an endpoint that decides who may use it; `project` is the one that its path names. */
type RequestedEndpoint = { readonly method: string; readonly path: string; readonly project: string | undefined }

const ADMINISTRATORS = '/v1/admin/administrators'
const SESSIONS = '/v1/admin/sessions'
/** The session of the request. */
const OWN_SESSION = '/v1/admin/session'
/** The endpoints that editors may use to write. */
const SECRETS = ['/v1/admin/projects/:id/secrets', '/v1/admin/secrets/:id']

/** Returns the administrator for a request to an endpoint; undefined if no grant allows it. */
export function admitTo(
  administrator: IdentifiedAdministrator,
  endpoint: RequestedEndpoint,
): Administrator | undefined {
  const usable = administrator.grants.filter((grant) => mayUse(grant, endpoint))
  if (usable.length === 0) return undefined
  const byUid = new Map(usable.flatMap(({ projects }) => projects ?? []).map((project) => [project.uid, project]))
  return {
    ...administrator,
    projects: usable.some(({ projects }) => projects === null) ? null : [...byUid.values()],
    unbound: [...new Set(usable.flatMap(({ unbound }) => unbound))],
  }
}

/**
 * Whether a grant allows an endpoint. This is decided before the project is looked up, so that the answer does
 * not reveal whether it exists.
 */
function mayUse({ role, projects }: Grant, { method, path, project }: RequestedEndpoint): boolean {
  if (role === 'holder' || path === OWN_SESSION) return true
  if (method !== 'GET' && !mayWrite(role, path)) return false
  if (path === SESSIONS && method !== 'GET') return false
  if (path.startsWith(SESSIONS)) return projects === null
  if (path.startsWith(ADMINISTRATORS)) return method === 'GET' && projects === null
  return project === undefined || hasAccess({ projects }, project)
}

function mayWrite(role: Role, path: string): boolean {
  if (role === 'editor') return SECRETS.some((each) => path === each || path.startsWith(`${each}/`))
  return role === 'administrator'
}

/** Whether an administrator has access to a project. */
export function hasAccess({ projects }: Pick<Administrator, 'projects'>, project: string): boolean {
  return projects === null || projects.some(({ name }) => name === project)
}

/** @throws ApiError forbidden if the administrator has no access to the project */
export function requireAccess(administrator: Administrator, project: string): void {
  if (!hasAccess(administrator, project)) throw forbidden(administrator.actor, project)
}

/** @throws ApiError forbidden if the administrator may not register a project with this name */
export function requireName({ actor, projects, unbound }: Administrator, name: string): void {
  if (projects !== null && !unbound.includes(name)) throw forbidden(actor, name)
}

/** The projects whose audit entries an administrator may see, optionally only `project`; undefined for all projects. */
export function visibleTo({ projects }: Administrator, project: string | undefined) {
  const visible = projects?.filter(({ name }) => project === undefined || name === project)
  return {
    projectIds: visible?.map(({ name }) => name) ?? (project === undefined ? undefined : [project]),
    projectUids: visible?.map(({ uid }) => uid),
  }
}
