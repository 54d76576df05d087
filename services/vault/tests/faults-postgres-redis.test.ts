import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import {
  eventually,
  type PrivateServer,
  removeTemporaryFolder,
  startPostgres,
  startRedis,
  temporaryFolder,
} from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import { admin, createProject, type Key, send, signedSend, signHeaders } from './support/client.ts'
import { connectSql, type Sql } from './support/sql.ts'
import { startVault, type TestVault } from './support/vault.ts'
import { statusOf } from './support/vault-process.ts'

const UNAVAILABLE = [503, { error: 'unavailable', message: expect.any(String) }]

describe('Redis', () => {
  let folder: string
  let redis: PrivateServer
  let vault: TestVault
  let client: Redis
  let key: Key
  let url: string

  beforeAll(async () => {
    folder = temporaryFolder('faults-redis')
    redis = await startRedis({ dataDir: `${folder}/redis`, durable: true })
    client = new Redis(redis.url)
    const env = { FETCH_RATE_LIMIT: '100000', SIGNATURE_FAILURE_LIMIT: '100000', ADMIN_FAILURE_LIMIT: '100000' }
    vault = await startVault(env, { redisUrl: redis.url })
    key = await createProject(vault.url, 'shop')
    url = `${vault.url}/v1/secrets`
  })
  afterAll(async () => {
    client.disconnect()
    await vault.stop()
    await redis.stop()
    removeTemporaryFolder(folder)
  })

  const signed = () => signHeaders({ project: 'shop', key, method: 'GET', url })

  async function get(headers: Record<string, string>): Promise<[number, unknown]> {
    const { status, body } = await send(url, { headers })
    return [status, body]
  }

  const put = (name: string) =>
    signedSend({ project: 'shop', key, method: 'PUT', url, body: { key: name, value: 'v', env: 'production' } })

  const works = () => eventually(async () => (await get(await signed()))[0] === 200)

  test('is unavailable for signed requests while Redis is stopped', async () => {
    await redis.stop()
    const early = await signed()
    expect(await get(early)).toEqual(UNAVAILABLE)
    const written = await put('WHILE_STOPPED')
    expect([written.status, written.body]).toEqual(UNAVAILABLE)
    expect([await statusOf(`${vault.url}/ready`), await statusOf(`${vault.url}/health`)]).toEqual([503, 200])

    await redis.restart()
    await works()
    expect(await statusOf(`${vault.url}/ready`)).toBe(200)
    expect(await get(early)).toEqual([200, {}])
    expect(await get(early)).toEqual([401, { error: 'replayed_nonce' }])
  })

  test('is unavailable for failed authentications while Redis is stopped', async () => {
    await redis.stop()
    expect(await get({})).toEqual(UNAVAILABLE)
    const wrong = await send(`${vault.url}/v1/admin/projects`, { headers: { authorization: 'Bearer wrong' } })
    expect([wrong.status, wrong.body]).toEqual(UNAVAILABLE)
    // A valid token needs no counter.
    expect((await admin(vault.url, 'GET', '/projects')).status).toBe(200)
    await redis.restart()
    await works()
  })

  test('is unavailable while Redis is frozen, and accepts no nonce twice afterwards', async () => {
    const requests = await Promise.all(Array.from({ length: 20 }, signed))
    redis.pause()
    const frozen = await Promise.all(requests.map(get))
    redis.resume()
    expect(frozen).toEqual(requests.map(() => UNAVAILABLE))

    await works()
    // Redis may have executed what it received while frozen; then the nonce is spent, which is safe.
    const first = await Promise.all(requests.map(get))
    expect(first.every(([status, body]) => status === 200 || isReplay(body))).toBe(true)
    const second = await Promise.all(requests.map(get))
    expect(second.every(([status, body]) => status === 401 && isReplay(body))).toBe(true)
  })

  test('remembers a nonce across a restart of Redis', async () => {
    const headers = await signed()
    expect(await get(headers)).toEqual([200, {}])
    await redis.restart()
    await works()
    expect(await get(headers)).toEqual([401, { error: 'replayed_nonce' }])
  })

  test('recovers when Redis is killed under load', async () => {
    const statuses = new Set<number>()
    const until = Date.now() + 1_500
    const load = Array.from({ length: 8 }, async () => {
      while (Date.now() < until) statuses.add((await get(await signed()))[0])
    })
    await redis.kill()
    await Promise.all(load)
    await redis.restart()
    await works()
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
    expect(statuses).toContain(503)
  })

  async function ready(): Promise<[number, unknown]> {
    const { status, body } = await send(`${vault.url}/ready`)
    return [status, (body as { checks: unknown }).checks]
  }

  const REDIS_FAULTS: readonly (readonly [string, () => Promise<unknown>, () => Promise<unknown>])[] = [
    ['is full', () => client.config('SET', 'maxmemory', '1'), () => client.config('SET', 'maxmemory', '0')],
    [
      'lacks its replicas',
      () => client.config('SET', 'min-replicas-to-write', '1'),
      () => client.config('SET', 'min-replicas-to-write', '0'),
    ],
    ['is read-only', () => client.replicaof('127.0.0.1', 1), () => client.replicaof('NO', 'ONE')],
  ]

  test.each(REDIS_FAULTS)(
    'while Redis %s, the vault is not ready and reports the check',
    async (_fault, begin, end) => {
      await begin()
      const during = await ready()
      const answer = await get(await signed())
      await end()
      expect(during).toEqual([503, { postgres: 'ok', redis: 'failed', keyring: 'ok', audit: 'ok' }])
      expect(answer).toEqual(UNAVAILABLE)
      await eventually(async () => (await ready())[0] === 200)
    },
  )

  test('is unavailable while Redis is busy with a script', async () => {
    await client.config('SET', 'lua-time-limit', '1')
    const other = new Redis(redis.url)
    const script = other.eval('while true do end', 0).catch(() => 'killed')
    const statuses = new Set<string>()
    await eventually(async () => {
      statuses.add(JSON.stringify(await get(await signed())))
      return statuses.size > 0 && (await client.ping().catch((error: unknown) => String(error))).includes('BUSY')
    })
    const busy = await get(await signed())
    await client.script('KILL')
    expect(await script).toBe('killed')
    other.disconnect()
    expect(busy).toEqual(UNAVAILABLE)
    await eventually(async () => (await ready())[0] === 200)
  })

  function isReplay(body: unknown): boolean {
    return JSON.stringify(body) === '{"error":"replayed_nonce"}'
  }
})

describe('Postgres', () => {
  let folder: string
  let postgres: PrivateServer
  let vault: TestVault
  let key: Key
  let url: string
  let sql: Sql

  beforeAll(async () => {
    folder = temporaryFolder('faults-postgres')
    // Durable, because acknowledged writes must survive a crash of the server.
    postgres = await startPostgres({ dataDir: `${folder}/postgres`, durable: true })
    vault = await startVault({}, { postgres })
    key = await createProject(vault.url, 'shop')
    url = `${vault.url}/v1/secrets`
  })
  afterAll(async () => {
    await vault.stop()
    await postgres.stop()
    removeTemporaryFolder(folder)
  })
  beforeEach(async () => {
    sql = await connectSql(vault.database.adminUrl)
  })
  afterEach(() => sql.end())

  async function get(): Promise<[number, unknown]> {
    const headers = await signHeaders({ project: 'shop', key, method: 'GET', url })
    const { status, body } = await send(url, { headers })
    return [status, body]
  }

  async function put(name: string, value = 'v'): Promise<[number, unknown]> {
    const body = { key: name, value, env: 'production' }
    const { status, body: answer } = await signedSend({ project: 'shop', key, method: 'PUT', url, body })
    return [status, answer]
  }

  async function create(name: string): Promise<[number, unknown]> {
    const { status, body } = await admin(vault.url, 'POST', '/projects', { name, publicKey: key.publicKeyHex })
    return [status, body]
  }

  const works = () => eventually(async () => (await get())[0] === 200)

  test('answers within ten seconds while Postgres is frozen', async () => {
    await works()
    await sql('begin')
    await sql('lock table audit in exclusive mode')
    const body = JSON.stringify({ key: 'FROZEN', value: 'v', env: 'production' })
    const signed = await signHeaders({ project: 'shop', key, method: 'PUT', url })
    const headers = { ...signed, 'Content-Type': 'application/json' }
    const answer = fetch(url, { method: 'PUT', body, headers, signal: AbortSignal.timeout(10_000) })
    await eventually(
      async () => (await sql("select 1 from pg_locks where not granted and relation = 'audit'::regclass")).length > 0,
    )
    postgres.pause()
    const { status } = await answer.finally(() => postgres.resume())
    expect(status).toBe(503)
    await sql('rollback')
    await works()
  })

  /** The number of rows by table. */
  function written(): Promise<unknown> {
    return sql(`select (select count(*)::int from projects) as projects, (select count(*)::int from secrets) as secrets,
    (select count(*)::int from secret_versions) as versions, (select count(*)::int from audit) as entries`)
  }

  /** Ends the service's connections, so that the next ones start with the database's new settings. */
  const disconnect = () =>
    sql(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'vault'`)

  test('is unavailable while Postgres is stopped, and recovers', async () => {
    await postgres.stop()
    const answers = await Promise.all([get(), put('WHILE_STOPPED'), create('while-stopped')])
    expect(answers).toEqual([UNAVAILABLE, UNAVAILABLE, UNAVAILABLE])
    expect([await statusOf(`${vault.url}/ready`), await statusOf(`${vault.url}/health`)]).toEqual([503, 200])
    await postgres.restart()
    await works()
    expect(await get()).toEqual([200, {}])
    expect(await create('after-the-stop')).toEqual([201, { ok: true, id: 'after-the-stop' }])
  })

  test('keeps acknowledged writes, and writes others completely or not at all, when Postgres is killed', async () => {
    const answered = new Map<string, string>()
    const statuses = new Set<number>()
    let isLoading = true
    const load = Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; isLoading; i++) {
        const name = `KEY_${String(writer)}_${String(i)}`
        const [status] = await put(name, `value of ${name}`)
        statuses.add(status)
        if (status === 200) answered.set(name, `value of ${name}`)
      }
    })
    await eventually(() => answered.size > 20)
    await postgres.kill()
    await eventually(() => statuses.has(503))
    isLoading = false
    await Promise.all(load)
    await postgres.restart()
    await works()
    expect([...statuses].sort()).toEqual([200, 503])
    const [, stored] = await get()
    expect(stored).toMatchObject(Object.fromEntries(answered))
    for (const [name, value] of Object.entries(stored as Record<string, string>)) expect(value).toBe(`value of ${name}`)
  })

  test('is unavailable while Postgres is read-only', async () => {
    await works()
    const before = await written()
    await sql(`alter database ${vault.database.name} set default_transaction_read_only = on`)
    await disconnect()
    await eventually(async () => (await get())[0] === 503)
    expect(await Promise.all([get(), put('READ_ONLY'), create('read-only')])).toEqual([
      UNAVAILABLE,
      UNAVAILABLE,
      UNAVAILABLE,
    ])
    expect((await send(`${vault.url}/ready`)).body).toMatchObject({ checks: { postgres: 'failed', redis: 'ok' } })
    expect(await written()).toEqual(before)
    await sql(`alter database ${vault.database.name} reset default_transaction_read_only`)
    await disconnect()
    await works()
  })

  test('is unavailable but healthy while Postgres is slow', async () => {
    await works()
    const before = await written()
    await sql('begin')
    await sql('lock table audit in access exclusive mode')
    // More requests than connections: the rest waits for one for three seconds.
    const requests = [...Array.from({ length: 15 }, get), put('SLOW'), create('slow')]
    expect(await Promise.race([statusOf(`${vault.url}/health`), ...requests])).toBe(200)
    expect(await Promise.all(requests)).toEqual(requests.map(() => UNAVAILABLE))
    await sql('rollback')
    await works()
    const after = await written()
    expect(after).toEqual([{ ...(before as object[])[0], entries: expect.any(Number) }])
  })
})
