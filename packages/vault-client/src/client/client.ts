import { SignatureError, type SigningKey } from '@vault-and-tracker/http-signatures/portable'
import { type CacheOptions, createSecretCache } from './cache.ts'
import { VaultError } from './errors.ts'
import { readPrivateKey } from './private-key.ts'
import { copySecrets, readChanges, readSecrets, type Secrets } from './secrets.ts'
import { createTransport, type Method, type Signer, type TransportOptions } from './transport.ts'
import { type Read, type Watch, type WatchOptions, watchSecrets } from './watch.ts'

export type VaultClientOptions = TransportOptions & {
  /** The project's name. */
  readonly project: string
  /** The project's private key: a JWK JSON string, the 64 hex digits of its seed, or a PKCS#8 PEM. */
  readonly privateKey: string
  /** Reads the private key again. `watch` calls it before each read, so that it picks up a replaced key. */
  readonly reloadPrivateKey?: (() => string | Promise<string>) | undefined
  /** Caches secrets in memory. By default, every `getAll` and `get` sends a request. */
  readonly cache?: CacheOptions | undefined
}

/** The secrets of one project. The default environment is `production`. */
export type VaultClient = {
  /** Returns all secrets of an environment by key, as a copy that the caller may change. */
  getAll(env?: string): Promise<Secrets>
  /** Returns the value of one secret, or undefined if the environment does not contain the key. */
  get(key: string, env?: string): Promise<string | undefined>
  /**
   * Creates a secret or overwrites its value.
   *
   * @param options `references`: the value contains references such as `${KEY}` or `${project.environment.KEY}`, which the
   *   vault resolves when the secret is read
   */
  put(key: string, value: string, env?: string, options?: { readonly references?: boolean }): Promise<void>
  /** Deletes a secret by its id, which `vault admin secrets` lists. */
  remove(id: string): Promise<void>
  /** Deletes a secret by its key. */
  removeByKey(key: string, env?: string): Promise<void>
  /** Follows an environment, bypassing the cache, and reports changes. */
  watch(env: string, options: WatchOptions): Watch
  /** The public key as 64 lower-case hex digits, as registered with the vault. */
  readonly publicKey: string
}

const DEFAULT_ENV = 'production'

/** How long the vault waits for a change before it responds without one. */
const CHANGES_WAIT_MS = 30_000

/** Creates `createVaultClient` for a signer. */
export function clientWith(signer: Signer): (options: VaultClientOptions) => VaultClient {
  return (options) => {
    const project = readProject(options.project)
    let key = importKey(signer, options.privateKey)
    const transport = createTransport(options)
    const cache = options.cache && createSecretCache(options.cache, () => performance.now())

    const send = (method: Method, path: string, { body, signal, waitMs }: Sending = {}): Promise<unknown> =>
      transport.send({
        ...{ method, path, signal, waitMs },
        ...(body !== undefined && { body }),
        authenticate: (url) => sign(signer, { method, url, project, key, ...(body !== undefined && { body }) }),
      })
    const read = async (env: string, signal?: AbortSignal): Promise<Secrets> =>
      readSecrets(await send('GET', `/v1/secrets?env=${encodeURIComponent(env)}`, { signal }))
    const readNext = async (env: string, since: string | undefined, signal: AbortSignal): Promise<Read> => {
      const query = new URLSearchParams({ env, values: 'true', ...(since !== undefined && { since }) }).toString()
      const waitMs = since === undefined ? 0 : CHANGES_WAIT_MS
      try {
        return readChanges(await send('GET', `/v1/secrets/changes?${query}`, { signal, waitMs }))
      } catch (error) {
        if (!isUnknownEndpoint(error)) throw error
        return { version: undefined, secrets: await read(env, signal) }
      }
    }
    const cached = (env: string): Promise<Readonly<Secrets>> =>
      cache === undefined ? read(env) : cache.get(env, () => read(env))

    return {
      get publicKey() {
        return key.publicKeyHex
      },
      getAll: async (env = DEFAULT_ENV) => copySecrets(await cached(env)),
      get: async (name, env = DEFAULT_ENV) => (await cached(env))[name],
      put: async (name, value, env = DEFAULT_ENV, { references = false } = {}) => {
        try {
          // An older vault refuses members that it does not know.
          const body = { key: name, value, env, ...(references && { references }) }
          await send('PUT', '/v1/secrets', { body: JSON.stringify(body) })
        } finally {
          // Even if the request failed: the vault may have stored the value.
          cache?.clear(env)
        }
      },
      remove: async (id) => {
        try {
          await send('DELETE', `/v1/secrets/${encodeURIComponent(id)}`)
        } finally {
          cache?.clear()
        }
      },
      removeByKey: async (name, env = DEFAULT_ENV) => {
        try {
          await send('DELETE', `/v1/secrets?${new URLSearchParams({ key: name, env }).toString()}`)
        } finally {
          cache?.clear(env)
        }
      },
      watch: (env, watching) =>
        watchSecrets({
          read: async (since, signal) => {
            if (options.reloadPrivateKey !== undefined) key = importKey(signer, await options.reloadPrivateKey())
            return readNext(env, since, signal)
          },
          onCurrent: (secrets) => cache?.set(env, copySecrets(secrets)),
          options: watching,
        }),
    }
  }
}

type Sending = {
  readonly body?: string
  readonly signal?: AbortSignal | undefined
  readonly waitMs?: number
}

/** An older vault knows the path only as that of a secret, which cannot be read. */
function isUnknownEndpoint(error: unknown): boolean {
  return error instanceof VaultError && (error.status === 404 || error.status === 405)
}

/** Programs in JavaScript can pass undefined. */
function readProject(project: unknown): string {
  if (typeof project === 'string') return project
  throw new VaultError('invalid_configuration', 'the name of the project is not set')
}

function importKey(signer: Signer, text: string): SigningKey {
  const key = readPrivateKey(text)
  try {
    if (key !== undefined) return signer.importPrivateKey(key)
  } catch (error) {
    throw unusableKey(error)
  }
  throw unusableKey(undefined)
}

function unusableKey(cause: unknown): VaultError {
  const message = 'the private key is not an Ed25519 key: a JWK with d, 64 hex digits or a PKCS#8 PEM'
  return new VaultError('invalid_configuration', message, cause === undefined ? {} : { cause })
}

type ToSign = { method: Method; url: string; project: string; key: SigningKey; body?: string }

/** Signs with a new nonce. Refuses invalid project names and URLs with credentials. */
async function sign(signer: Signer, request: ToSign): Promise<Record<string, string>> {
  const nonce = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0'))
  try {
    return {
      ...(await signer.signRequest({
        ...request,
        created: Math.floor(Date.now() / 1000),
        nonce: nonce.join(''),
      })),
    }
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error
    throw new VaultError('invalid_configuration', `the request cannot be signed: ${error.message}`, { cause: error })
  }
}
