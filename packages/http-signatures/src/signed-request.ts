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
