import { chownSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  createAuthority,
  createCertificate,
  freePort,
  type PrivateServer,
  postgresAccount,
  removeTemporaryFolder,
  startPostgres,
  startRedis,
  temporaryFolder,
  withClient,
} from '@vault-and-tracker/dev-env'
import { startHint } from '../src/lifecycle/start-hint.ts'
import { createLogger } from '../src/log/logger.ts'
import { createPool } from '../src/postgres/pool.ts'
import { closeRedis, connectRedis } from '../src/redis/connection.ts'

const logger = createLogger({ name: 'test', level: 'silent' })

let folder: string
let authority: string
let otherAuthority: string

const issue = async (server: string, host = 'DNS:localhost') => {
  const issuer = await createAuthority(folder, `ca-${server}`)
  authority = issuer.certificate
  return createCertificate(folder, server, [host], issuer)
}

beforeAll(async () => {
  folder = temporaryFolder('tls')
  otherAuthority = (await createAuthority(folder, 'ca-other')).certificate
})
afterAll(() => removeTemporaryFolder(folder))

/** The error, without the password. */
async function problemOf(work: Promise<unknown>, password: string): Promise<unknown> {
  const error = await work.then(
    () => undefined,
    (problem: unknown) => problem,
  )
  expect(String(error)).not.toContain(password)
  return error
}

describe('Redis over TLS', () => {
  let server: PrivateServer
  let url: (host: string, ca: string) => string
  let password: string

  beforeAll(async () => {
    const { certificate, key } = await issue('redis')
    const port = await freePort()
    server = await startRedis({
      ...{ dataDir: `${folder}/redis`, durable: false },
      settings: [
        `tls-port ${String(port)}`,
        `tls-cert-file ${certificate}`,
        `tls-key-file ${key}`,
        'tls-auth-clients no',
      ],
    })
    password = new URL(server.url).password
    url = (host, ca) => `rediss://:${password}@${host}:${String(port)}?ssl_ca_certs=${ca}`
  })
  afterAll(() => server.stop())

  test('a certificate of the given CA is accepted', async () => {
    const redis = await connectRedis({ url: url('localhost', authority), name: 'test', logger })
    expect(await redis.set('k', 'v')).toBe('OK')
    await closeRedis(redis)
  })

  test.each([
    ['another CA', 'localhost', () => otherAuthority, /not trusted.*ssl_ca_certs.*REDIS_URL/],
    ['another host', '127.0.0.1', () => authority, /another host.*REDIS_URL/],
  ])('a certificate of %s ends the start with the remedy', async (_what, host, ca, hint) => {
    const problem = await problemOf(connectRedis({ url: url(host, ca()), name: 'test', logger }), password)
    expect(startHint(problem)).toMatch(hint)
  })
})

describe('Postgres over TLS', () => {
  let server: PrivateServer
  let url: (host: string, ca: string) => string
  let password: string

  beforeAll(async () => {
    const { certificate, key } = await issue('postgres')
    const account = postgresAccount()
    if (account !== undefined) for (const file of [certificate, key]) chownSync(file, account.uid, account.gid)
    server = await startPostgres({ dataDir: `${folder}/postgres`, durable: false })
    password = new URL(server.url).password
    await withClient(server.url, async (client) => {
      for (const setting of [`ssl_cert_file = '${certificate}'`, `ssl_key_file = '${key}'`, 'ssl = on'])
        await client.query(`alter system set ${setting}`)
      await client.query('select pg_reload_conf()')
    })
    url = (host, ca) =>
      `${Object.assign(new URL(server.url), { hostname: host }).href}?sslmode=verify-full&sslrootcert=${ca}`
  })
  afterAll(() => server.stop())

  async function query(databaseUrl: string): Promise<unknown> {
    const pool = createPool({ url: databaseUrl, name: 'test', size: 1, logger })
    try {
      return (await pool.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')).rows
    } finally {
      await pool.end()
    }
  }

  test('a certificate of the given CA is accepted', async () => {
    expect(await query(url('localhost', authority))).toEqual([{ ssl: true }])
  })

  test.each([
    ['another CA', 'localhost', () => otherAuthority, /not trusted.*sslrootcert.*DATABASE_URL/],
    ['another host', '127.0.0.1', () => authority, /another host.*DATABASE_URL/],
  ])('a certificate of %s is refused with the remedy', async (_what, host, ca, hint) => {
    expect(startHint(await problemOf(query(url(host, ca())), password))).toMatch(hint)
  })
})
