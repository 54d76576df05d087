import { createHmac, generateKeyPairSync, sign as signBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { createAuthority, createCertificate, removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { Redis } from 'ioredis'
import { type Answer, admin, createProject, newKey, send, statusAndError } from './support/client.ts'
import { type OidcIssuer, startOidcIssuer } from './support/oidc-issuer.ts'
import { startVault, type TestVault } from './support/vault.ts'
import { startVaultProcess } from './support/vault-process.ts'

const AUDIENCE = 'https://vault.example.org'
const SUBJECT = 'repo:octo-org/shop:ref:refs/heads/main'

let vault: TestVault
let replica: TestVault
let issuer: OidcIssuer
let project: string

beforeAll(async () => {
  issuer = await startOidcIssuer({ algorithm: 'RS256' })
  vault = await startVault({ OIDC_ALLOW_LOOPBACK: 'true' })
  replica = await vault.replica()
})
afterAll(async () => {
  await replica.stop()
  await vault.stop()
  await issuer.stop()
})

let projects = 0
beforeEach(async () => {
  issuer.setMode('answers')
  project = `shop-${String((projects += 1))}`
  await createProject(vault.url, project)
})

function advance(ms: number): void {
  for (const each of [vault, replica]) each.advance(ms)
}

/** Lets the cached keys of the issuer expire, and a failure to fetch them. */
const forgetKeys = (): void => advance(301_000)

async function trust(rule: object = {}, of = project): Promise<string> {
  const body = { name: 'deploy', issuer: issuer.url, audience: AUDIENCE, claims: { sub: SUBJECT }, ...rule }
  const added = await admin(vault.url, 'POST', `/projects/${of}/trust-rules`, body)
  if (added.status !== 201) throw new Error(JSON.stringify(added.body))
  return (added.body as { id: string }).id
}

const token = (claims?: object, options?: Parameters<OidcIssuer['sign']>[1]) => issuer.sign(claims, options)

function exchange(idToken: unknown, more: object = {}, at: { readonly url: string } = vault): Promise<Answer> {
  const body = { idToken, publicKey: newKey().publicKeyHex, project, ...more }
  return send(`${at.url}/v1/keys/exchange`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
}

const admitted = async (): Promise<number> => {
  const [row] = await vault.sql<{ n: number }>(
    'select count(*)::integer as n from exchanged_keys x join projects p on p.uid = x.project_uid where p.name = $1',
    [project],
  )
  return row?.n ?? 0
}

/** An exchange that is refused, and admits nothing. */
async function refusal(idToken: unknown, more?: object): Promise<unknown> {
  const before = await admitted()
  const answer = await exchange(idToken, more)
  expect(await admitted()).toBe(before)
  const { error, message } = answer.body as { error: string; message?: string }
  if (typeof idToken === 'string' && idToken.length > 20) expect(message).not.toContain(idToken.slice(-20))
  return [answer.status, error]
}

const REFUSED = [401, 'invalid_id_token']

test('a token admits a key for as long as its rule allows', async () => {
  await trust({ minutes: 10, scope: { access: 'read', envs: ['production'] } })
  const before = Date.now()
  const answer = await exchange(await token())
  expect(answer).toMatchObject({
    status: 201,
    body: { ok: true, project, scope: { access: 'read', envs: ['production'] } },
  })
  const minutes = (Date.parse((answer.body as { expiresAt: string }).expiresAt) - before) / 60_000
  expect(minutes).toBeGreaterThanOrEqual(10)
  expect(minutes).toBeLessThan(11)
})

test('the audit log shows the rule, the subject and the key', async () => {
  const rule = await trust()
  const { publicKeyHex } = newKey()
  await exchange(await token(), { publicKey: publicKeyHex })
  const { body } = await admin(vault.url, 'GET', `/audit?projectId=${project}&action=key.exchange`)
  const [entry] = body as { actor: string; detail: { fingerprint: string } }[]
  expect(entry).toMatchObject({
    projectId: project,
    detail: { rule, name: 'deploy', issuer: issuer.url, subject: SUBJECT, publicKey: publicKeyHex, access: 'read' },
  })
  expect(entry?.actor.startsWith(`key:${entry.detail.fingerprint}`)).toBe(true)
})

test('a token is accepted once, whatever its key, project and replica', async () => {
  await trust()
  const other = `${project}-b`
  await createProject(vault.url, other)
  await trust({}, other)
  const idToken = await token()
  expect((await exchange(idToken)).status).toBe(201)
  expect(await refusal(idToken)).toEqual(REFUSED)
  expect(statusAndError(await exchange(idToken, {}, replica))).toEqual(REFUSED)
  expect(statusAndError(await exchange(idToken, { project: other }))).toEqual(REFUSED)
})

test('the same token with the same public key admits the same key again, until it expires', async () => {
  await trust()
  const [idToken, { publicKeyHex: publicKey }] = [await token(), newKey()]
  const answers = await Promise.all([vault, replica].map((at) => exchange(idToken, { publicKey }, at)))
  answers.push(await exchange(idToken, { publicKey }, replica))
  for (const { status, body } of answers) expect([status, body]).toEqual([201, answers[0]?.body])
  expect(await admitted()).toBe(1)
  expect((await admin(vault.url, 'GET', `/audit?projectId=${project}&action=key.exchange`)).body).toHaveLength(1)
  const [key] = (await admin(vault.url, 'GET', `/projects/${project}/keys`)).body as { fingerprint: string }[]
  await admin(vault.url, 'DELETE', `/projects/${project}/keys/${key?.fingerprint ?? ''}`)
  expect(await refusal(idToken, { publicKey })).toEqual(REFUSED)
})

test('the clocks of replicas decide neither about tokens nor about keys', async () => {
  await trust()
  const [fast, slow] = [await vault.replica(), await vault.replica()]
  fast.advance(3_600_000)
  slow.advance(-3_600_000)
  const now = Math.floor(Date.now() / 1000)
  const ends: string[] = []
  for (const at of [fast, slow, vault]) {
    const idToken = await token({ iat: now - 200, nbf: now - 200, exp: now + 40 })
    const answer = await exchange(idToken, {}, at)
    expect(answer.status).toBe(201)
    ends.push((answer.body as { expiresAt: string }).expiresAt)
    for (const other of [vault, fast, slow]) expect(statusAndError(await exchange(idToken, {}, other))).toEqual(REFUSED)
    expect(await refusal(await token({ iat: now - 900, nbf: now - 900, exp: now - 60 }))).toEqual(REFUSED)
  }
  for (const end of ends) expect(Math.abs(Date.parse(end) - Date.now() - 15 * 60_000)).toBeLessThan(60_000)
  // A token is remembered for longer than any replica accepts it.
  const redis = new Redis(vault.redisUrl)
  const kept = await Promise.all((await redis.keys('vault:id-token:*')).map((each) => redis.pttl(each)))
  await redis.quit()
  expect(kept.filter((ms) => ms < (now + 70) * 1000 - Date.now())).toEqual([])
  expect(await admitted()).toBe(3)
  for (const at of [fast, slow]) await at.stop()
})

test('exactly one of two simultaneous exchanges succeeds', async () => {
  await trust()
  for (const claims of [{}, { jti: null }]) {
    const idToken = await token(claims)
    const answers = await Promise.all(
      [vault, replica, vault, replica].map((at) => exchange(idToken, {}, at).then(({ status }) => status)),
    )
    expect(answers.toSorted()).toEqual([201, 401, 401, 401])
  }
})

test('a token without an id is recognised whatever the encoding of its signature', async () => {
  await issuer.rotate('curve')
  forgetKeys()
  await trust()
  const idToken = await token({ jti: null })
  expect((await exchange(idToken)).status).toBe(201)
  const dot = idToken.lastIndexOf('.')
  // The other signature of ECDSA that verifies: n - s.
  const bytes = Buffer.from(idToken.slice(dot + 1), 'base64url')
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
  const s = (order - BigInt(`0x${bytes.subarray(32).toString('hex')}`)).toString(16).padStart(64, '0')
  const again = `${idToken.slice(0, dot)}.${Buffer.concat([bytes.subarray(0, 32), Buffer.from(s, 'hex')]).toString('base64url')}`
  const answer = await exchange(again)
  expect(answer.body).toMatchObject({ error: 'invalid_id_token', message: expect.stringContaining('already used') })
})

test('refuses a token of another audience, or a time that is not now', async () => {
  await trust()
  const now = Math.floor(Date.now() / 1000)
  for (const claims of [
    { aud: 'https://other.example.org' },
    { aud: [] },
    { aud: null },
    { exp: now - 31 },
    { exp: null },
    { exp: 'tomorrow' },
    { exp: now + 86_500 },
    { nbf: now + 60 },
    { iat: now + 60 },
    { iat: null },
    { sub: null },
    { sub: '' },
    { iss: `${issuer.url}/` },
    { iss: 'https://token.actions.githubusercontent.com' },
    { iss: null },
  ])
    expect([claims, ...((await refusal(await token(claims))) as unknown[])]).toEqual([claims, ...REFUSED])
  for (const claims of [
    { aud: ['https://other.example.org', AUDIENCE] },
    { exp: now - 5 },
    { nbf: now + 5, iat: now + 5 },
  ])
    expect((await exchange(await token(claims))).status).toBe(201)
})

test('refuses claims that no rule accepts, and does not reveal which projects have rules', async () => {
  await trust({ claims: { sub: 'repo:octo-org/shop:*', environment: 'production' } })
  const claims = { environment: 'production' }
  expect((await exchange(await token(claims))).status).toBe(201)
  expect(await refusal(await token())).toEqual([401, 'no_trust_rule'])
  expect(await refusal(await token({ ...claims, sub: 'repo:octo-org/blog:ref:refs/heads/main' }))).toEqual([
    401,
    'no_trust_rule',
  ])
  await createProject(vault.url, `${project}-without`)
  for (const named of [`${project}-without`, 'no-such-project'])
    expect(await refusal(await token(claims), { project: named })).toEqual([401, 'no_trust_rule'])
  expect(await refusal(await token(claims), { rule: 'other' })).toEqual([401, 'no_trust_rule'])
})

test('a request names the project or the rule if several accept its token', async () => {
  const sub = `repo:octo-org/${project}:ref:refs/heads/main`
  await trust({ claims: { sub } })
  await trust({ name: 'staging', claims: { sub }, scope: { access: 'read-write', envs: ['staging'] } })
  const other = `${project}-b`
  await createProject(vault.url, other)
  await trust({ claims: { sub } }, other)
  for (const more of [{ project: undefined }, {}]) {
    const answer = await exchange(await token({ sub }), more)
    expect(statusAndError(answer)).toEqual([400, 'invalid_request'])
    for (const name of [other, 'staging', 'deploy']) expect(JSON.stringify(answer.body)).not.toContain(name)
  }
  // An ambiguous request spends nothing.
  const idToken = await token({ sub })
  expect((await exchange(idToken)).status).toBe(400)
  expect((await exchange(idToken, { rule: 'staging' })).body).toMatchObject({
    project,
    scope: { access: 'read-write', envs: ['staging'] },
  })
  expect((await exchange(await token({ sub }), { project: other })).body).toMatchObject({ project: other })
})

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token with its signature made by `makeSignature`. */
async function forged(header: object, makeSignature: (input: string) => Buffer): Promise<string> {
  const [, payload = ''] = (await token()).split('.')
  const input = `${encode(header)}.${payload}`
  return `${input}.${makeSignature(input).toString('base64url')}`
}

test('refuses unsigned tokens and symmetric algorithms before anything is fetched', async () => {
  await trust()
  forgetKeys()
  const { kid = '', x = '' } = issuer.publicKey()
  const publicKey = JSON.stringify(issuer.publicKey())
  issuer.requests()
  for (const idToken of [
    await forged({ alg: 'none' }, () => Buffer.alloc(0)),
    await forged({ alg: 'None', kid }, () => Buffer.alloc(0)),
    await forged({ kid }, () => Buffer.alloc(0)),
    await forged({ alg: 'HS256', kid }, (input) => createHmac('sha256', publicKey).update(input).digest()),
    await forged({ alg: 'HS256', kid }, (input) => createHmac('sha256', x).update(input).digest()),
    await token({}, { header: { typ: 'at+jwt' } }),
    await token({}, { header: { typ: 'logout+jwt' } }),
    await token({}, { header: { typ: ['JWT'] } }),
    await token({ iss: 'https://example.org' }),
    await token({ iss: `${issuer.url}\u0000` }),
    'not a token',
    'a.b.c',
    '..',
    `${encode({ alg: 'RS256' })}.${encode([])}.AA`,
  ])
    expect([idToken.slice(0, 30), ...((await refusal(idToken)) as unknown[])]).toEqual([
      idToken.slice(0, 30),
      ...REFUSED,
    ])
  expect(issuer.requests()).toEqual([])
})

test('refuses keys that the token brings or names itself', async () => {
  await trust()
  forgetKeys()
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = own.publicKey.export({ format: 'jwk' })
  const signed = (header: object) =>
    forged({ alg: 'ES256', ...header }, (input) =>
      signBytes('sha256', Buffer.from(input), { key: own.privateKey, dsaEncoding: 'ieee-p1363' }),
    )
  const { kid } = issuer.publicKey()
  issuer.requests()
  for (const header of [
    { jwk },
    { kid, jwk },
    { kid, jku: `${issuer.url}/keys?mine` },
    { kid, x5u: `${issuer.url}/mine` },
    { kid, x5c: ['AAAA'] },
    { kid, crit: ['exp'] },
    { kid, b64: false, crit: ['b64'] },
    { kid: '../keys' },
    { kid: "' or 1=1" },
    {},
  ])
    expect([header, ...((await refusal(await signed(header))) as unknown[])]).toEqual([header, ...REFUSED])
  expect(issuer.requests().filter((path) => path.includes('mine'))).toEqual([])
})

test('an algorithm is only accepted under rules that allow it, with a key that fits it', async () => {
  await trust({ algorithms: ['ES256', 'PS256', 'EdDSA'] })
  await issuer.rotate('rsa', { algorithm: 'RS256' })
  forgetKeys()
  expect(await refusal(await token())).toEqual([401, 'no_trust_rule'])
  for (const algorithm of ['ES256', 'PS256', 'EdDSA']) {
    await issuer.rotate(algorithm, { algorithm, keep: true })
    forgetKeys()
    expect([algorithm, (await exchange(await token())).status]).toEqual([algorithm, 201])
  }
  // An RSA signature that names the key of a curve.
  expect(await refusal(await token({}, { kid: 'rsa', header: { kid: 'ES256' } }))).toEqual(REFUSED)
  await issuer.rotate('first')
  forgetKeys()
})

test('a symmetric or weak key that the issuer publishes verifies nothing', async () => {
  await trust()
  const secret = Buffer.from('a shared secret of the issuer 32')
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 })
  issuer.publish([
    { kty: 'oct', k: secret.toString('base64url'), kid: 'shared', alg: 'HS256' },
    { ...weak.publicKey.export({ format: 'jwk' }), kid: 'weak', alg: 'RS256' },
  ])
  forgetKeys()
  const bySecret = (input: string) => createHmac('sha256', secret).update(input).digest()
  expect(await refusal(await forged({ alg: 'HS256', kid: 'shared' }, bySecret))).toEqual(REFUSED)
  expect(await refusal(await forged({ alg: 'RS256', kid: 'shared' }, bySecret))).toEqual(REFUSED)
  const byWeak = (input: string) => signBytes('sha256', Buffer.from(input), weak.privateKey)
  expect(await refusal(await forged({ alg: 'RS256', kid: 'weak' }, byWeak))).toEqual(REFUSED)
  issuer.publish([])
})

test('finds rotated keys, and does not fetch again for forged key IDs', async () => {
  await trust()
  forgetKeys()
  expect((await exchange(await token())).status).toBe(201)
  issuer.requests()
  for (let i = 0; i < 5; i++)
    expect(await refusal(await token({}, { header: { kid: `forged-${String(i)}` } }))).toEqual(REFUSED)
  expect(issuer.requests()).toEqual([])
  advance(31_000)
  const forgeries = Array.from({ length: 10 }, async (_each, i) =>
    exchange(await token({}, { header: { kid: `forged-${String(i)}` } })),
  )
  await Promise.all(forgeries)
  expect(issuer.requests()).toHaveLength(2)
  await issuer.rotate('second')
  expect(await refusal(await token())).toEqual(REFUSED)
  advance(31_000)
  expect((await exchange(await token())).status).toBe(201)
  // A withdrawn key is accepted until the cached keys are five minutes old.
  await issuer.rotate('third', { keep: true })
  const old = await token({}, { kid: 'second' })
  await issuer.rotate('fourth')
  expect((await exchange(old)).status).toBe(201)
  forgetKeys()
  await issuer.rotate('first')
  expect((await exchange(await token())).status).toBe(201)
})

test('simultaneous exchanges share one fetch', async () => {
  await trust()
  forgetKeys()
  const tokens = await Promise.all(Array.from({ length: 10 }, () => token()))
  issuer.requests()
  const answers = await Promise.all(tokens.map((each) => exchange(each)))
  expect(answers.map(({ status }) => status)).toEqual(tokens.map(() => 201))
  expect(issuer.requests()).toHaveLength(2)
})

for (const mode of [
  ...(['fails', 'hangs', 'drips', 'redirects', 'is oversized', 'is another issuer'] as const),
  ...(['names insecure keys', 'is not JSON', 'has no keys'] as const),
])
  test(`an issuer that ${mode} results in 503, is left alone for a moment, and then is used again`, async () => {
    await trust()
    forgetKeys()
    issuer.setMode(mode)
    issuer.requests()
    const idToken = await token()
    expect(await refusal(idToken)).toEqual([503, 'unavailable'])
    const sent = issuer.requests().length
    expect(sent).toBeLessThanOrEqual(2)
    advance(4_000)
    const again = await exchange(idToken)
    expect(statusAndError(again)).toEqual([503, 'unavailable'])
    expect(issuer.requests()).toEqual([])
    issuer.setMode('answers')
    // The issuer is used again when the client was asked to come back.
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(1)
    advance(Number(again.headers.get('retry-after')) * 1000)
    // Nothing was spent.
    expect((await exchange(idToken)).status).toBe(201)
    expect(vault.logged()).toContain('keys of an issuer cannot be fetched')
  }, 20_000)

test('an issuer may name its keys with a query, as Azure AD B2C does', async () => {
  await trust()
  forgetKeys()
  issuer.setMode('has keys at a query')
  expect((await exchange(await token())).status).toBe(201)
})

test('an issuer with a certificate of a private authority is used if the vault trusts the authority', async () => {
  const folder = temporaryFolder('exchange')
  const authority = await createAuthority(folder, 'ca')
  const certified = await startOidcIssuer({
    tls: await createCertificate(folder, 'issuer', ['IP:127.0.0.1'], authority),
  })
  await trust({ issuer: certified.url })
  expect(await refusal(await certified.sign())).toEqual([503, 'unavailable'])
  const env = { NODE_EXTRA_CA_CERTS: authority.certificate }
  const trusting = await startVaultProcess({
    ...{ folder, databaseUrl: vault.database.appUrl, redisUrl: vault.redisUrl, env },
  })
  expect((await exchange(await certified.sign(), {}, trusting)).status).toBe(201)
  await trusting.process.stop()
  await certified.stop()
  removeTemporaryFolder(folder)
})

test('an issuer that has stopped results in 503', async () => {
  const ended = await startOidcIssuer()
  await trust({ issuer: ended.url })
  const idToken = await ended.sign()
  await ended.stop()
  expect(await refusal(idToken)).toEqual([503, 'unavailable'])
})

test('a loopback issuer is only accepted if it is allowed', async () => {
  const strict = await vault.replica({ OIDC_ALLOW_LOOPBACK: 'false' })
  const body = { name: 'deploy', issuer: issuer.url, audience: AUDIENCE, claims: { sub: SUBJECT } }
  expect(statusAndError(await admin(strict.url, 'POST', `/projects/${project}/trust-rules`, body))).toEqual([
    400,
    'invalid_request',
  ])
  await strict.stop()
})

test('refuses bodies that are too large, and malformed keys', async () => {
  await trust()
  expect(statusAndError(await exchange('x'.repeat(16_385)))).toEqual([400, 'invalid_request'])
  expect(statusAndError(await exchange('x'.repeat(40_000)))).toEqual([413, 'payload_too_large'])
  expect(statusAndError(await exchange(await token({ filler: 'x'.repeat(30_000) })))).toEqual([
    413,
    'payload_too_large',
  ])
  for (const idToken of [undefined, null, 1, '', {}])
    expect(statusAndError(await exchange(idToken))).toEqual([400, 'invalid_request'])
  const idToken = await token()
  for (const publicKey of ['', 'x', '0'.repeat(64), null, 7, { kty: 'OKP' }])
    expect(statusAndError(await exchange(idToken, { publicKey }))).toEqual([400, 'invalid_public_key'])
  expect(statusAndError(await exchange(idToken, { publicKey: undefined }))).toEqual([400, 'invalid_request'])
  expect(statusAndError(await exchange(idToken, { project: '../x' }))).toEqual([400, 'invalid_request'])
  expect(statusAndError(await exchange(idToken, { env: 'production' }))).toEqual([400, 'invalid_request'])
  expect((await exchange(idToken)).status).toBe(201)
})

test('a public key that the project already has is not admitted, and spends no token', async () => {
  await trust()
  const registered = newKey().publicKeyHex
  await createProject(vault.url, `${project}-c`, { publicKey: registered })
  await trust({}, `${project}-c`)
  const idToken = await token()
  expect(statusAndError(await exchange(idToken, { project: `${project}-c`, publicKey: registered }))).toEqual([
    409,
    'key_exists',
  ])
  const publicKey = newKey().publicKeyHex
  expect((await exchange(idToken, { publicKey })).status).toBe(201)
  expect(statusAndError(await exchange(await token(), { publicKey }))).toEqual([409, 'key_exists'])
  // It belongs to this project only.
  expect((await exchange(await token(), { publicKey, project: `${project}-c` })).status).toBe(201)
})

test('the key of a token is not registered while it is valid, so that revoking it ends it everywhere', async () => {
  await trust({ minutes: 10 })
  const { publicKeyHex: publicKey } = newKey()
  expect((await exchange(await token(), { publicKey })).status).toBe(201)
  const key = { name: 'copy', publicKey }
  expect(statusAndError(await admin(vault.url, 'POST', `/projects/${project}/keys`, key))).toEqual([409, 'key_exists'])
  const rotated = await admin(replica.url, 'PUT', `/projects/${project}/rotate`, { publicKey })
  expect(statusAndError(rotated)).toEqual([409, 'key_exists'])
  advance(601_000)
  await vault.age(601_000)
  expect((await admin(vault.url, 'POST', `/projects/${project}/keys`, key)).status).toBe(201)
})

test('a project has at most 500 valid keys; expired ones make room', async () => {
  await trust({ minutes: 1 })
  expect((await exchange(await token())).status).toBe(201)
  await vault.sql(
    `insert into exchanged_keys (id, project_uid, rule_id, public_key, subject, access, created_at, expires_at, code)
     select gen_random_uuid(), project_uid, rule_id, decode(md5(n::text), 'hex'), subject, access, created_at, expires_at, code
     from exchanged_keys, generate_series(1, 498) as n where project_uid = (select uid from projects where name = $1)`,
    [project],
  )
  const last = await Promise.all([token(), token(), token()])
  const statuses = await Promise.all(
    last.map(async (each, i) => (await exchange(each, {}, i === 0 ? replica : vault)).status),
  )
  expect(statuses.toSorted()).toEqual([201, 409, 409])
  const idToken = await token()
  expect(await refusal(idToken)).toEqual([409, 'too_many_keys'])
  await vault.age(61_000)
  // It was not spent.
  expect((await exchange(idToken)).status).toBe(201)
  await vault.age(700_000)
  expect((await exchange(await token())).status).toBe(201)
  expect(await admitted()).toBe(1)
})

test('a rule that is removed during an exchange admits nothing', async () => {
  const rule = await trust()
  forgetKeys()
  issuer.setMode('answers late')
  issuer.requests()
  const pending = exchange(await token())
  while (issuer.requests().length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  await admin(replica.url, 'DELETE', `/projects/${project}/trust-rules/${rule}`)
  expect(statusAndError(await pending)).toEqual([401, 'no_trust_rule'])
  expect(await admitted()).toBe(0)
})
