import { spawn } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type RequestOptions, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually, removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { createVaultClient, exchangeKey } from '@vault-and-tracker/vault-client'
import { exchangeKey as portableExchangeKey } from '@vault-and-tracker/vault-client/portable'
import { createProject, type Key, keyOf, signerOf } from './support/client.ts'
import { COMMAND, runCommand, runProcess } from './support/command.ts'
import { type OidcIssuer, startOidcIssuer } from './support/oidc-issuer.ts'
import { ADMIN_TOKEN, startVault, type TestVault } from './support/vault.ts'

const folder = temporaryFolder('command-line-oidc')
let issuer: OidcIssuer
let vault: TestVault
let own: Key

beforeAll(async () => {
  issuer = await startOidcIssuer()
  vault = await startVault({ OIDC_ALLOW_LOOPBACK: 'true' })
  own = await createProject(vault.url, 'shop')
  await signerOf(() => vault)('shop', own, 'PUT', { key: 'TOKEN', value: 'canary', env: 'production' })
  await run(
    ['admin', 'trust', 'add', 'shop', 'deploy', '--issuer', issuer.url, '--claim', 'sub=repo:octo-org/shop:*'],
    { VAULT_ADMIN_TOKEN: ADMIN_TOKEN },
  )
})
afterAll(async () => {
  await vault.stop()
  await issuer.stop()
  removeTemporaryFolder(folder)
})

const run = (args: readonly string[], env: Record<string, string> = {}) =>
  (args[0] === 'run' ? runProcess : runCommand)(
    { PATH: process.env['PATH'] ?? '', HOME: folder, VAULT_URL: vault.url, VAULT_PROJECT: 'shop', ...env },
    args,
  )

/** Forwards a request with its Host header, which is signed. */
function forward(url: string, options: RequestOptions, body: string) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const request = sendRequest(url, options, (response) => {
      text(response).then((received) => resolve({ status: response.statusCode ?? 0, body: received }), reject)
    })
    request.on('error', reject).end(body)
  })
}

/** The variables of a job on GitHub Actions or Forgejo Actions. */
const job = () => ({
  ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}/token?api-version=2.0`,
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'request-token',
})
/** The client requests tokens for the URL of the vault by default. */
const token = () => issuer.sign({ aud: vault.url })

test('run --oidc gives a command its secrets without a stored key, as often as the job needs', async () => {
  const script = 'process.stdout.write([process.env.TOKEN, process.env.VAULT_ID_TOKEN ?? "none"].join())'
  for (let i = 0; i < 2; i++)
    expect(await run(['run', '--oidc', '--', process.execPath, '-e', script], job())).toEqual({
      ...{ status: 0, out: 'canary,none', err: '' },
    })
  expect((await run(['export', '--oidc', '--format', 'json'], job())).out).toContain('canary')
  expect((await run(['list', '--oidc'], { ...job(), VAULT_PRIVATE_KEY: 'is not used' })).out).toBe('TOKEN\n')
})

test('the command does not receive the ID token of a variable', async () => {
  const script = 'process.stdout.write([process.env.TOKEN, process.env.VAULT_ID_TOKEN ?? "none"].join())'
  const env = { VAULT_ID_TOKEN: await token() }
  expect((await run(['run', '--oidc', '--', process.execPath, '-e', script], env)).out).toBe('canary,none')
  const again = await run(['get', 'TOKEN', '--oidc'], env)
  expect([again.status, again.err]).toEqual([1, expect.stringContaining('already used')])
  expect(again.err).not.toContain(env.VAULT_ID_TOKEN.slice(-20))
})

test('an ID token in a file is used, as Kubernetes mounts it', async () => {
  const file = join(folder, 'token')
  writeFileSync(file, `${await token()}\n`)
  expect((await run(['get', 'TOKEN', '--id-token-file', file])).out).toBe('canary\n')
  writeFileSync(file, await token())
  expect((await run(['get', 'TOKEN', '--oidc'], { VAULT_ID_TOKEN_FILE: file })).out).toBe('canary\n')
  const missing = await run(['get', 'TOKEN', '--id-token-file', join(folder, 'missing')])
  expect([missing.status, missing.out]).toEqual([1, ''])
})

test('exchange writes a key for several commands', async () => {
  const file = join(folder, 'job.key')
  const { status, out } = await run(['exchange', '--output', file, '--json'], { VAULT_ID_TOKEN: await token() })
  expect([status, JSON.parse(out)]).toEqual([
    0,
    expect.objectContaining({ file, project: 'shop', scope: { access: 'read', envs: null } }),
  ])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(keyOf(readFileSync(file, 'utf8')).publicKeyHex).toBe((JSON.parse(out) as { publicKey: string }).publicKey)
  for (let i = 0; i < 2; i++)
    expect((await run(['get', 'TOKEN'], { VAULT_PRIVATE_KEY_FILE: file })).out).toBe('canary\n')
  const refused = join(folder, 'refused.key')
  expect((await run(['exchange', '--output', refused], { VAULT_ID_TOKEN: 'nonsense' })).status).toBe(1)
  expect(() => statSync(refused)).toThrow()
})

test('a job without an ID token, or options that contradict each other, are incorrect usage', async () => {
  expect((await run(['get', 'TOKEN', '--oidc'])).status).toBe(2)
  expect((await run(['get', 'TOKEN', '--oidc', '--key-file', 'x'], job())).status).toBe(2)
  expect((await run(['run', '--oidc', '--offline-fallback', '--', 'true'], job())).status).toBe(2)
})

test('a runner that does not issue a token fails the command without showing its credentials', async () => {
  for (const env of [
    { ...job(), ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'wrong-token' },
    { ...job(), ACTIONS_ID_TOKEN_REQUEST_URL: 'http://127.0.0.1:9/token' },
    { ...job(), ACTIONS_ID_TOKEN_REQUEST_URL: 'nonsense' },
  ]) {
    const { status, err } = await run(['get', 'TOKEN', '--oidc'], env)
    expect([status, err.includes('token?'), err.includes('wrong-token')]).toEqual([1, false, false])
  }
})

test('the library exchanges a key and signs with it', async () => {
  for (const exchange of [exchangeKey, portableExchangeKey]) {
    const key = await exchange({ url: vault.url, idToken: token, project: 'shop' })
    expect(key).toMatchObject({ project: 'shop', scope: { access: 'read', envs: null } })
    expect(key.expiresAt.getTime()).toBeGreaterThan(vault.now())
    const client = createVaultClient({ url: vault.url, project: key.project, privateKey: key.privateKey })
    expect(client.publicKey).toBe(key.publicKey)
    expect(await client.getAll()).toEqual({ TOKEN: 'canary' })
  }
  await expect(exchangeKey({ url: vault.url, idToken: 'nonsense' })).rejects.toMatchObject({
    ...{ code: 'invalid_id_token', status: 401 },
  })
  const other = () => issuer.sign({ aud: vault.url, sub: 'repo:octo-org/blog:ref:refs/heads/main' })
  await expect(exchangeKey({ url: vault.url, idToken: other })).rejects.toMatchObject({ code: 'no_trust_rule' })
})

test('the library repeats an exchange whose response was lost, with the same token and key', async () => {
  const lost = [
    () => Promise.reject(new TypeError('lost', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) })),
    () => Promise.resolve(Response.json({ error: 'unavailable' }, { status: 503, headers: { 'Retry-After': '1' } })),
  ]
  const sent: unknown[] = []
  const key = await exchangeKey({
    ...{ url: vault.url, idToken: token },
    fetch: async (input, init) => {
      sent.push(init?.body)
      const response = await fetch(input, init)
      return lost.shift()?.() ?? response
    },
  })
  expect(sent).toEqual(Array(3).fill(sent[0]))
  expect(await createVaultClient({ url: vault.url, ...key }).getAll()).toEqual({ TOKEN: 'canary' })
})

test('run --watch waits for a token that its platform renews late, and then continues', async () => {
  let exchanges = 0
  // Makes keys short for the client.
  const short = createServer((request, response) => {
    void (async () => {
      const { method = 'GET', url = '', headers } = request
      const isExchange = url === '/v1/keys/exchange'
      const given = { method, headers: { ...headers, connection: 'close' } }
      const answer = await forward(`${vault.url}${url}`, given, await text(request))
      if (isExchange) exchanges += 1
      const expiresAt = new Date(Date.now() + 2_000).toISOString()
      const body = isExchange ? JSON.stringify({ ...(JSON.parse(answer.body) as object), expiresAt }) : answer.body
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body)
    })().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => short.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${String((short.address() as AddressInfo).port)}`
  const file = join(folder, 'late-token')
  writeFileSync(file, await token())
  const script = 'console.log(process.env.TOKEN); setInterval(() => {}, 1_000)'
  const [program, ...words] = COMMAND
  const options = ['--watch', '--interval', '1', '--id-token-file', file]
  const child = spawn(program, [...words, 'run', ...options, '--', process.execPath, '-e', script], {
    env: {
      ...{ PATH: process.env['PATH'], HOME: folder, VAULT_URL: url, VAULT_PROJECT: 'shop' },
      VAULT_OIDC_AUDIENCE: vault.url,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors]: [string[], string[]] = [[], []]
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString()))
  const printed = (text: string) => eventually(() => Promise.resolve(output.join('') === text), 30_000)
  const put = (value: string) => signerOf(() => vault)('shop', own, 'PUT', { key: 'TOKEN', value, env: 'production' })
  await printed('canary\n')
  await sleep(2_000)
  await put('changed')
  await printed('canary\nchanged\n')
  await eventually(() => Promise.resolve(errors.join('').includes('already used')))
  writeFileSync(file, await token())
  await put('renewed')
  await printed('canary\nchanged\nrenewed\n')
  expect(exchanges).toBe(2)
  child.kill()
  await new Promise((resolve) => child.once('close', resolve))
  await new Promise((resolve) => short.close(resolve))
  await put('canary')
}, 60_000)

test('a name revokes the lasting key, and exchanged keys of a rule with that name only if asked to', async () => {
  const env = { VAULT_ADMIN_TOKEN: ADMIN_TOKEN }
  const active = async () => {
    const keys = JSON.parse((await run(['admin', 'keys', 'list', 'twins', '--json'], env)).out) as Listed[]
    return keys.map(({ name, subject, until }) => [name, subject !== undefined && until !== null]).toSorted()
  }
  type Listed = { name: string; subject?: string; until: string | null }
  await createProject(vault.url, 'twins')
  expect((await run(['admin', 'keys', 'add', 'twins', 'pipeline'], env)).status).toBe(0)
  for (const [name, sub] of [
    ['pipeline', 'twins'],
    ['other', 'others'],
  ] as const) {
    const claim = ['--issuer', issuer.url, '--claim', `sub=repo:octo-org/${sub}:*`]
    expect((await run(['admin', 'trust', 'add', 'twins', name, ...claim], env)).status).toBe(0)
  }
  for (const sub of ['twins', 'twins', 'others']) {
    const idToken = await issuer.sign({ aud: vault.url, sub: `repo:octo-org/${sub}:x` })
    await exchangeKey({ url: vault.url, idToken, project: 'twins' })
  }
  const revoke = (...args: string[]) => run(['admin', 'keys', 'revoke', 'twins', ...args], env)
  expect((await revoke('pipeline')).status).toBe(0)
  const [others, own] = [
    ['other', true],
    ['pipeline', true],
  ] as const
  expect(await active()).toEqual([['default', false], others, own, own])
  expect((await revoke('pipeline')).status).toBe(1)
  expect((await revoke('pipeline', '--exchanged')).status).toBe(0)
  expect(await active()).toEqual([['default', false], others])
  expect((await revoke('default', '--exchanged')).status).toBe(1)
  expect(await active()).toEqual([['default', false], others])
})

test('rules are listed and removed by their name', async () => {
  const env = { VAULT_ADMIN_TOKEN: ADMIN_TOKEN }
  const add = (name: string, ...more: string[]) =>
    run(['admin', 'trust', 'add', 'shop', name, '--issuer', issuer.url, ...more], env)
  const claims = ['--claim', 'sub=repo:octo-org/shop:*', '--claim', '/nested/claim=a=b']
  const narrow = ['--audience', 'https://x', '--minutes', '5', '--envs', 'staging', '--algorithms', 'ES256', 'EdDSA']
  expect((await add('narrow', ...claims, ...narrow)).status).toBe(0)
  const list = async () => JSON.parse((await run(['admin', 'trust', 'list', 'shop', '--json'], env)).out) as object[]
  expect(await list()).toMatchObject([
    { name: 'deploy', audience: vault.url, scope: { access: 'read', envs: null }, minutes: 15 },
    {
      ...{ name: 'narrow', audience: 'https://x', minutes: 5, algorithms: ['ES256', 'EdDSA'] },
      claims: { sub: 'repo:octo-org/shop:*', '/nested/claim': 'a=b' },
      scope: { access: 'read', envs: ['staging'] },
    },
  ])
  expect((await run(['admin', 'trust', 'remove', 'shop', 'narrow'], env)).status).toBe(0)
  expect((await run(['admin', 'trust', 'remove', 'shop', 'narrow'], env)).status).toBe(1)
  expect(await list()).toHaveLength(1)
  for (const wrong of [
    [],
    ['--claim', 'sub'],
    ['--claim', 'sub=a', '--claim', 'sub=b'],
    [...claims, '--minutes', '61'],
  ])
    expect((await add('wrong', ...wrong)).status).toBe(2)
  expect((await add('wrong', '--claim', 'sub=*')).status).toBe(1)
})
