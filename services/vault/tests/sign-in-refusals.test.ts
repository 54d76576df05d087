import { createHmac, createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { freePort } from '@vault-and-tracker/dev-env'
import { EnvError } from '@vault-and-tracker/service-kit/config/env'
import { SignJWT } from 'jose'
import { readConfig } from '../src/config.ts'
import { admin, send } from './support/client.ts'
import { type OidcIssuer, startOidcIssuer } from './support/oidc-issuer.ts'
import { createHttpBrowser } from './support/oidc-provider.ts'
import { ADMIN_TOKEN, startVault, type TestVault, vaultEnv } from './support/vault.ts'

const CLIENT = 'vault-client'

let issuer: OidcIssuer
let vault: TestVault
let origin: string
let env: Record<string, string>

beforeAll(async () => {
  issuer = await startOidcIssuer({ algorithm: 'RS256' })
  const port = await freePort()
  origin = `http://127.0.0.1:${String(port)}`
  env = {
    ...{ OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: CLIENT, OIDC_CLIENT_SECRET: 'client-secret-of-the-vault' },
    ...{ OIDC_ROLES: 'admins=administrator; nested=auditor', OIDC_ALLOW_LOOPBACK: 'true' },
    ...{ PUBLIC_URL: origin, PORT: String(port), TRUSTED_PROXIES: '127.0.0.1' },
  }
  vault = await startVault(env)
})
afterAll(async () => {
  await vault.stop()
  await issuer.stop()
})
beforeEach(() => issuer.setMode('answers'))

const newBrowser = () => createHttpBrowser(new URL(origin).host)

const now = () => Math.floor(Date.now() / 1000)

/** Signs in. `tokenFor` returns the ID token that the provider issues for a nonce. Returns where the browser ends. */
async function signIn(tokenFor: (nonce: string) => string | Promise<string>, at = vault.url): Promise<string> {
  const browser = newBrowser()
  const { location } = await browser.request(`${at}/v1/sign-in/start`)
  const { searchParams } = new URL(location)
  issuer.setIdToken(await tokenFor(searchParams.get('nonce') ?? ''))
  const state = searchParams.get('state') ?? ''
  const received = await browser.request(`${at}/v1/sign-in/callback?code=the-code&state=${state}`)
  expect(browser.cookies.has('vault-session')).toBe(received.location.endsWith('/console/'))
  return new URL(received.location).hash.replace('#sign-in=', '')
}

const claimsFor = (nonce: string, claims: object = {}) => ({
  nonce,
  aud: CLIENT,
  sub: 'ada',
  groups: ['admins'],
  ...claims,
})
const signed = (claims: object) => (nonce: string) => issuer.sign(claimsFor(nonce, claims))

const payloadFor = (nonce: string) => ({ ...claimsFor(nonce), iss: issuer.url, iat: now(), exp: now() + 300 })
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('accepts the ID token of a person with a role', async () => {
  expect(await signIn(signed({}))).toBe('')
  expect(await signIn(signed({ aud: [CLIENT, 'other'], azp: CLIENT }))).toBe('')
})

test.each([
  ['another nonce', { nonce: 'other' }],
  ['no nonce', { nonce: null }],
  ['another audience', { aud: 'another-client' }],
  ['another authorized party', { aud: [CLIENT, 'another-client'], azp: 'another-client' }],
  ['another issuer', { iss: 'https://accounts.example.org' }],
  ['no issuer', { iss: null }],
  ['no audience', { aud: null }],
  ['no expiry', { exp: null }],
  ['an expiry in the past', { iat: 0, nbf: 0, exp: 60 }],
  ['a start in the future', { nbf: 4_000_000_000, exp: 4_000_000_300 }],
  ['no subject', { sub: null }],
  ['an empty subject', { sub: '' }],
  ['a subject that is not printable', { sub: 'ada\n' }],
  ['a subject with spaces', { sub: 'ada lovelace' }],
  ['a long subject', { sub: 'a'.repeat(256) }],
  ['a subject that is no text', { sub: 7 }],
])('refuses an ID token with %s', async (_what, claims) => {
  expect(await signIn(signed(claims))).toBe('unauthorized')
})

test.each<[string, (nonce: string) => string | Promise<string>]>([
  ['without a signature', (nonce) => `${encode({ alg: 'none' })}.${encode(payloadFor(nonce))}.`],
  [
    'signed with the client secret',
    (nonce) => {
      const text = `${encode({ alg: 'HS256' })}.${encode(payloadFor(nonce))}`
      return `${text}.${createHmac('sha256', 'client-secret-of-the-vault').update(text).digest('base64url')}`
    },
  ],
  [
    'signed with another key',
    (nonce) => {
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
      const key = createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' }))
      return new SignJWT(payloadFor(nonce)).setProtectedHeader({ alg: 'RS256', kid: 'first' }).sign(key)
    },
  ],
  [
    'whose claims were changed',
    async (nonce) => {
      const [header = '', , signature = ''] = (await issuer.sign(claimsFor(nonce))).split('.')
      return `${header}.${encode({ ...payloadFor(nonce), sub: 'eve' })}.${signature}`
    },
  ],
  ['that is no JWT', () => 'x'],
])('refuses an ID token %s', async (_what, tokenFor) => {
  expect(await signIn(tokenFor)).toBe('unauthorized')
})

test.each<[string, unknown]>([
  ['missing', null],
  ['text', 'admins'],
  ['an object', { admins: true, 0: 'admins', length: 1 }],
  ['empty', []],
  ['other values', [['admins'], { name: 'admins' }, 1, null, 'ADMINS', 'admins ']],
  ['names of the prototype', ['__proto__', 'constructor', 'toString', 'length', 'hasOwnProperty']],
  ['huge', Array.from({ length: 10_000 }, (_, i) => `group-${String(i)}`)],
])('refuses groups that are %s', async (_what, groups) => {
  expect(await signIn(signed({ groups }))).toBe('forbidden')
})

test('shows the name of a person without control characters', async () => {
  expect(await signIn(signed({ sub: 'bidi', email: 'ada\n\u001b[31m\u202e\ud800@example.org' }))).toBe('')
  const [entry] = (await admin(vault.url, 'GET', '/audit?action=session.create&actor=oidc:bidi')).body as object[]
  expect(entry).toMatchObject({ detail: { name: 'ada\uFFFD\uFFFD[31m\uFFFD\uFFFD@example.org' } })
})

test("finds the entries of a subject with a slash, and nobody else's", async () => {
  expect(await signIn(signed({ sub: 'http/ada' }))).toBe('')
  const entriesOf = async (actor: string) =>
    (await admin(vault.url, 'GET', `/audit?action=session.create&actor=${encodeURIComponent(actor)}`)).body
  expect(await entriesOf('oidc:http/ada')).toMatchObject([{ actor: 'oidc:http/ada' }])
  expect(await entriesOf('oidc:http')).toEqual([])
})

test('finds a group among many', async () => {
  const groups = [...Array.from({ length: 10_000 }, (_, i) => `group-${String(i)}`), 'admins']
  expect(await signIn(signed({ groups }))).toBe('')
})

test('refuses a response that is too large', async () => {
  expect(await signIn(signed({ groups: ['admins', 'x'.repeat(300_000)] }))).toBe('unavailable')
})

test.each(['groups_claim', '__proto__', 'constructor', '/realm_access/roles', '/__proto__/roles'])(
  'reads the claim %s only if the ID token has it',
  async (claim) => {
    const replica = await vault.replica({ PORT: '0', OIDC_GROUPS_CLAIM: claim })
    const at = replica.url
    expect(await signIn(signed({ groups: null }), at)).toBe('forbidden')
    const own = JSON.parse(`{"${claim}": ["nested"], "realm_access": {"roles": ["nested"]}}`) as object
    expect(await signIn(signed({ ...own, groups: null }), at)).toBe(claim === '/__proto__/roles' ? 'forbidden' : '')
    await replica.stop()
  },
)

test('starts without its provider, says so, and signs in once it is available', async () => {
  issuer.setMode('fails')
  const replica = await vault.replica({ PORT: '0' })
  expect((await send(`${replica.url}/ready`)).status).toBe(200)
  issuer.requests()
  for (let i = 0; i < 5; i++) {
    const { location } = await newBrowser().request(`${replica.url}/v1/sign-in/start`)
    expect(new URL(location).hash).toBe('#sign-in=unavailable')
  }
  expect(issuer.requests()).toHaveLength(1)
  issuer.setMode('answers')
  replica.advance(10_000)
  expect(await signIn(signed({}), replica.url)).toBe('')
  await replica.stop()
})

test.each([
  'fails',
  'hangs',
  'drips',
  'is oversized',
  'redirects',
  'is not JSON',
  'has no keys',
  'names insecure keys',
] as const)('admits no one while the provider %s', async (mode) => {
  const replica = await vault.replica({ PORT: '0' })
  const browser = newBrowser()
  const { location } = await browser.request(`${replica.url}/v1/sign-in/start`)
  const { searchParams } = new URL(location)
  issuer.setIdToken(await issuer.sign(claimsFor(searchParams.get('nonce') ?? '')))
  issuer.setMode(mode)
  const other = await vault.replica({ PORT: '0' })
  const state = searchParams.get('state') ?? ''
  const received = await browser.request(`${other.url}/v1/sign-in/callback?code=the-code&state=${state}`)
  expect(new URL(received.location).hash).toMatch(/^#sign-in=(unavailable|unauthorized)$/)
  expect(browser.cookies.has('vault-session')).toBe(false)
  await other.stop()
  await replica.stop()
})

test('refuses the metadata of another issuer', async () => {
  issuer.setMode('is another issuer')
  const replica = await vault.replica({ PORT: '0' })
  const { location } = await newBrowser().request(`${replica.url}/v1/sign-in/start`)
  expect(new URL(location).hash).toBe('#sign-in=unavailable')
  await replica.stop()
})

test('an error of the provider is not repeated', async () => {
  const browser = newBrowser()
  const { location } = await browser.request(`${vault.url}/v1/sign-in/start`)
  const state = new URL(location).searchParams.get('state') ?? ''
  const query = `error=access_denied&error_description=secret-description&state=${state}`
  const received = await browser.request(`${vault.url}/v1/sign-in/callback?${query}`)
  expect(received.location).toBe(`${origin}/console/#sign-in=unauthorized`)
  expect(vault.logged()).toContain('access_denied')
  for (const secret of ['secret-description', state]) expect(vault.logged()).not.toContain(secret)
})

test('no token, code or state is logged', async () => {
  const secrets: string[] = []
  await signIn(async (nonce) => {
    const token = await issuer.sign(claimsFor(nonce, { aud: 'another-client' }))
    secrets.push(nonce, token, 'the-code', 'access-token', 'client-secret-of-the-vault')
    return token
  })
  for (const secret of secrets) expect(vault.logged()).not.toContain(secret)
  expect(vault.logged()).toContain('sign-in failed')
})

test('records refused sign-ins in the audit log, together per minute', async () => {
  // Refusals of two minutes would be two entries.
  vault.advance(60_000 - (vault.now() % 60_000))
  for (let i = 0; i < 3; i++) await signIn(signed({ aud: 'another-client' }))
  for (let i = 0; i < 2; i++) await signIn(signed({ sub: 'eve', groups: [] }))
  vault.advance(60_000)
  // A stop writes them.
  vault.context.background.start()
  await vault.context.background.stop()
  const refused = (await admin(vault.url, 'GET', '/audit?action=refused')).body as { actor: string; detail: object }[]
  expect(refused).toContainEqual(
    expect.objectContaining({ actor: 'oidc:eve', detail: expect.objectContaining({ forbidden: 2 }) }),
  )
  const unknown = refused.find(({ actor }) => actor === 'unknown')
  expect(unknown?.detail).toMatchObject({ unauthorized: expect.any(Number) })
})

test('without a provider and PUBLIC_URL, browsers of this machine sign in with a token', async () => {
  const plain = await startVault()
  const begin = (origin: string) =>
    send(`${plain.url}/v1/admin/session`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${ADMIN_TOKEN}`, Origin: origin },
    })
  expect((await begin('http://127.0.0.1:1')).status).toBe(403)
  const [Cookie = ''] = (await begin(plain.url)).headers.getSetCookie().map((set) => set.replace(/;.*/, ''))
  expect((await send(`${plain.url}/v1/admin/me`, { headers: { Cookie } })).body).toMatchObject({ role: 'holder' })
  expect((await send(`${plain.url}/v1/sign-in`)).body).toEqual({ oidc: null, hasSession: false })
  expect((await fetch(`${plain.url}/v1/sign-in/start`)).status).toBe(404)
  expect((await fetch(`${plain.url}/v1/sign-in/callback?code=x`)).status).toBe(404)
  await plain.stop()
})

test.each([
  ['OIDC_ISSUER', 'http://id.example.org'],
  ['OIDC_ISSUER', ''],
  ['OIDC_CLIENT_ID', ''],
  ['OIDC_CLIENT_SECRET', ''],
  ['OIDC_CLIENT_SECRET_FILE', '/no/such/file'],
  ['OIDC_ROLES', ''],
  ['OIDC_ROLES', 'misplaced-secret'],
  ['OIDC_ROLES', 'misplaced-secret=root'],
  ['OIDC_SCOPES', 'email'],
  ['OIDC_LABEL', 'x'.repeat(51)],
  ['PUBLIC_URL', ''],
])('does not start with %s=%j', (name, value) => {
  const stores = { databaseUrl: vault.database.appUrl, redisUrl: vault.redisUrl }
  const problems = (given: Record<string, string>): readonly string[] => {
    try {
      readConfig(vaultEnv(stores, { ...env, ...given }))
      return []
    } catch (error) {
      return (error as EnvError).problems
    }
  }
  expect(problems({})).toEqual([])
  const found = problems({ [name]: value })
  expect(found).toEqual([expect.stringContaining(name)])
  expect(found.join()).not.toMatch(/misplaced-secret|client-secret-of/)
})
