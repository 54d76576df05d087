import { createHash } from 'node:crypto'
import { createCookieSeals } from '../sign-in/cookie-seals.ts'
import { discoverProvider } from '../sign-in/provider.http.ts'
import { createDiscovery } from '../sign-in/provider.ts'
import { createSessionStore } from '../sign-in/sessions.store.ts'
import { createSessions } from '../sign-in/sessions.ts'
import { createSignIns } from '../sign-in/sign-ins.ts'
import type { Connections } from './connections.ts'

const REMOVE_EXPIRED_EVERY_MS = 60_000

/** The sign-in of administrators, and their sessions. */
export type SignInParts = Awaited<ReturnType<typeof createSignInParts>>

/** Creates sign-ins, if a provider is configured, and sessions. The provider is discovered at the first sign-in. */
export async function createSignInParts({
  config,
  db,
  rows,
  chainKeys,
  nonces,
  clock,
  logger,
  background,
}: Connections) {
  const { signIn, OIDC_ALLOW_LOOPBACK: allowLoopback } = config
  const seals = createCookieSeals(await chainKeys.first())
  const { issuer, clientId, groupsClaim, mapping } = signIn ?? {}
  const settings = createHash('sha256')
    .update(JSON.stringify([issuer, clientId, groupsClaim, mapping]))
    .digest('hex')
  const sessions = createSessions({ store: createSessionStore(db), rows: rows.sessions, seals, settings, clock })
  background.add({
    everyMs: REMOVE_EXPIRED_EVERY_MS,
    task: sessions.removeExpired,
    onError: (error) => logger.warn({ err: error }, 'removing expired sessions failed, will retry'),
  })
  if (signIn === undefined) return { sessions, signIns: undefined }
  const provider = createDiscovery({
    discover: () => discoverProvider(signIn, allowLoopback),
    clock,
    onError: (error) => logger.warn({ err: error }, 'the sign-in provider cannot be reached'),
  })
  const signIns = createSignIns({
    ...{ label: signIn.label, issuer: signIn.issuer, mapping: signIn.mapping },
    ...{ provider, seals, nonces, sessions, clock },
    onFailure: (reason) => logger.warn({ reason }, 'sign-in failed'),
  })
  return { sessions, signIns }
}
