import { isError } from '@vault-and-tracker/service-kit/core/errors'
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
} from 'openid-client'
import { claimOf } from '../exchange/claim-patterns.ts'
import { ALGORITHMS, isIssuerUrl } from '../exchange/trust-rules.ts'
import { readResponse } from '../limits/read-response.ts'
import { type Person, type Provider, ProviderError, type ProviderSettings } from './provider.ts'

const TIMEOUT_SECONDS = 5
const MAX_ANSWER_BYTES = 256 * 1024

/** Subjects are printable, because they name people in the audit log (OpenID Connect Core 1.0 section 2). */
const SUBJECT = /^[!-~]{1,255}$/
const MAX_NAME_LENGTH = 200

/**
 * Discovers a provider (OpenID Connect Discovery 1.0). Requests follow no redirects, and use HTTPS only.
 *
 * @param allowLoopback accepts `http://` URLs of this machine
 * @throws ProviderError
 */
export async function discoverProvider(settings: ProviderSettings, allowLoopback: boolean): Promise<Provider> {
  const { clientId, clientSecret, scopes } = settings
  // oxlint-disable-next-line typescript/no-deprecated -- marked only to be noticed; boundedFetch accepts this machine only
  const insecure: readonly ((config: Configuration) => void)[] = allowLoopback ? [allowInsecureRequests] : []
  const config = await explained(async () => {
    const discovered = await discovery(new URL(settings.issuer), clientId, undefined, undefined, {
      ...{ timeout: TIMEOUT_SECONDS, [customFetch]: boundedFetch(allowLoopback), execute: [...insecure] },
    })
    const metadata = discovered.serverMetadata()
    const supported = metadata.id_token_signing_alg_values_supported ?? ['RS256']
    const algorithms = ALGORITHMS.filter((algorithm) => supported.includes(algorithm))
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authenticate = methods.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost
    // With a symmetric algorithm, or without any, no key of the provider would be needed.
    const pinned = { ...metadata, supportsPKCE: undefined, id_token_signing_alg_values_supported: [...algorithms] }
    return new Configuration(pinned, clientId, undefined, authenticate(clientSecret))
  }, [])
  config.timeout = TIMEOUT_SECONDS
  config[customFetch] = boundedFetch(allowLoopback)
  for (const allow of insecure) allow(config)
  // Otherwise the library trusts TLS and does not verify the signature of an ID token.
  enableNonRepudiationChecks(config)

  return {
    signInUrl: async (redirectUri, { state, nonce, verifier }) =>
      buildAuthorizationUrl(config, {
        ...{ redirect_uri: redirectUri, scope: scopes, state, nonce, code_challenge_method: 'S256' },
        code_challenge: await calculatePKCECodeChallenge(verifier),
      }),

    finish: (response, { state, nonce, verifier }) =>
      explained(async () => {
        const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
        const tokens = await authorizationCodeGrant(config, response, checks)
        const idToken = tokens.claims()
        if (idToken === undefined || !SUBJECT.test(idToken.sub))
          throw new ProviderError('the subject of the ID token is not printable', true)
        const isComplete = claimOf(idToken, settings.groupsClaim) !== undefined
        const hasMore = !isComplete && config.serverMetadata().userinfo_endpoint !== undefined
        const more = hasMore ? await fetchUserInfo(config, tokens.access_token, idToken.sub) : {}
        return toPerson({ ...more, ...idToken }, settings.groupsClaim)
      }),

    signOutUrl: (returnTo) =>
      config.serverMetadata().end_session_endpoint === undefined
        ? undefined
        : buildEndSessionUrl(config, { post_logout_redirect_uri: returnTo }),
  }
}

type Claims = Readonly<Record<string, unknown>> & { readonly sub: string }

function toPerson(claims: Claims, groupsClaim: string): Person {
  const names = ['email', 'preferred_username', 'name', 'sub'].map((name) => claims[name])
  const name = names.find((each) => typeof each === 'string' && each !== '')
  return {
    subject: claims.sub,
    name: String(name)
      .slice(0, MAX_NAME_LENGTH)
      .replaceAll(/[\p{Cc}\p{Surrogate}\p{Bidi_Control}]/gu, '\uFFFD'),
    groups: claimOf(claims, groupsClaim),
  }
}

/** Limits the addresses and the size of responses; the library limits the time, and follows no redirect. */
function boundedFetch(allowLoopback: boolean): CustomFetch {
  return async (url, options) => {
    if (!isIssuerUrl(url.split('?')[0] ?? '', allowLoopback))
      throw new ProviderError('an address of the provider is not an https:// URL', false)
    const { body, ...rest } = options
    const response = await fetch(url, body === undefined ? rest : { ...rest, body })
    const { status, headers } = response
    const text = await readResponse(response, MAX_ANSWER_BYTES)
    return new Response([204, 205, 304].includes(status) ? null : text, { status, headers })
  }
}

/** Codes of the library for a response that arrived but is not acceptable. */
const REFUSALS: readonly string[] = [
  ...['OAUTH_INVALID_RESPONSE', 'OAUTH_JWT_CLAIM_COMPARISON_FAILED', 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED'],
  ...['OAUTH_KEY_SELECTION_FAILED', 'OAUTH_UNSUPPORTED_OPERATION', 'OAUTH_PARSE_ERROR'],
  ...['OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'],
]

/** Replaces errors of the library, which contain codes and tokens. */
async function explained<T>(work: () => Promise<T>, refusals = REFUSALS): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ProviderError) throw error
    if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError)
      throw new ProviderError(`the provider returned ${codeOf(error.error)}`, error.error !== 'invalid_client')
    if (error instanceof ClientError)
      throw new ProviderError(`${error.message} (${error.code ?? 'no code'})`, refusals.includes(error.code ?? ''))
    if (isError(error) && error.cause instanceof ProviderError) throw error.cause
    throw new ProviderError(isError(error) ? `no response: ${error.message}` : 'no response', false)
  }
}

/** Returns an error code (RFC 6749 section 4.1.2.1) for the log, unless it is forged text. */
function codeOf(text: string): string {
  return /^[a-z_]{1,50}$/.test(text) ? text : 'an error'
}
