import { createHash } from 'node:crypto'
import {
  checkContent,
  checkWindow,
  createVerifyKey,
  importPrivateKey,
  parsePublicKey,
  parseSignedRequest,
  type ReceivedMessage,
  SignatureError,
  type SignatureErrorCode,
  verifySignature,
} from '../src/index.ts'

/** RFC 9421 appendix B.1.4, test-key-ed25519. */
export const PRIVATE_JWK = JSON.stringify({
  kty: 'OKP',
  crv: 'Ed25519',
  kid: 'test-key-ed25519',
  d: 'n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU',
  x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs',
})
export const signingKey = importPrivateKey(PRIVATE_JWK)
export const verifyKey = createVerifyKey(parsePublicKey(signingKey.publicKeyHex))

export const CREATED = 1_700_000_000
export const NOW = CREATED * 1000
export const NONCE = '00112233445566778899aabbccddeeff'
export const AGENT = 'demo.agents.vault.local'
export const COVERED = '("@method" "@authority" "@target-uri")'
export const COVERED_WITH_CONTENT = '("@method" "@authority" "@target-uri" "content-digest")'
export const PARAMS = `;created=${CREATED};expires=${CREATED + 300};nonce="${NONCE}";keyid="${AGENT}"`

/** A draft of a request. `craft` signs it without checks, so that a test can break a single rule. */
export type Draft = {
  readonly method: string
  readonly scheme: 'http' | 'https'
  readonly host: string
  readonly target: string
  /** The signed value of `@authority`; by default the host. */
  readonly authority: string
  /** The Signature-Input value. */
  readonly input: string
  /** The Signature-Agent value. */
  readonly agent: string
  /** The Content-Digest value. */
  readonly digest: string | undefined
  /** The text around the base64 of the signature. */
  readonly wrap: (base64: string) => string
  readonly signature: (bytes: Uint8Array) => Uint8Array
  /** Applied to the finished header list. */
  readonly headers: (rawHeaders: string[]) => string[]
}

export function craft(changes: Partial<Draft> = {}): ReceivedMessage {
  const draft: Draft = {
    method: 'GET',
    scheme: 'http',
    host: 'vault.test:4200',
    target: '/v1/secrets?env=production',
    authority: changes.host ?? 'vault.test:4200',
    input: `sig1=${COVERED}${PARAMS}`,
    agent: `sig1=${AGENT};pubkey="${signingKey.publicKeyHex}"`,
    digest: undefined,
    wrap: (base64) => `sig1=:${base64}:`,
    signature: (bytes) => bytes,
    headers: (rawHeaders) => rawHeaders,
    ...changes,
  }
  const { method, scheme, host, target, authority, input, digest } = draft
  const lines = [
    `"@method": ${method}`,
    `"@authority": ${authority}`,
    `"@target-uri": ${scheme}://${authority}${target}`,
  ]
  if (input.includes('"content-digest"')) lines.push(`"content-digest": ${digest ?? ''}`)
  lines.push(`"@signature-params": ${input.slice(input.indexOf('=') + 1)}`)
  const signature = draft.signature(signingKey.sign(Buffer.from(lines.join('\n'))))

  const rawHeaders = ['Host', host, 'Accept', '*/*', 'Signature-Input', input]
  rawHeaders.push('Signature', draft.wrap(Buffer.from(signature).toString('base64')), 'Signature-Agent', draft.agent)
  if (digest !== undefined) rawHeaders.push('Content-Digest', digest)
  return { method, scheme, target, rawHeaders: draft.headers(rawHeaders) }
}

/** The state of the service when a request arrives. */
export type Situation = { readonly now?: number; readonly body?: string; readonly contentRequired?: boolean }

/** Runs all four steps, as the service does. */
export function check(message: ReceivedMessage, { now = NOW, body = '', contentRequired = false }: Situation = {}) {
  const timely = checkWindow(verifySignature(parseSignedRequest(message), [verifyKey]), now)
  return checkContent(timely, Buffer.from(body), { required: contentRequired })
}

export type Refusal = { readonly code: SignatureErrorCode; readonly message: string }

/** The refusal that `action` ends in, or 'accepted'. Any other error fails the test. */
export function outcome(action: () => unknown): Refusal | 'accepted' {
  try {
    action()
    return 'accepted'
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error
    return { code: error.code, message: error.message }
  }
}

export function digestOf(algorithm: 'sha-256' | 'sha-512', body: string): string {
  return `${algorithm}=:${createHash(algorithm.replace('-', '')).update(body).digest('base64')}:`
}

/** Replaces every line of one field in a raw header list by lines with these values; by none to remove it. */
export function withField(rawHeaders: readonly string[], name: string, ...values: readonly string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [key = '', value = ''] = rawHeaders.slice(i, i + 2)
    if (key.toLowerCase() !== name.toLowerCase()) kept.push(key, value)
  }
  return [...kept, ...values.flatMap((value) => [name, value])]
}

export function fieldOf(rawHeaders: readonly string[], name: string): string {
  const at = rawHeaders.findIndex((entry, i) => i % 2 === 0 && entry.toLowerCase() === name.toLowerCase())
  return rawHeaders[at + 1] ?? ''
}
