import { createStore, useStore } from '@vault-and-tracker/web-kit/start'
import type { SignedInAdministrator } from './types.ts'

type Session =
  | { readonly isOpen: true; readonly administrator: SignedInAdministrator }
  /** `reason` is why the session ended. */
  | { readonly isOpen: false; readonly reason: string | undefined }

/**
 * The token exists only in this module: not in storage, not in an address, not in a query. Someone who signed in with OIDC
 * has none: the browser sends their cookie.
 */
let token: string | undefined

/** The session of this page. With a token, it ends when the page is left or reloaded. */
export const session = createStore<Session>({ isOpen: false, reason: undefined })

/** The token for requests; undefined before signing in. */
export const currentToken = (): string | undefined => token

/** @param signedIn the token; undefined for the session of a cookie */
export function openSession(signedIn: string | undefined, administrator: SignedInAdministrator): void {
  token = signedIn
  session.set({ isOpen: true, administrator })
}

/** @param reason shown in the sign-in form */
export function closeSession(reason?: string): void {
  token = undefined
  session.set({ isOpen: false, reason })
}

/** The names of the roles. */
export const ROLE_NAMES = {
  holder: 'Admin token',
  administrator: 'Administrator',
  editor: 'Editor',
  auditor: 'Auditor',
} as const

const NOBODY: SignedInAdministrator = { actor: '', role: 'auditor', projects: [], grants: [], session: null }

/**
 * Who is signed in and what they may do, in a project if one is given. The vault decides; pages leave out what it would
 * refuse.
 */
export function useAdministrator(project?: string) {
  const current = useStore(session)
  const administrator = current.isOpen ? current.administrator : NOBODY
  const rolesIn = (name: string | undefined) =>
    administrator.grants
      .filter(({ projects }) => name === undefined || projects === null || projects.includes(name))
      .map(({ role }) => role)
  const mayEditSecretsOf = (name: string | undefined): boolean => rolesIn(name).some((role) => role !== 'auditor')
  return {
    ...administrator,
    mayWrite: rolesIn(project).some((role) => role === 'holder' || role === 'administrator'),
    mayEditSecrets: mayEditSecretsOf(project),
    mayEditSecretsOf,
    mayManageAdministrators: administrator.role === 'holder',
    mayRevokeSessions: administrator.grants.some(
      ({ role, projects }) => projects === null && (role === 'holder' || role === 'administrator'),
    ),
    seesAdministrators: administrator.projects === null,
  }
}
