/** The parts of a received request that a signature covers, exactly as they came off the wire. */
export type ReceivedMessage = {
  /** The request method as received, for example `GET`; never changed in case (RFC 9421 section 2.2.1). */
  readonly method: string
  /** What the client used to reach us; behind a trusted proxy that is the proxy's scheme, not the socket's. */
  readonly scheme: 'http' | 'https'
  /** The request target as received, Express's `originalUrl`: it has to start with one slash. */
  readonly target: string
  /** Node's `req.rawHeaders`: name, value, name, value. The joined `req.headers` hides duplicates. */
  readonly rawHeaders: readonly string[]
}

/** What a signed request says about itself. Before `verifySignature` has passed, these are only claims. */
export type SignatureClaims = {
  /** The project's name: `keyid` and Signature-Agent without `.agents.vault.local`. */
  readonly project: string
  /** The public key the sender says it used, 64 lower-case hex digits. It selects a key, it never supplies one. */
  readonly publicKeyHex: string
  /** Unix time in seconds. */
  readonly created: number
  /** Unix time in seconds, always `created + 300`. */
  readonly expires: number
  /** 32 hex digits, lower-cased: two spellings of one nonce are one nonce. */
  readonly nonce: string
  /** Whether `"content-digest"` is among the covered components, so that the signature binds the body. */
  readonly coversContent: boolean
}

/** What the parser keeps for the later checks; never shown to callers. */
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

/** How far a request has come. The order of the union is the order of the checks. */
export type Stage = 'parsed' | 'verified' | 'timely' | 'accepted'

/**
 * A signed request that has passed every check up to its stage.
 *
 * The stages are what makes the order of checks a matter of types: each check takes the stage before its own, and the
 * private field makes an object literal of the same shape, or a spread copy, unassignable.
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

/** Well-formed; nothing is proven yet. */
export type ParsedRequest = SignedRequest<'parsed'>
/** Signed by one of the given keys; possibly long ago. */
export type VerifiedRequest = SignedRequest<'verified'>
/** Signed within the window; the body is not checked yet. */
export type TimelyRequest = SignedRequest<'timely'>
/** Everything checked that can be checked without a store. The nonce is still to be spent. */
export type AcceptedRequest = SignedRequest<'accepted'>
