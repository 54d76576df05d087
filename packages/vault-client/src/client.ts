import { randomBytes } from 'node:crypto'
import {
  importPrivateKey,
  type RequestToSign,
  SignatureError,
  type SignatureHeaders,
  signRequest,
} from '@vault-and-tracker/http-signatures'
import { errorOfAnswer, VaultError } from './errors.ts'

/** How to reach a vault as one project. */
export type VaultClientOptions = {
  /** Where the vault is, for example `https://vault.example.org`. */
  url: string
  /** The project's name. */
  project: string
  /** The project's private key: a JWK JSON string. */
  privateKey: string
  /** Gives up on a request after this long; 10,000 ms by default. */
  timeoutMs?: number
}

/** The secrets of one project. */
export type VaultClient = {
  /** All secrets of an environment, by key. */
  getAll(env?: string): Promise<Record<string, string>>
  /** Creates a secret or overwrites its value. */
  put(key: string, value: string, env: string): Promise<void>
  /** Deletes a secret by the id that the administrators' listing shows. */
  remove(id: string): Promise<void>
}

const DEFAULT_ENV = 'production'

/**
 * A client that signs every request (RFC 9421, Ed25519), a PUT with the digest of its body (RFC 9530).
 *
 * Its methods throw VaultError with a code of the vault's error table, or `unreachable`, `timeout`, `invalid_answer`.
 *
 * @throws VaultError `invalid_configuration` when the URL or the private key cannot be used; the methods also throw it,
 *   where the project's name cannot
 */
export function createVaultClient(options: VaultClientOptions): VaultClient {
  const key = readKey(options.privateKey)
  if (!URL.canParse(options.url)) throw new VaultError('invalid_configuration', 'the URL of the vault is not a URL')
  const timeoutMs = options.timeoutMs ?? 10_000

  const send = async (method: 'GET' | 'PUT' | 'DELETE', path: string, body?: string): Promise<unknown> => {
    const url = new URL(path, options.url).href
    const signature = sign({
      method,
      url,
      project: options.project,
      key,
      created: Math.floor(Date.now() / 1000),
      nonce: randomBytes(16).toString('hex'),
      ...(body !== undefined && { body }),
    })
    const headers: Record<string, string> = { ...signature, accept: 'application/json' }
    if (body !== undefined) headers['content-type'] = 'application/json'
    const request: RequestInit = { method, headers, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) }
    if (body !== undefined) request.body = body
    return readAnswer(await reach(url, request))
  }

  return {
    getAll: async (env = DEFAULT_ENV) => readSecrets(await send('GET', `/v1/secrets?env=${encodeURIComponent(env)}`)),
    put: async (name, value, env) => {
      await send('PUT', '/v1/secrets', JSON.stringify({ key: name, value, env }))
    },
    remove: async (id) => {
      await send('DELETE', `/v1/secrets/${encodeURIComponent(id)}`)
    },
  }
}

function readKey(jwk: string): ReturnType<typeof importPrivateKey> {
  try {
    return importPrivateKey(jwk)
  } catch (error) {
    throw new VaultError('invalid_configuration', 'the private key is not an Ed25519 private JWK', { cause: error })
  }
}

/** Signs. A name that no project can have and a URL with credentials are refused. */
function sign(request: RequestToSign): SignatureHeaders {
  try {
    return signRequest(request)
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error
    throw new VaultError('invalid_configuration', `the request cannot be signed: ${error.message}`, { cause: error })
  }
}

async function reach(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request)
  } catch (error) {
    const { host } = new URL(url)
    if (isRecord(error) && error['name'] === 'TimeoutError')
      throw new VaultError('timeout', `the vault at ${host} did not respond in time`, { cause: error })
    throw new VaultError('unreachable', `the vault at ${host} cannot be reached`, { cause: error })
  }
}

async function readAnswer(response: Response): Promise<unknown> {
  let body: unknown
  try {
    body = await response.json()
  } catch (error) {
    throw new VaultError('invalid_answer', 'the response is not JSON; is this the URL of the vault?', {
      status: response.status,
      cause: error,
    })
  }
  if (response.ok) return body
  const code = isRecord(body) && typeof body['error'] === 'string' ? body['error'] : undefined
  throw errorOfAnswer(response.status, code)
}

function readSecrets(body: unknown): Record<string, string> {
  if (!isRecord(body)) throw new VaultError('invalid_answer', 'the response of the vault is not a map of secrets')
  // Without a prototype, a secret named `__proto__` is a member like any other.
  const secrets: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, value] of Object.entries(body)) {
    if (typeof value !== 'string')
      throw new VaultError('invalid_answer', 'the response of the vault is not a map of secrets')
    secrets[name] = value
  }
  return secrets
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
