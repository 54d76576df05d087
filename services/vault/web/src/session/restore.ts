import { createStore } from '@vault-and-tracker/web-kit/start'
import { account, api, read } from '../api/client.ts'
import { closeSession, openSession } from '../api/session.ts'
import type { SignedInAdministrator, SignInOptions } from '../api/types.ts'

/** How administrators can sign in, in addition to tokens. */
export const signInOptions = createStore<SignInOptions>({ oidc: null, hasSession: false })

/** Why a sign-in failed, by the code in the fragment of the address. */
const PROBLEMS: Readonly<Record<string, string>> = {
  unauthorized: 'You could not be signed in. Try again.',
  forbidden: 'None of your groups has access to this vault. Ask an administrator.',
  rate_limited: 'Too many failed attempts. Try again in five minutes.',
  unavailable: 'Sign-in is temporarily unavailable. Try again, or use a token.',
}
const OTHER_PROBLEM = 'Sign-in failed. See the log of the vault for the reason.'

/** Continues the session of a cookie, and shows why a sign-in failed. Called before the first page. */
export async function restoreSession(): Promise<void> {
  const failed = /^#sign-in=(\w+)$/.exec(location.hash)?.[1]
  if (failed !== undefined) {
    history.replaceState(null, '', location.pathname + location.search)
    closeSession(PROBLEMS[failed] ?? OTHER_PROBLEM)
  }
  try {
    const options = await read(api.GET('/v1/sign-in'))
    signInOptions.set(options)
    if (options.hasSession) openSession(await readAdministrator())
  } catch {
    // The session has ended, or the vault is unavailable: the form for tokens shows the error when it is used.
  }
}

/** Reads whose session the browser has. */
export function readAdministrator(): Promise<SignedInAdministrator> {
  return account.shows(read(api.GET('/v1/admin/me')), ({ actor }) => actor)
}

/** Returns where a browser signs in, and comes back to the current page. */
export function startAddress(url: string): string {
  const page = location.pathname.replace(/^\/console/, '') + location.search
  return `${url}?${new URLSearchParams({ page: page === '' ? '/' : page }).toString()}`
}
