import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How the server handles the next requests. */
type Mode = 'answers' | 'hangs' | 'drops' | 'lies' | { status: number; times: number }

/** A server with OpenBao's transit API (api-docs/secret/transit), and keys in memory. */
export type TransitServer = {
  readonly url: string
  /** The accepted tokens. */
  readonly tokens: Set<string>
  /** All requests, as `POST decrypt`. */
  readonly requests: string[]
  mode: Mode
  /** Adds a version to the key. */
  rotate(): void
  /** Replaces the key with another one of the same name. */
  replace(changes?: { type?: string; derived?: boolean }): void
  /** Lower versions are no longer decrypted. */
  minDecryptionVersion: number
  stop(): Promise<void>
}

type Item = { plaintext?: string; ciphertext?: string; key_version?: number }

class BadRequest extends Error {}

/** Starts the server with one key of one version. */
export async function startTransitServer(name: string, namespace?: string): Promise<TransitServer> {
  let made = 1_442_851_412
  let key = { type: 'aes256-gcm96', derived: false, versions: [newVersion()] }

  function newVersion() {
    made += 1
    return { made, material: randomBytes(32) }
  }

  function encrypt(plaintext: string, wanted = 0): string {
    const version = wanted === 0 ? key.versions.length : wanted
    const material = key.versions[version - 1]?.material
    if (material === undefined) throw new BadRequest('requested version for encryption is not known')
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', material, nonce, { authTagLength: 16 })
    const bytes = Buffer.concat([nonce, cipher.update(plaintext, 'base64'), cipher.final(), cipher.getAuthTag()])
    return `vault:v${String(version)}:${bytes.toString('base64')}`
  }

  function decrypt(ciphertext = ''): string {
    const [, version = '', text = ''] = /^vault:v(\d+):(.+)$/.exec(ciphertext) ?? []
    const material = key.versions[Number(version) - 1]?.material
    if (material === undefined) throw new BadRequest('invalid ciphertext: no prefix')
    if (Number(version) < server.minDecryptionVersion)
      throw new BadRequest('ciphertext or signature version is disallowed by policy (too old)')
    const bytes = Buffer.from(text, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', material, bytes.subarray(0, 12), { authTagLength: 16 })
    try {
      decipher.setAuthTag(bytes.subarray(-16))
      return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('base64')
    } catch {
      throw new BadRequest('cipher: message authentication failed')
    }
  }

  /** A wrong data key for the same owner, from a service that mixes up its records. */
  function another(plaintext: string): string {
    return Buffer.concat([Buffer.from(plaintext, 'base64').subarray(0, -32), randomBytes(32)]).toString('base64')
  }

  const OPERATIONS: Record<string, (item: Item) => object> = {
    encrypt: ({ plaintext = '', key_version: version }) => ({ ciphertext: encrypt(plaintext, version) }),
    decrypt: ({ ciphertext }) => ({
      plaintext: server.mode === 'lies' ? another(decrypt(ciphertext)) : decrypt(ciphertext),
    }),
    rewrap: ({ ciphertext, key_version: version }) => ({ ciphertext: encrypt(decrypt(ciphertext), version) }),
  }

  function answer(request: IncomingMessage, body: string): [status: number, body: object] {
    const [, operation = '', asked] = /^\/v1\/transit\/([a-z]+)\/([^/]+)$/.exec(request.url ?? '') ?? []
    server.requests.push(`${String(request.method)} ${operation}`)
    const { mode } = server
    if (typeof mode === 'object') {
      mode.times -= 1
      if (mode.times <= 0) server.mode = 'answers'
      return [mode.status, { errors: ['Vault is sealed'] }]
    }
    if (!server.tokens.has(String(request.headers['x-vault-token']))) return [403, { errors: ['permission denied'] }]
    if (request.headers['x-vault-namespace'] !== namespace) return [404, { errors: [] }]
    if (operation === 'keys' && request.method === 'GET') {
      if (asked !== name) return [404, { errors: [] }]
      const keys = Object.fromEntries(key.versions.map((version, i) => [String(i + 1), version.made]))
      return [200, { data: { name, type: key.type, derived: key.derived, keys, latest_version: key.versions.length } }]
    }
    const run = OPERATIONS[operation]
    if (run === undefined || request.method !== 'POST') return [405, { errors: ['unsupported operation'] }]
    if (asked !== name) return [400, { errors: ['encryption key not found'] }]
    const { batch_input: items } = JSON.parse(body) as { batch_input: Item[] }
    const results = items.map((item) => {
      try {
        return run(item)
      } catch (error) {
        if (error instanceof BadRequest) return { error: error.message }
        throw error
      }
    })
    return [results.some((result) => 'error' in result) ? 400 : 200, { data: { batch_results: results } }]
  }

  function serve(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (server.mode === 'hangs') return
      if (server.mode === 'drops') {
        request.socket.destroy()
        return
      }
      const [status, body] = answer(request, Buffer.concat(chunks).toString())
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
    })
  }

  const http = createServer(serve)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const server: TransitServer = {
    url: `http://127.0.0.1:${String((http.address() as AddressInfo).port)}`,
    tokens: new Set(['s.token-of-the-vault']),
    requests: [],
    mode: 'answers',
    minDecryptionVersion: 1,
    rotate: () => void key.versions.push(newVersion()),
    replace: (changes = {}) => {
      key = { type: 'aes256-gcm96', derived: false, ...changes, versions: [newVersion()] }
    },
    stop: async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
  return server
}
