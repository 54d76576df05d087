// A vault as in production: the built service in a process of its own, on a Postgres that loses nothing.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort, nodeFlagsOf, provisionDatabase, startDurableServers } from '@vault-and-tracker/dev-env'
import { generateKeyPair, importPrivateKey, signRequest } from '@vault-and-tracker/http-signatures'
import pg from 'pg'
import { migrate } from '../src/db/migrations.ts'
import type { Signer } from './job.ts'
import { stop } from './processes.ts'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const ADMIN_TOKEN = randomBytes(32).toString('hex')
const KEK = randomBytes(32).toString('base64')

/** The servers of a benchmark. */
export type Servers = {
  folder: string
  databaseUrl: string
  redisUrl: string
  /** Runs a statement as superuser. */
  sql: <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>
  stop(): Promise<void>
}

/** A running vault. */
export type Vault = { url: string; port: number; pid: number; stop(): Promise<void> }

/** Postgres with fsync and synchronous commits, Redis with its append-only file, a migrated database. */
export async function startServers(): Promise<Servers> {
  const stores = await startDurableServers('bench')
  const { folder, postgres, redis } = stores
  const owner = { name: 'vault_owner', password: randomBytes(16).toString('hex') }
  const app = { name: 'vault_app', password: randomBytes(16).toString('hex') }
  await provisionDatabase(postgres.url, { database: 'vault', owner, app })
  await migrate({ url: urlOf(postgres.url, owner), runtimeRole: app.name })
  const admin = new pg.Client({ connectionString: urlOf(postgres.url) })
  await admin.connect()
  return {
    folder,
    databaseUrl: urlOf(postgres.url, app),
    redisUrl: redis.url,
    sql: async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
      (await admin.query<Row>(text, values)).rows,
    stop: async () => {
      await admin.end()
      await stores.stop()
    },
  }
}

/** Starts the service; every limit is on and counts, and is too high to refuse anything. */
export async function startVault(servers: Servers, nodeArguments: readonly string[] = []): Promise<Vault> {
  const port = await freePort()
  const child = spawn(process.execPath, [...nodeFlagsOf('vault'), ...nodeArguments, MAIN], {
    stdio: ['ignore', 'inherit', 'inherit'],
    cwd: servers.folder,
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(port),
      DATABASE_URL: servers.databaseUrl,
      REDIS_URL: servers.redisUrl,
      ADMIN_TOKEN,
      VAULT_KEYRING: `bench:${KEK}`,
      VAULT_KEYRING_ACTIVE: 'bench',
      FETCH_RATE_LIMIT: '1000000',
      LOG_LEVEL: 'warn',
    },
  })
  const url = `http://127.0.0.1:${port}`
  await ready(child, url)
  return { url, port, pid: Number(child.pid), stop: () => stop(child) }
}

/** Registers a project and stores its secrets through the service, values of 40 bytes. */
export async function createProject(vault: Vault, name: string, secrets: number): Promise<Signer> {
  const { publicKeyHex, privateJwk } = generateKeyPair()
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name, publicKey: publicKeyHex })
  await expectStatus(201, await fetch(`${vault.url}/v1/admin/projects`, { method: 'POST', headers, body }))
  const project = { project: name, privateKey: privateJwk, publicKeyHex }
  await putSecrets(vault, project, 0, secrets)
  return project
}

/** Stores the secrets with the numbers `from` to `to`, `to` excluded. */
export async function putSecrets(vault: Vault, project: Signer, from: number, to: number): Promise<void> {
  let next = from
  const writer = async (): Promise<void> => {
    while (next < to) {
      const number = String(next++).padStart(5, '0')
      const secret = { key: `SERVICE_SECRET_${number}`, value: randomBytes(30).toString('base64'), env: 'production' }
      await expectStatus(200, await signedFetch(vault, project, 'PUT', JSON.stringify(secret)))
    }
  }
  await Promise.all(Array.from({ length: 16 }, writer))
}

/** One signed request by fetch. */
export function signedFetch(
  vault: Vault,
  { project, privateKey }: Signer,
  method: string,
  body?: string,
): Promise<Response> {
  const url = `${vault.url}/v1/secrets`
  const key = importPrivateKey(privateKey)
  const created = Math.floor(Date.now() / 1000)
  const nonce = randomBytes(16).toString('hex')
  const headers = signRequest({ method, url, project, key, created, nonce, ...(body !== undefined && { body }) })
  if (body === undefined) return fetch(url, { method, headers: { ...headers } })
  return fetch(url, { method, body, headers: { ...headers, 'content-type': 'application/json' } })
}

async function expectStatus(expected: number, response: Response): Promise<void> {
  const text = await response.text()
  if (response.status !== expected) throw new Error(`expected ${expected}, got ${response.status}: ${text}`)
}

async function ready(child: ChildProcess, url: string): Promise<void> {
  const gone = once(child, 'exit').then(() => Promise.reject(new Error('the vault ended while starting')))
  const answers = async (): Promise<void> => {
    for (;;) {
      const response = await fetch(`${url}/ready`).catch(() => undefined)
      await response?.body?.cancel()
      if (response?.status === 200) return
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }
  await Promise.race([answers(), gone])
  gone.catch(() => undefined)
}

function urlOf(adminUrl: string, role?: { name: string; password: string }): string {
  const url = new URL(adminUrl)
  url.pathname = '/vault'
  if (role) Object.assign(url, { username: role.name, password: role.password })
  return url.href
}
