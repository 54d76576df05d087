/** The site for which security keys are valid: a host name and an origin. */
export type RelyingParty = { readonly id: string; readonly origin: string }

/** A stored security key. Binary fields of browsers are base64url. */
export type SecurityKey = {
  readonly credentialId: string
  readonly publicKey: Buffer
  /** Uses that the authenticator counted; 0 if it does not count. */
  readonly counter: number
  /** How the browser reaches the authenticator. */
  readonly transports: readonly string[]
}

/** What a browser returns for a new security key. */
export type Registration = {
  readonly id: string
  readonly response: {
    readonly clientDataJSON: string
    readonly attestationObject: string
    readonly transports?: readonly string[] | undefined
  }
}

/** What a browser returns for the use of a security key. */
export type Assertion = {
  readonly id: string
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
  }
}

/** COSE algorithms: Ed25519, ECDSA with P-256, and RSA for Windows Hello. */
const ALGORITHMS = [-8, -7, -257]
const TIMEOUT_MS = 120_000

/** Options for `navigator.credentials.create`. The browser refuses to create a second security key on the same authenticator. */
export function creationOptions(
  { id, name }: { readonly id: string; readonly name: string },
  user: { readonly id: string; readonly username: string },
  challenge: string,
  existing: readonly SecurityKey[],
) {
  return {
    rp: { id, name },
    user: { id: Buffer.from(user.id).toString('base64url'), name: user.username, displayName: user.username },
    challenge,
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
    timeout: TIMEOUT_MS,
    attestation: 'none' as const,
    excludeCredentials: existing.map(descriptorOf),
    authenticatorSelection: { residentKey: 'preferred' as const, userVerification: 'preferred' as const },
  }
}

/** Options for `navigator.credentials.get`. */
export function requestOptions({ id }: RelyingParty, challenge: string, securityKeys: readonly SecurityKey[]) {
  return {
    rpId: id,
    challenge,
    timeout: TIMEOUT_MS,
    userVerification: 'preferred' as const,
    allowCredentials: securityKeys.map(descriptorOf),
  }
}

function descriptorOf({ credentialId, transports }: SecurityKey) {
  return { type: 'public-key' as const, id: credentialId, transports: [...transports] }
}

/** Verifies what a browser returned for `creationOptions`. Returns undefined unless it is valid. */
export async function verifyRegistration(
  rp: RelyingParty,
  challenge: string,
  { id, response: { clientDataJSON, attestationObject, transports = [] } }: Registration,
): Promise<SecurityKey | undefined> {
  const { verifyRegistrationResponse } = await loadLibrary()
  const { decodeAttestationObject, isoBase64URL, isoCBOR } = await import('@simplewebauthn/server/helpers')
  return validOnly(async () => {
    // The statement about the maker of the authenticator is dropped, because verifying one may fetch a URL that it names.
    const authData = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject)).get('authData')
    const bare = new Map<string, string | Uint8Array | Map<string, string>>()
    bare.set('fmt', 'none').set('attStmt', new Map<string, string>()).set('authData', authData)
    const { registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...CREDENTIAL,
        ...{ id, rawId: id },
        response: { clientDataJSON, attestationObject: isoBase64URL.fromBuffer(isoCBOR.encode(bare)) },
      },
      expectedChallenge: challenge,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      requireUserVerification: false,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    if (registrationInfo === undefined || registrationInfo.credential.id !== id) return undefined
    const { publicKey, counter } = registrationInfo.credential
    return { credentialId: id, publicKey: Buffer.from(publicKey), counter, transports }
  })
}

/** Verifies what a browser returned for `requestOptions`. Returns the new counter; undefined unless it is valid. */
export async function verifyAssertion(
  rp: RelyingParty,
  challenge: string,
  { id, response }: Assertion,
  { publicKey, counter }: SecurityKey,
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await loadLibrary()
  return validOnly(async () => {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...CREDENTIAL, id, rawId: id, response },
      expectedChallenge: challenge,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      credential: { id, publicKey: Uint8Array.from(publicKey), counter },
      requireUserVerification: false,
    })
    return verified ? authenticationInfo.newCounter : undefined
  })
}

const CREDENTIAL = { type: 'public-key', clientExtensionResults: {} } as const

/** Loaded on first use: most processes never verify a security key. */
function loadLibrary() {
  return import('@simplewebauthn/server')
}

/** The library throws for any input that is not valid. */
async function validOnly<T>(verify: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await verify()
  } catch {
    return undefined
  }
}
