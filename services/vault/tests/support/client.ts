import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { createSignature } from 'http-message-sig'
import { createSigner, httpbis } from 'http-message-signatures'
import { requireDocumented } from './documented.ts'
import { ADMIN_TOKEN, type TestVault } from './vault.ts'

/** A key of a project. */
export type Key = { privateKey: KeyObject; publicKeyHex: string }

/** The parts of a request to sign. */
export type Signing = {
  project: string
  key: Key
  method: string
  url: string
  /** In seconds; now by default. */
  created?: number
  nonce?: string
}

export type Answer = { status: number; body: unknown; headers: Headers }

export function newKey(): Key {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, publicKeyHex: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex') }
}

/** The key of a private JWK, as a rotation returns it. */
export function keyOf(privateJwk: string): Key {
  const jwk = JSON.parse(privateJwk) as { kty: string; crv: string; d: string; x: string }
  return {
    privateKey: createPrivateKey({ key: jwk, format: 'jwk' }),
    publicKeyHex: Buffer.from(jwk.x, 'base64url').toString('hex'),
  }
}

/** Signs with the npm package http-message-signatures, without any of our code. */
export async function signHeaders(input: Signing): Promise<Record<string, string>> {
  const { project, key, method, url } = input
  const created = input.created ?? Math.floor(Date.now() / 1000)
  const keyid = `${project}.agents.vault.local`
  const signed = await httpbis.signMessage(
    {
      key: createSigner(key.privateKey, 'ed25519', keyid),
      name: 'sig1',
      fields: ['@method', '@authority', '@target-uri'],
      params: ['created', 'expires', 'nonce', 'keyid'],
      paramValues: {
        created: new Date(created * 1000),
        expires: new Date((created + 300) * 1000),
        nonce: input.nonce ?? randomBytes(16).toString('hex'),
        keyid,
      },
    },
    { method, url, headers: { 'Signature-Agent': `sig1=${keyid};pubkey="${key.publicKeyHex}"` } },
  )
  return Object.fromEntries(Object.entries(signed.headers).map(([name, value]) => [name, [value].flat().join(', ')]))
}

/** Signs with the npm package http-message-sig, a second independent implementation. */
export async function signHeadersOtherwise(input: Signing): Promise<Record<string, string>> {
  const { project, key, method, url } = input
  const created = input.created ?? Math.floor(Date.now() / 1000)
  const keyid = `${project}.agents.vault.local`
  const { signature, signatureInput } = await createSignature(
    { kind: 'request', method, targetUri: url, fields: [] },
    {
      label: 'sig1',
      components: ['@method', '@authority', '@target-uri'],
      parameters: { created, expires: created + 300, nonce: input.nonce ?? randomBytes(16).toString('hex'), keyid },
      signer: { algorithm: 'ed25519', sign: (data) => sign(null, data, key.privateKey) },
    },
  )
  return {
    Signature: signature,
    'Signature-Input': signatureInput,
    'Signature-Agent': `sig1=${keyid};pubkey="${key.publicKeyHex}"`,
  }
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  const body: unknown = text === '' ? undefined : JSON.parse(text)
  return { status: response.status, body, headers: response.headers }
}

/** Sends a request and checks that the response is documented. */
export async function send(url: string, init: RequestInit = {}): Promise<Answer> {
  const answer = await answerOf(await fetch(url, init))
  requireDocumented(init.method ?? 'GET', url, answer)
  return answer
}

/** Sends a signed request; `body` is sent as JSON. */
export async function signedSend(
  input: Signing & { body?: unknown; headers?: Record<string, string> },
): Promise<Answer> {
  const headers = { ...(await signHeaders(input)), ...input.headers }
  return send(input.url, withJson({ method: input.method, headers }, input.body))
}

/** Returns a function that sends signed requests to `/v1/secrets`. The vault may be started later. */
export function signerOf(vault: () => TestVault) {
  return (project: string, key: Key, method = 'GET', body?: unknown): Promise<Answer> =>
    signedSend({ project, key, method, url: `${vault().url}/v1/secrets`, body })
}

/** The status and the error code of a response. */
export function statusAndError(answer: Answer): unknown {
  return [answer.status, (answer.body as { error: unknown }).error]
}

/** Sends a request as an administrator. */
export function admin(url: string, method: string, path: string, body?: unknown): Promise<Answer> {
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` }
  return send(`${url}/v1/admin${path}`, withJson({ method, headers }, body))
}

function withJson(init: { method: string; headers: Record<string, string> }, body: unknown): RequestInit {
  if (body === undefined) return init
  const headers = { 'Content-Type': 'application/json', ...init.headers }
  return { ...init, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }
}

/** Identifies a key in lists and in the audit log: the first 32 hex digits of the SHA-256 of its public key. */
export const fingerprintOf = ({ publicKeyHex }: Key): string =>
  createHash('sha256').update(Buffer.from(publicKeyHex, 'hex')).digest('hex').slice(0, 32)

/** Registers a project with a new key. */
export async function createProject(url: string, name: string, options: object = {}): Promise<Key> {
  const key = newKey()
  const created = await admin(url, 'POST', '/projects', { name, publicKey: key.publicKeyHex, ...options })
  if (created.status !== 201) throw new Error(`could not create ${name}: ${JSON.stringify(created.body)}`)
  return key
}
