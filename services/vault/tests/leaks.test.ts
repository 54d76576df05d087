import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Redis } from 'ioredis'
import pg from 'pg'
import { type DataKeyOwner, unwrapKey } from '../src/keyring/keyring.ts'
import { parseKeyring } from '../src/keyring/local-keys.ts'
import { type Answer, admin, createProject, keyOf, send, signedSend, signHeaders } from './support/client.ts'
import { ADMIN_TOKEN, KEYS, startVault, type TestVault } from './support/vault.ts'

const VALUE = `canary-value-${randomBytes(12).toString('hex')}`
const BROKEN = `canary-broken-${randomBytes(12).toString('hex')}`

let vault: TestVault
let redis: Redis
let owner: pg.Client

beforeAll(async () => {
  // With limits, so that their keys are in Redis too.
  const limits = { FETCH_RATE_LIMIT: '1000', SIGNATURE_FAILURE_LIMIT: '1000', ADMIN_FAILURE_LIMIT: '1000' }
  vault = await startVault({ ...limits, LOG_LEVEL: 'trace' })
  redis = new Redis(vault.redisUrl)
  owner = new pg.Client({ connectionString: vault.database.ownerUrl })
  await owner.connect()
})
afterAll(async () => {
  redis.disconnect()
  await owner.end()
  await vault.stop()
})

async function databaseDump(): Promise<string> {
  const { rows: tables } = await owner.query<{ name: string }>(
    "select quote_ident(relname) as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  )
  const dump: string[] = []
  for (const { name } of tables) {
    const { rows } = await owner.query<{ row: string }>(`select t::text as row from ${name} t`)
    dump.push(...rows.map(({ row }) => row))
  }
  return dump.join('\n')
}

async function redisDump(): Promise<string> {
  const keys = await redis.keys('*')
  const values = await Promise.all(keys.map((key) => redis.get(key)))
  return keys.map((key, i) => `${key} ${String(values[i])}`).join('\n')
}

/** The unwrapped data keys of the projects and the log. */
async function dataKeys(): Promise<Buffer[]> {
  const list = Object.entries(KEYS).map(([id, key]) => `${id}:${key}`)
  const keyring = parseKeyring(list.join(','), '2026-11')
  const { rows } = await owner.query<DataKeyOwner & { kekId: string; wrapped: Buffer }>(
    `select kek_id as "kekId", wrapped, 'dek' as purpose, project_uid::text as owner, dek_v as version from project_deks
     union all select kek_id, wrapped, 'audit', 'audit', key_no from audit_keys`,
  )
  return Promise.all(rows.map(async (row) => (await unwrapKey(keyring, row, row)).export()))
}

/** A secret in every form in which it could occur. */
function forms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [secret, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, ''), encodeURIComponent(secret)]
}

test('leaks no secret in logs, errors, metrics, Postgres or Redis', async () => {
  const url = `${vault.url}/v1/secrets`
  const key = await createProject(vault.url, 'shop')
  const secret = { key: 'A', value: VALUE, env: 'production' }
  const put = (body: unknown) => signedSend({ project: 'shop', key, method: 'PUT', url, body })
  const errors: Answer[] = []

  expect((await put(secret)).status).toBe(200)
  const headers = await signHeaders({ project: 'shop', key, method: 'GET', url })
  expect((await send(url, { headers })).body).toEqual({ A: VALUE })
  const rotated = await admin(vault.url, 'PUT', '/projects/shop/rotate')
  const { privateKey } = rotated.body as { privateKey: string }
  expect((await signedSend({ project: 'shop', key: keyOf(privateKey), method: 'GET', url })).status).toBe(200)

  // Every failure that involves a secret.
  errors.push(await send(url, { headers }))
  errors.push(await put(`{"key":"A","value":"${BROKEN}`))
  errors.push(await put({ ...secret, value: BROKEN, env: '/' }))
  errors.push(await put({ ...secret, [BROKEN]: 1 }))
  errors.push(await put(`{"key":"A","value":"${BROKEN}","value":"${BROKEN}","env":"e"}`))
  errors.push(await admin(vault.url, 'POST', '/projects', { name: BROKEN, publicKey: privateKey }))
  errors.push(await admin(vault.url, 'POST', '/projects', { name: 'shop', publicKey: key.publicKeyHex }))
  errors.push(
    await send(`${vault.url}/v1/admin/audit?token=${ADMIN_TOKEN}`, {
      headers: { Authorization: `Basic ${ADMIN_TOKEN}` },
    }),
  )
  errors.push(await admin(vault.url, 'GET', `/nowhere/${BROKEN}`))
  errors.push(await admin(vault.url, 'GET', `/audit?limit=${BROKEN}`))
  // A value that Postgres itself refuses while it is in a statement, and one that does not decrypt.
  await owner.query('alter table secret_versions add constraint no_more check (version < 2) not valid')
  errors.push(await put({ ...secret, value: BROKEN }))
  await owner.query("update secret_versions set blob = overlay(blob placing '\\x00' from 20)")
  errors.push(await signedSend({ project: 'shop', key, method: 'GET', url }))
  expect(errors.map(({ status }) => status)).toEqual([401, 400, 400, 400, 400, 400, 409, 401, 404, 400, 500, 500])
  await vault.seal()

  const places = {
    log: vault.logged(),
    errors: errors.map(({ body, headers: answered }) => JSON.stringify([body, [...answered]])).join('\n'),
    metrics: await (await fetch(`${vault.url}/metrics`)).text(),
    database: await databaseDump(),
    redis: await redisDump(),
  }
  // The places are not empty: they contain names, which are not secret.
  expect(places.log).toContain('does not decrypt')
  expect(places.database).toContain('shop')
  expect(places.redis).toContain('vault:nonce:')
  expect(places.metrics).toContain('vault_decryption_failures_total 1')

  const { d } = JSON.parse(privateKey) as { d: string }
  const signature = String(headers['Signature']).slice('sig1=:'.length, -1)
  const password = new URL(vault.database.appUrl).password
  const secrets = [VALUE, BROKEN, ADMIN_TOKEN, privateKey, d, signature, password, ...Object.values(KEYS)]
  const unwrapped = await dataKeys()
  expect(unwrapped).toHaveLength(2)
  const keyBytes = [...[...Object.values(KEYS), d].map((text) => Buffer.from(text, 'base64')), ...unwrapped].flatMap(
    (bytes) => [bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')],
  )
  for (const [place, text] of Object.entries(places)) {
    for (const form of [...secrets.flatMap(forms), ...keyBytes]) {
      if (text.includes(form)) throw new Error(`the ${place} holds ${form}`)
    }
  }
})
