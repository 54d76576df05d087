// The built vault in a separate process, on a durable Postgres and Redis.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort, nodeFlagsOf, provisionDatabase, startDurableServers } from '@vault-and-tracker/dev-env'
import { cpuOfTree, requestOf, untilAnswering } from '@vault-and-tracker/dev-env/bench'
import { generateKeyPair, importPrivateKey, type SigningKey, signRequest } from '@vault-and-tracker/http-signatures'
import { migrate } from '../src/db/migrations.ts'

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url))
const ADMIN_TOKEN = randomBytes(32).toString('hex')

/** A server in a separate process. */
export type Server = { readonly url: string; cpuSeconds(): number; stop(): Promise<void> }

async function startServer(args: readonly string[], env: Record<string, string>, ready: string): Promise<Server> {
  const url = `http://127.0.0.1:${String(env['PORT'])}`
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { PATH: process.env['PATH'], ...env },
  })
  await untilAnswering(url + ready, () => child.exitCode === null)
  const stop = async (): Promise<void> => {
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    await exited
  }
  return { url, cpuSeconds: () => cpuOfTree(Number(child.pid)), stop }
}

/** Express with a constant of the given size. */
export async function startExpress(bytes: number): Promise<Server> {
  const port = String(await freePort())
  return await startServer([here('express.mjs'), port, String(bytes)], { PORT: port }, '/')
}

/** A vault with its servers. All limits are on, and too high to refuse anything. */
export async function startVault(): Promise<Server & { readonly folder: string }> {
  const stores = await startDurableServers('bench')
  const role = (name: string) => ({ name, password: randomBytes(16).toString('hex') })
  const [owner, app] = [role('vault_owner'), role('vault_app')]
  await provisionDatabase(stores.postgres.url, { database: 'vault', owner, app })
  const urlOf = ({ name, password }: typeof owner): string =>
    Object.assign(new URL(stores.postgres.url), { pathname: '/vault', username: name, password }).href
  await migrate({ url: urlOf(owner), runtimeRole: app.name })
  const env = {
    ...{ NODE_ENV: 'production', HOST: '127.0.0.1', PORT: String(await freePort()), LOG_LEVEL: 'warn' },
    ...{
      DATABASE_URL: urlOf(app),
      REDIS_URL: stores.redis.url,
      ADMIN_TOKEN,
      FETCH_RATE_LIMIT: '1000000',
      WRITE_RATE_LIMIT: '1000000',
    },
    ...{ VAULT_KEYRING: `bench:${randomBytes(32).toString('base64')}`, VAULT_KEYRING_ACTIVE: 'bench' },
  }
  const vault = await startServer([...nodeFlagsOf('vault'), here('../dist/main.js')], env, '/ready')
  const stop = async (): Promise<void> => {
    await vault.stop()
    await stores.stop()
  }
  return { ...vault, folder: stores.folder, stop }
}

/** A project whose requests are signed. */
export type Project = { readonly name: string; readonly key: SigningKey }

async function administer(vault: Server, method: string, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }
  await expectOk(await fetch(`${vault.url}/v1/admin${path}`, { method, headers, body: JSON.stringify(body) }))
}

/**
 * Registers a project, and stores secrets of 40 bytes.
 *
 * @param options `inherited` of the secrets are in a parent environment; `keys` are all public keys of the project
 */
export async function createProject(
  vault: Server,
  name: string,
  secrets: number,
  { inherited = 0, keys = 1 }: { inherited?: number; keys?: number } = {},
): Promise<Project> {
  const { publicKeyHex, privateJwk } = generateKeyPair()
  await administer(vault, 'POST', '/projects', { name, publicKey: publicKeyHex })
  for (let i = 1; i < keys; i++)
    await administer(vault, 'POST', `/projects/${name}/keys`, {
      ...{ name: `key-${String(i)}`, publicKey: generateKeyPair().publicKeyHex },
    })
  const project = { name, key: importPrivateKey(privateJwk) }
  let next = 0
  const writer = async (): Promise<void> => {
    while (next < secrets) {
      const env = next < inherited ? 'common' : 'production'
      const key = `SERVICE_SECRET_${String(next++).padStart(5, '0')}`
      const secret = JSON.stringify({ key, value: randomBytes(30).toString('base64'), env })
      const signed = { ...headersOf(vault, project, 'PUT', secret), 'content-type': 'application/json' }
      await expectOk(await fetch(`${vault.url}/v1/secrets`, { method: 'PUT', headers: signed, body: secret }))
    }
  }
  await Promise.all(Array.from({ length: 16 }, writer))
  if (inherited > 0) await administer(vault, 'PUT', `/projects/${name}/environments/production`, { parent: 'common' })
  return project
}

function headersOf(vault: Server, { name, key }: Project, method: string, body?: string): Record<string, string> {
  const created = Math.floor(Date.now() / 1000)
  const request = { method, url: `${vault.url}/v1/secrets`, project: name, key, created }
  return { ...signRequest({ ...request, nonce: randomBytes(16).toString('hex'), ...(body !== undefined && { body }) }) }
}

/** Signed fetches of projects in turn. Each can be sent once, within five minutes. */
export function signedFetches(vault: Server, projects: readonly Project[], count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const project = projects[i % projects.length]
    if (project === undefined) throw new Error('no project')
    return requestOf(vault.url, '/v1/secrets', headersOf(vault, project, 'GET'))
  })
}

async function expectOk(response: Response): Promise<void> {
  if (!response.ok) throw new Error(`${String(response.status)} ${await response.text()}`)
  await response.arrayBuffer()
}
