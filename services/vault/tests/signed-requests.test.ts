import { randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Redis } from 'ioredis'
import { admin, createProject, type Key, keyOf, newKey, send, signedSend, signHeaders } from './support/client.ts'
import { startVault, type TestVault } from './support/vault.ts'

let vault: TestVault
let key: Key
let url: string
let redis: Redis

beforeAll(async () => {
  vault = await startVault({ TRUSTED_PROXIES: '127.0.0.2', PUBLIC_URL: 'https://vault.example,http://127.0.0.1:0' })
  redis = new Redis(vault.redisUrl)
  key = await createProject(vault.url, 'shop')
  url = `${vault.url}/v1/secrets`
})
afterAll(async () => {
  redis.disconnect()
  await vault.stop()
})

const now = () => Math.floor(Date.now() / 1000)

async function get(headers: Record<string, string>, target = url): Promise<unknown> {
  const { status, body } = await send(target, { headers })
  return [status, body]
}

const refused = (error: string) => [401, { error }]

type Raw = { status: number; body: string; challenge: string | undefined }

/** A request with exactly these headers, in order and with duplicates; from 127.0.0.2 for the proxy. */
function rawRequest(headers: string[], options: { method?: string; path?: string; from?: string } = {}): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      {
        host: '127.0.0.1',
        port: new URL(vault.url).port,
        method: options.method ?? 'GET',
        path: options.path ?? '/v1/secrets',
        headers,
        setHost: false,
        localAddress: options.from,
      },
      (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
        response.on('end', () => {
          const { statusCode: status = 0, headers: fields } = response
          resolve({ status, body, challenge: fields['www-authenticate'] })
        })
      },
    )
    outgoing.on('error', reject).end()
  })
}

const flat = (headers: Record<string, string>) => Object.entries(headers).flat()

test.each(['Signature', 'Signature-Input', 'Signature-Agent'])(
  'a request without %s misses its signature',
  async (name) => {
    const headers = await signHeaders({ project: 'shop', key, method: 'GET', url })
    const others = Object.fromEntries(Object.entries(headers).filter(([header]) => header !== name))
    expect(await get(others)).toEqual(refused('missing_signature'))
    expect(await get({ ...others, [name]: '' })).toEqual(refused('missing_signature'))
  },
)

test('every signed endpoint refuses an unsigned request', async () => {
  for (const [method, path] of [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', '/01890a5d-ac96-774b-bcce-b302099a8057'],
  ] as const) {
    const { status, body } = await send(url + path, { method })
    expect([status, body]).toEqual(refused('missing_signature'))
  }
})

test('every signed endpoint refuses a foreign key', async () => {
  for (const [method, path] of [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', '/01890a5d-ac96-774b-bcce-b302099a8057'],
  ] as const) {
    const { status, body } = await signedSend({ project: 'shop', key: newKey(), method, url: url + path })
    expect([status, body]).toEqual(refused('invalid_signature'))
  }
})

test('recognises a project as soon as it is created', async () => {
  const otherKey = newKey()
  const headers = () => signHeaders({ project: 'newcomer', key: otherKey, method: 'GET', url })
  expect(await get(await headers())).toEqual(refused('unknown_project'))
  await admin(vault.url, 'POST', '/projects', { name: 'newcomer', publicKey: otherKey.publicKeyHex })
  expect(await get(await headers())).toEqual([200, {}])
})

test('Signature-Agent only selects among the keys of the project', async () => {
  const otherKey = newKey()
  const mixed = { ...key, privateKey: otherKey.privateKey }
  expect(await get(await signHeaders({ project: 'shop', key: mixed, method: 'GET', url }))).toEqual(
    refused('invalid_signature'),
  )
})

test('accepts clocks that differ by up to five minutes', async () => {
  const at = (created: number) => signHeaders({ project: 'shop', key, method: 'GET', url, created })
  for (const age of [295, -299]) expect(await get(await at(now() - age))).toEqual([200, {}])
  for (const age of [301, -305]) expect(await get(await at(now() - age))).toEqual(refused('expired'))
})

test('remembers a nonce for longer than its request is valid', async () => {
  const nonce = randomBytes(16).toString('hex')
  const headers = await signHeaders({ project: 'shop', key, method: 'GET', url, nonce, created: now() + 299 })
  expect(await get(headers)).toEqual([200, {}])
  const [stored = ''] = await redis.keys(`*${nonce}`)
  expect(await redis.pttl(stored)).toBeGreaterThan(630_000)
})

test('nonces are case-insensitive', async () => {
  const nonce = randomBytes(16).toString('hex').replace(/^./, 'a')
  expect(await get(await signHeaders({ project: 'shop', key, method: 'GET', url, nonce }))).toEqual([200, {}])
  expect(
    await get(await signHeaders({ project: 'shop', key, method: 'GET', url, nonce: nonce.toUpperCase() })),
  ).toEqual(refused('replayed_nonce'))
})

test('accepts the same nonce from two projects', async () => {
  const other = await createProject(vault.url, 'other')
  const nonce = randomBytes(16).toString('hex')
  expect(await get(await signHeaders({ project: 'shop', key, method: 'GET', url, nonce }))).toEqual([200, {}])
  expect(await get(await signHeaders({ project: 'other', key: other, method: 'GET', url, nonce }))).toEqual([200, {}])
})

test('does not spend the nonce of a refused signature', async () => {
  const nonce = randomBytes(16).toString('hex')
  const stale = await signHeaders({ project: 'shop', key, method: 'GET', url, nonce, created: now() - 400 })
  expect(await get(stale)).toEqual(refused('expired'))
  const forged = await signHeaders({ project: 'shop', key: newKey(), method: 'GET', url, nonce })
  expect(await get(forged)).toEqual(refused('invalid_signature'))
  expect(await get(await signHeaders({ project: 'shop', key, method: 'GET', url, nonce }))).toEqual([200, {}])
})

test('accepts a signature only for its method, host, path and query', async () => {
  const other = async (signed: { method?: string; url?: string }, target = url) =>
    get(await signHeaders({ project: 'shop', key, method: 'GET', url, ...signed }), target)
  expect(await other({ method: 'PUT' })).toEqual(refused('invalid_signature'))
  expect(await other({ url: `${url}?env=staging` })).toEqual(refused('invalid_signature'))
  expect(await other({}, `${url}?env=staging`)).toEqual(refused('invalid_signature'))
  expect(await other({ url: url.replace('127.0.0.1', 'localhost') })).toEqual(refused('invalid_signature'))
  expect(await other({ url: url.replace('http:', 'https:') })).toEqual(refused('invalid_signature'))
  expect(await other({ url: `${url}?env=a%62` }, `${url}?env=ab`)).toEqual(refused('invalid_signature'))
})

test('refuses duplicate Host and signature headers', async () => {
  const headers = await signHeaders({ project: 'shop', key, method: 'GET', url })
  const { host } = new URL(vault.url)
  const good = ['Host', host, ...flat(headers)]
  expect((await rawRequest([...good, 'Host', host])).body).toBe('{"error":"invalid_signature"}')
  expect((await rawRequest([...good, 'Signature', headers['Signature'] ?? ''])).body).toBe(
    '{"error":"invalid_signature"}',
  )
  expect((await rawRequest(flat(headers))).body).toBe('{"error":"invalid_signature"}')
  expect((await rawRequest(good)).status).toBe(200)
})

test('refuses a target with another host', async () => {
  const { host } = new URL(vault.url)
  const headers = await signHeaders({ project: 'shop', key, method: 'GET', url })
  const answer = await rawRequest(['Host', host, ...flat(headers)], { path: `http://evil.example/v1/secrets` })
  expect(answer.status).not.toBe(200)
})

test('takes scheme, host and address only from a trusted proxy', async () => {
  const outside = 'https://vault.example/v1/secrets'
  const headers = async () => [
    'Host',
    new URL(vault.url).host,
    'X-Forwarded-Proto',
    'https',
    'X-Forwarded-Host',
    'vault.example',
    'X-Forwarded-For',
    '6.6.6.6, 203.0.113.7',
    ...flat(await signHeaders({ project: 'shop', key, method: 'GET', url: outside })),
  ]
  expect((await rawRequest(await headers())).body).toBe('{"error":"invalid_signature"}')
  expect((await rawRequest(await headers(), { from: '127.0.0.2' })).status).toBe(200)
  const { body } = await admin(vault.url, 'GET', '/audit?limit=1')
  expect(body).toEqual([expect.objectContaining({ ip: '203.0.113.7' })])
})

test('shows the holder of the key that a proxy hides scheme or host', async () => {
  const { host } = new URL(vault.url)
  const challenge = async (signed: { key: Key; url: string }, ...headers: string[]) => {
    const signature = flat(await signHeaders({ project: 'shop', method: 'GET', ...signed }))
    const answer = await rawRequest(['Host', host, ...headers, ...signature])
    expect([answer.status, answer.body]).toEqual([401, '{"error":"invalid_signature"}'])
    return answer.challenge
  }
  const named = expect.stringMatching(/^Signature error="invalid_signature", error_description=".*TRUSTED_PROXIES.*"$/)
  const https = url.replace('http:', 'https:')
  const outside = 'https://vault.example/v1/secrets'
  const forwarded = ['X-Forwarded-Host', 'vault.example']
  expect(await challenge({ key, url: https })).toEqual(named)
  expect(await challenge({ key, url: outside }, ...forwarded)).toEqual(named)
  expect(await challenge({ key, url: outside })).toBeUndefined()
  expect(await challenge({ key, url: `${https}?env=staging` }, ...forwarded)).toBeUndefined()
  expect(await challenge({ key: { ...key, privateKey: newKey().privateKey }, url: https })).toBeUndefined()
  expect(await challenge({ key: newKey(), url: https })).toBeUndefined()
})

test('refuses HEAD', async () => {
  const headers = await signHeaders({ project: 'shop', key, method: 'HEAD', url })
  const response = await fetch(url, { method: 'HEAD', headers })
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, PUT, DELETE'])
})

test('remembers the nonces of a key across a deletion of its project', async () => {
  const twin = await createProject(vault.url, 'twin')
  const headers = await signHeaders({ project: 'twin', key: twin, method: 'GET', url })
  expect(await get(headers)).toEqual([200, {}])
  await admin(vault.url, 'DELETE', '/projects/twin')
  await admin(vault.url, 'POST', '/projects', { name: 'twin', publicKey: twin.publicKeyHex })
  expect(await get(headers)).toEqual(refused('replayed_nonce'))
})

describe('simultaneous fetches', () => {
  let vault: TestVault
  let replica: TestVault

  beforeAll(async () => {
    vault = await startVault()
    replica = await vault.replica()
  })
  afterAll(async () => {
    await replica.stop()
    await vault.stop()
  })

  type Place = { readonly project: string; readonly key: Key; readonly env: string }

  async function put({ project, key, env }: Place, name: string, value: string): Promise<void> {
    const body = { key: name, value, env }
    const { status } = await signedSend({ project, key, method: 'PUT', url: `${vault.url}/v1/secrets`, body })
    expect(status).toBe(200)
  }

  async function get({ project, key, env }: Place, from = vault): Promise<[number, unknown]> {
    const { status, body } = await signedSend({ project, key, method: 'GET', url: `${from.url}/v1/secrets?env=${env}` })
    return [status, body]
  }

  /** Sends all requests at once, each as often as requested, alternating. */
  function together<T>(times: number, ...asks: (() => Promise<T>)[]): Promise<T[]> {
    return Promise.all(Array.from({ length: times }, () => asks.map((ask) => ask())).flat())
  }

  test('answers simultaneous fetches with their own values and audit entries', async () => {
    const places: Place[] = []
    for (const project of ['apple', 'banana']) {
      const key = await createProject(vault.url, project)
      for (const env of ['production', 'staging']) places.push({ project, key, env })
    }
    for (const place of places) await put(place, 'WHOSE', `${place.project} ${place.env}`)
    const empty = { project: 'apple', key: places[0]?.key as Key, env: 'nothing-here' }

    const answers = await together(20, ...[...places, empty].map((place) => () => get(place)))
    const expected = [...places.map(({ project, env }) => [200, { WHOSE: `${project} ${env}` }]), [200, {}]]
    expect(answers).toEqual(Array.from({ length: 20 }, () => expected).flat())

    const entries = await vault.sql<{ project_id: string; env: string; count: number }>(
      `select project_id, env, count(*)::integer as count from audit where action = 'fetch' group by 1, 2 order by 1, 2`,
    )
    expect(entries).toEqual([
      { project_id: 'apple', env: 'nothing-here', count: 20 },
      { project_id: 'apple', env: 'production', count: 20 },
      { project_id: 'apple', env: 'staging', count: 20 },
      { project_id: 'banana', env: 'production', count: 20 },
      { project_id: 'banana', env: 'staging', count: 20 },
    ])
  })

  test('fails only the fetches of the environment with a value that does not decrypt', async () => {
    const key = await createProject(vault.url, 'mixed')
    const [sound, damaged] = [
      { project: 'mixed', key, env: 'sound' },
      { project: 'mixed', key, env: 'damaged' },
    ]
    await put(sound, 'A', 'one')
    await put(damaged, 'A', 'two')
    await put(damaged, 'B', 'three')
    await vault.sql(`update secret_versions set blob = set_byte(blob, 20, get_byte(blob, 20) # 1)
    where secret_id = (select id from secrets where env = 'damaged' and key = 'B')`)
    const answers = await together(
      20,
      () => get(sound),
      () => get(damaged),
    )
    expect(answers.filter(([status]) => status === 200)).toEqual(Array.from({ length: 20 }, () => [200, { A: 'one' }]))
    const failed = [500, expect.objectContaining({ error: 'decryption_failed' })]
    expect(answers.filter(([status]) => status !== 200)).toEqual(Array.from({ length: 20 }, () => failed))
  })

  test('refuses a key that another replica ended while its successor fetches', async () => {
    const old = await createProject(vault.url, 'rotating')
    const place = { project: 'rotating', key: old, env: 'production' }
    await put(place, 'A', 'one')
    expect(await get(place, replica)).toEqual([200, { A: 'one' }])
    const rotated = await admin(vault.url, 'PUT', '/projects/rotating/rotate', { overlap: 0 })
    const { privateKey } = rotated.body as { privateKey: string }
    const successor = { ...place, key: keyOf(privateKey) }
    const answers = await together(
      10,
      () => get(place, replica),
      () => get(successor, replica),
    )
    const refused = [401, expect.objectContaining({ error: 'invalid_signature' })]
    expect(answers).toEqual(Array.from({ length: 10 }, () => [refused, [200, { A: 'one' }]]).flat())
  })

  test('fetches an environment of megabytes repeatedly alongside small ones', async () => {
    const key = await createProject(vault.url, 'heavy')
    const [heavy, light] = [
      { project: 'heavy', key, env: 'heavy' },
      { project: 'heavy', key, env: 'light' },
    ]
    const values = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`K${String(i)}`, randomBytes(24_576).toString('base64')]),
    )
    await Promise.all(Object.entries(values).map(([name, value]) => put(heavy, name, value)))
    await put(light, 'A', 'one')
    for (let round = 0; round < 3; round++) {
      const answers = await together(
        4,
        () => get(heavy),
        () => get(light),
      )
      expect(answers).toEqual(
        Array.from({ length: 4 }, () => [
          [200, values],
          [200, { A: 'one' }],
        ]).flat(),
      )
    }
  })

  test('does not wait for fetches that have ended', async () => {
    const pending = async () => {
      const text = await (await fetch(`${vault.url}/metrics`)).text()
      return Number(/^vault_pending_fetches (\d+)$/m.exec(text)?.[1])
    }
    const key = await createProject(vault.url, 'waits-for-nobody')
    const place = { project: 'waits-for-nobody', key, env: 'production' }
    expect(await get(place)).toEqual([200, {}])
    expect((await get({ ...place, project: 'no-such-project' }))[0]).toBe(401)
    expect((await fetch(`${vault.url}/v1/secrets`)).status).toBe(401)
    const giveUp = new AbortController()
    const url = `${vault.url}/v1/secrets`
    const headers = await signHeaders({ ...place, method: 'GET', url })
    const given = fetch(url, { headers, signal: giveUp.signal }).then(String, () => 'given up')
    giveUp.abort()
    expect(await given).toBe('given up')
    while ((await pending()) > 0) await new Promise((resolve) => setImmediate(resolve))
    expect(await get(place)).toEqual([200, {}])
    expect(await pending()).toBe(0)
  })
})
