import { useSyncExternalStore } from 'react'
import { session } from './session.ts'
import type { SignedInAdministrator } from './types.ts'

/** Who is signed in. */
export function useSession() {
  return useSyncExternalStore(session.subscribe, session.read)
}

const NOBODY: SignedInAdministrator = { actor: '', role: 'auditor', projects: [] }

/** Whoever is signed in, and what they may do. The vault decides; a page leaves out what it would refuse. */
export function useAdministrator() {
  const current = useSession()
  const administrator = current.isOpen ? current.administrator : NOBODY
  return {
    ...administrator,
    mayWrite: administrator.role !== 'auditor',
    mayManageAdministrators: administrator.role === 'holder',
    seesAdministrators: administrator.projects === null,
  }
}
