import { createStore, useStore } from '@vault-and-tracker/web-kit/start'
import type { SignedInAdministrator } from './types.ts'

type Session =
  | { readonly isOpen: true; readonly administrator: SignedInAdministrator }
  /** `reason` is why the session ended. `kept` has typed text on the page, which is hidden until they sign in again. */
  | { readonly isOpen: false; readonly reason: string | undefined; readonly kept?: SignedInAdministrator | undefined }

/** The session of this page. Only the browser has its cookie. */
export const session = createStore<Session>({ isOpen: false, reason: undefined })

export function openSession(administrator: SignedInAdministrator): void {
  session.set({ isOpen: true, administrator })
}

/** @param reason shown in the sign-in form @param kept whose page is kept for what they typed */
export function closeSession(reason?: string, kept?: SignedInAdministrator): void {
  session.set({ isOpen: false, reason, kept })
}

/** Whose page there is, shown or hidden. */
export function ownerOf(current: Session): SignedInAdministrator | undefined {
  return current.isOpen ? current.administrator : current.kept
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
  const administrator = ownerOf(useStore(session)) ?? NOBODY
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
