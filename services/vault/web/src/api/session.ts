import { createStore, useStore } from '@vault-and-tracker/web-kit/start'
import type { SignedInAdministrator } from './types.ts'

type Session =
  | { readonly isOpen: true; readonly administrator: SignedInAdministrator }
  /** `reason` is why the session ended. */
  | { readonly isOpen: false; readonly reason: string | undefined }

/** The token exists only in this module: not in storage, not in an address, not in a query. */
let token: string | undefined

/** The session of this page. It ends when the page is left or reloaded. */
export const session = createStore<Session>({ isOpen: false, reason: undefined })

/** The token for requests; undefined before signing in. */
export const currentToken = (): string | undefined => token

export function openSession(signedIn: string, administrator: SignedInAdministrator): void {
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

const NOBODY: SignedInAdministrator = { actor: '', role: 'auditor', projects: [] }

/** Who is signed in and what they may do. The vault decides; pages leave out what it would refuse. */
export function useAdministrator() {
  const current = useStore(session)
  const administrator = current.isOpen ? current.administrator : NOBODY
  return {
    ...administrator,
    mayWrite: administrator.role === 'holder' || administrator.role === 'administrator',
    mayEditSecrets: administrator.role !== 'auditor',
    mayManageAdministrators: administrator.role === 'holder',
    seesAdministrators: administrator.projects === null,
  }
}
