import type { JWK } from 'jose'
import { z } from 'zod'
import { readResponse } from '../limits/read-response.ts'
import type { FetchIssuerKeys } from './issuer-keys.ts'
import { mayFetch } from './trust-rules.ts'

/** For discovery and keys together. */
const TIMEOUT_MS = 5_000
const MAX_ANSWER_BYTES = 256 * 1024

const discovery = z.object({ issuer: z.string(), jwks_uri: z.string() })

const publicKey = z.object({ kty: z.enum(['RSA', 'EC', 'OKP']), use: z.literal('sig').optional() })
const keySet = z.object({ keys: z.array(z.unknown()).max(1_000) })

/**
 * Creates a client for OpenID Connect Discovery 1.0 section 4. It follows no redirects, and an issuer that names another
 * one is refused.
 *
 * @param options `allowLoopback` accepts `http://` URLs of this machine
 */
export function createIssuerClient({ allowLoopback }: { allowLoopback: boolean }): FetchIssuerKeys {
  return async (issuer) => {
    const deadline = AbortSignal.timeout(TIMEOUT_MS)
    const found = discovery.safeParse(await fetchJson(`${issuer.replace(/\/$/, '')}${DISCOVERY_PATH}`, deadline))
    if (!found.success) throw new Error('the discovery document has no issuer or no jwks_uri')
    if (found.data.issuer !== issuer) throw new Error('the discovery document is that of another issuer')
    if (!mayFetch(found.data.jwks_uri, allowLoopback)) throw new Error('the jwks_uri is not an https:// URL')
    const published = keySet.safeParse(await fetchJson(found.data.jwks_uri, deadline))
    if (!published.success) throw new Error('the jwks_uri does not return a set of keys')
    const keys = published.data.keys.filter(isPublicKey)
    if (keys.length === 0) throw new Error('the issuer publishes no key for signatures')
    return { keys }
  }
}

/** Whether a key is for signatures, and asymmetric: with a published symmetric key, anyone could sign. */
function isPublicKey(key: unknown): key is JWK {
  return publicKey.safeParse(key).success
}

const DISCOVERY_PATH = '/.well-known/openid-configuration'

async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, { redirect: 'manual', signal, headers: { Accept: 'application/json' } })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`the issuer returned ${String(response.status)}`)
  }
  try {
    return JSON.parse(await readResponse(response, MAX_ANSWER_BYTES))
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error('the issuer did not return JSON')
    throw error
  }
}
