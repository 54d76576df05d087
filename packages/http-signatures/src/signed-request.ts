import { SignatureError } from './errors.ts'
import { authoritySpellings, METHOD } from './profile.ts'
import { parseSignature, parseSignatureAgent, parseSignatureInput } from './structured-fields.ts'

/** The parts of a received request that a signature covers, exactly as received. */
export type ReceivedMessage = {
  /** The request method as received, for example `GET`, with unchanged case (RFC 9421 section 2.2.1). */
  readonly method: string
  /** The scheme that the client used. Behind a trusted proxy, it is the proxy's scheme, not the socket's. */
  readonly scheme: 'http' | 'https'
  /** The request target as received (`originalUrl` in Express). It must start with one slash. */
  readonly target: string
  /** Node's `req.rawHeaders`: name, value, name, value. The joined `req.headers` hides duplicates. */
  readonly rawHeaders: readonly string[]
}

/** The content of a signed request, unproven until `verifySignature` has passed. */
export type SignatureClaims = {
  /** The project's name: `keyid` and Signature-Agent without `.agents.vault.local`. */
  readonly project: string
  /** The sender's public key, 64 lower-case hex digits. It selects a registered key and never supplies one. */
  readonly publicKeyHex: string
  /** Unix time in seconds. */
  readonly created: number
  /** Unix time in seconds, always `created + 300`. */
  readonly expires: number
  /** 32 hex digits in lower case, so that a nonce has only one spelling. */
  readonly nonce: string
  /** Whether `"content-digest"` is among the covered components, so that the signature binds the body. */
  readonly coversContent: boolean
}

/** The parts that later checks need. They are hidden from callers. */
export type Evidence = {
  readonly method: string
  readonly scheme: 'http' | 'https'
  readonly target: string
  readonly host: string
  /** The Content-Digest field value, when covered. */
  readonly contentDigest: string | undefined
  /** The Signature-Input member without its label: the value of `@signature-params`. */
  readonly signatureParams: string
  /** 64 bytes. */
  readonly signature: Uint8Array
}

/** The last check that a request has passed, in order. */
export type Stage = 'parsed' | 'verified' | 'timely' | 'accepted'

/**
 * A signed request that has passed every check up to its stage.
 *
 * The stages enforce the order of the checks in the type system: each check requires the previous stage. The private
 * field makes object literals and spread copies of the same shape unassignable.
 */
export class SignedRequest<S extends Stage> {
  readonly stage: S
  readonly claims: SignatureClaims
  readonly #evidence: Evidence

  constructor(stage: S, claims: SignatureClaims, evidence: Evidence) {
    this.stage = stage
    this.claims = claims
    this.#evidence = evidence
  }

  static evidence(request: SignedRequest<Stage>): Evidence {
    return request.#evidence
  }

  static advance<To extends Stage>(request: SignedRequest<Stage>, stage: To): SignedRequest<To> {
    return new SignedRequest(stage, request.claims, request.#evidence)
  }
}

/** Well-formed, but not proven. */
export type ParsedRequest = SignedRequest<'parsed'>
/** Signed by one of the given keys, but possibly long ago. */
export type VerifiedRequest = SignedRequest<'verified'>
/** Signed within the window, but the body is not checked. */
export type TimelyRequest = SignedRequest<'timely'>
/** Passed all checks that need no store. The caller must still spend the nonce. */
export type AcceptedRequest = SignedRequest<'accepted'>

/**
 * An origin-form target in printable ASCII: `/path?query`, no fragment. `//host` and `/\host` are excluded, because URL
 * parsers read them as hosts, and a message for another host must not be accepted.
 */
const TARGET = /^\/(?![/\\])[\x21\x22\x24-\x7e]*$/

/**
 * Strictly parses a signed request (RFC 9421 sections 3.2 and 4): the first of four steps, before any key is looked up.
 *
 * It proves nothing. Look up the keys of `claims.project`, and pass the active ones to `verifySignature`.
 *
 * @throws {SignatureError} `missing_signature` if Signature, Signature-Input or Signature-Agent is missing or empty;
 * `invalid_signature` for all other deviations from the profile.
 */
export function parseSignedRequest(message: ReceivedMessage): ParsedRequest {
  const { method, scheme, target, rawHeaders } = message
  const field = readFields(rawHeaders)
  const host = field('host')
  const input = parseSignatureInput(field('signature-input'))
  const signature = Buffer.from(parseSignature(field('signature')), 'base64')
  const { project, publicKeyHex } = parseSignatureAgent(field('signature-agent'), input.keyid)
  const contentDigest = input.coversContent ? field('content-digest') : undefined

  if (!METHOD.test(method)) throw new SignatureError('invalid_signature', 'the method is not a token')
  if (!TARGET.test(target)) throw new SignatureError('invalid_signature', 'the target is not a path with a query')
  if (authoritySpellings(host, scheme).length === 0) {
    throw new SignatureError('invalid_signature', 'host is not a name or address with an optional port')
  }

  const { created, expires, coversContent, signatureParams } = input
  return new SignedRequest(
    'parsed',
    { project, publicKeyHex, created, expires, nonce: input.nonce.toLowerCase(), coversContent },
    { method, scheme, target, host, contentDigest, signatureParams, signature },
  )
}

const MAX_FIELD_LENGTH = 1024
const PRINTABLE = /^[\x20-\x7e]*$/

const SIGNATURE_FIELDS = ['signature', 'signature-input', 'signature-agent'] as const
type Field = (typeof SIGNATURE_FIELDS)[number] | 'host' | 'content-digest'
const FIELDS: ReadonlySet<string> = new Set<Field>([...SIGNATURE_FIELDS, 'host', 'content-digest'])

/** Reads the only value of a field. */
type FieldReader = (field: Field) => string

/**
 * Finds the fields of the profile in Node's flat `rawHeaders`.
 *
 * @throws {SignatureError} `missing_signature` if one of the three signature fields is missing or empty. The returned
 * reader throws `invalid_signature` unless a field occurs exactly once, in printable ASCII, with at most 1 KiB.
 */
function readFields(rawHeaders: readonly string[]): FieldReader {
  const found = new Map<string, string[]>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase()
    if (!FIELDS.has(name)) continue
    const value = rawHeaders[i + 1] ?? ''
    const values = found.get(name)
    if (values === undefined) found.set(name, [value])
    else values.push(value)
  }

  for (const field of SIGNATURE_FIELDS) {
    if (!found.get(field)?.some((value) => value !== '')) {
      throw new SignatureError('missing_signature', `${field} is missing`)
    }
  }

  return (field) => {
    const [value, ...others] = found.get(field) ?? []
    if (value === undefined || others.length > 0) {
      throw new SignatureError('invalid_signature', `${field} must occur exactly once`)
    }
    if (value.length > MAX_FIELD_LENGTH) throw new SignatureError('invalid_signature', `${field} is over 1 KiB`)
    if (!PRINTABLE.test(value)) throw new SignatureError('invalid_signature', `${field} is not printable ASCII`)
    return value
  }
}
