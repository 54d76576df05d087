import { toBase64 } from './encoding.ts'
import { SignatureError } from './errors.ts'
import type { SigningKey } from './private-key.ts'
import {
  AGENT_SUFFIX,
  COVERED,
  COVERED_WITH_CONTENT,
  LABEL,
  LIFETIME_SECONDS,
  METHOD,
  NONCE,
  PROJECT,
  profileComponents,
  signatureBase,
} from './profile.ts'

/** The digest algorithms of RFC 9530 section 5 that are fit for use. */
export type DigestAlgorithm = 'sha-256' | 'sha-512'

/** A request to sign. */
export type RequestToSign = {
  /** The method, as passed to fetch. */
  readonly method: string
  /** The absolute http or https URL, as passed to fetch. */
  readonly url: string | URL
  /** The project's name. */
  readonly project: string
  readonly key: SigningKey
  /** Now, in whole seconds since 1970. */
  readonly created: number
  /** 32 hex digits from a secure random source, used only once. */
  readonly nonce: string
  /** The exact body. If given, the signature covers its digest. */
  readonly body?: string | Uint8Array
  /** Default sha-256. */
  readonly digest?: DigestAlgorithm
}

/** The headers for `fetch(url, { headers })`, with Content-Digest if there is a body. */
export type SignatureHeaders = {
  Signature: string
  'Signature-Input': string
  'Signature-Agent': string
  'Content-Digest'?: string
}

/** The methods that fetch converts to upper case (Fetch standard, "normalize a method"). */
const UPPERCASED = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'])
const MAX_CREATED = 999_999_999_999_999 - LIFETIME_SECONDS

export function bodyBytes(body: string | Uint8Array): Uint8Array {
  return typeof body === 'string' ? new TextEncoder().encode(body) : body
}

/** Signs with an existing digest. Both entry points share this part. */
export function signPrepared(request: RequestToSign, contentDigest: string | undefined): SignatureHeaders {
  const { project, key, created, nonce } = request
  demand(PROJECT.test(project), 'the project is not a name')
  demand(Number.isInteger(created) && created >= 0 && created <= MAX_CREATED, 'created is not in whole seconds')
  demand(NONCE.test(nonce), 'the nonce is not 32 hex digits')

  const agent = `${project}${AGENT_SUFFIX}`
  const covered = contentDigest === undefined ? COVERED : COVERED_WITH_CONTENT
  const expires = created + LIFETIME_SECONDS
  const params = `${covered};created=${created};expires=${expires};nonce="${nonce}";keyid="${agent}"`
  const values = { ...wireForm(request), contentDigest }
  const signature = key.sign(new TextEncoder().encode(signatureBase(profileComponents(values), params)))
  return {
    Signature: `${LABEL}=:${toBase64(signature)}:`,
    'Signature-Input': `${LABEL}=${params}`,
    'Signature-Agent': `${LABEL}=${agent};pubkey="${key.publicKeyHex}"`,
    ...(contentDigest === undefined ? {} : { 'Content-Digest': contentDigest }),
  }
}

/** The method, authority and URI as fetch sends them. */
function wireForm({ method, url }: RequestToSign): {
  readonly method: string
  readonly authority: string
  readonly targetUri: string
} {
  const upper = method.toUpperCase()
  const sent = UPPERCASED.has(upper) ? upper : method
  demand(METHOD.test(sent), 'the method is not a token')

  demand(URL.canParse(String(url)), 'the URL is not absolute')
  const { href, protocol, host, pathname, search, hash, username, password } = new URL(url)
  demand(protocol === 'http:' || protocol === 'https:', 'the URL is neither http nor https')
  demand(username === '' && password === '', 'the URL contains credentials')
  demand(!pathname.startsWith('//'), 'the path starts with two slashes')
  // Node 20 omits a question mark without a query, and Node 24 sends it, so no signature would be valid for both.
  demand(!href.slice(0, href.length - hash.length).endsWith('?'), 'the URL ends with an empty query')
  return { method: sent, authority: host, targetUri: `${protocol}//${host}${pathname}${search}` }
}

function demand(condition: boolean, message: string): void {
  if (!condition) throw new SignatureError('invalid_input', message)
}
