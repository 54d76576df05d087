import { createStore, useStore } from '@vault-and-tracker/web-kit/start'
import type { SignedInAdministrator } from './types.ts'

type Session =
  | { readonly isOpen: true; readonly administrator: SignedInAdministrator }
  /** `reason` is why the session ended. */
  | { readonly isOpen: false; readonly reason: string | undefined }

/** The session of this page. Only the browser has its cookie. */
export const session = createStore<Session>({ isOpen: false, reason: undefined })

export function openSession(administrator: SignedInAdministrator): void {
  session.set({ isOpen: true, administrator })
}

/** @param reason shown in the sign-in form */
export function closeSession(reason?: string): void {
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
