import { createHash } from 'node:crypto'
import type { Administrators } from '../admin/administrators.ts'
import { createTokens } from '../admin/tokens.ts'
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

/** Creates tokens, sign-ins, if a provider is configured, and sessions. The provider is discovered at the first sign-in. */
export async function createSignInParts(
  { config, db, rows, chainKeys, nonces, clock, logger, background }: Connections,
  administrators: Administrators,
) {
  const { signIn, OIDC_ALLOW_LOOPBACK: allowLoopback } = config
  const seals = createCookieSeals(await chainKeys.first())
  const { issuer, clientId, groupsClaim, mapping } = signIn ?? {}
  const settings = createHash('sha256')
    .update(JSON.stringify([issuer, clientId, groupsClaim, mapping]))
    .digest('hex')
  const tokens = createTokens({
    configured: [config.ADMIN_TOKEN, config.ADMIN_TOKEN_PREVIOUS ?? config.ADMIN_TOKEN],
    administrators,
    digest: (token) => seals.derive('token', token),
  })
  const { findByCredential } = tokens
  const sessions = createSessions({
    ...{ store: createSessionStore(db), rows: rows.sessions, seals, settings, findByCredential, clock },
  })
  background.add({
    everyMs: REMOVE_EXPIRED_EVERY_MS,
    task: sessions.removeExpired,
    onError: (error) => logger.warn({ err: error }, 'removing expired sessions failed; will retry'),
  })
  if (signIn === undefined) return { tokens, sessions, signIns: undefined }
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
  return { tokens, sessions, signIns }
}
