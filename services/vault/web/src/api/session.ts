import type { SignedInAdministrator } from './types.ts'

/** Who is signed in. The token is in this module and nowhere else: not in storage, not in an address, not in a query. */
export type Session =
  | { readonly isOpen: true; readonly administrator: SignedInAdministrator }
  | {
      readonly isOpen: false
      /** Why somebody who was signed in no longer is. */
      readonly reason: string | undefined
    }

let token: string | undefined
let current: Session = { isOpen: false, reason: undefined }
const listeners = new Set<() => void>()

function change(next: Session): void {
  current = next
  for (const listener of listeners) listener()
}

/** The session of this page. It ends when the page is left or loaded again. */
export const session = {
  read: (): Session => current,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  /** For requests; undefined before signing in. */
  token: (): string | undefined => token,
  open: (signedIn: string, administrator: SignedInAdministrator): void => {
    token = signedIn
    change({ isOpen: true, administrator })
  },
  /** @param reason what the sign-in form says */
  close: (reason?: string): void => {
    token = undefined
    change({ isOpen: false, reason })
  },
}
