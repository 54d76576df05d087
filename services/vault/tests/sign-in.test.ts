import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { freePort } from '@vault-and-tracker/dev-env'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { type Answer, admin, createProject, newKey, send, signedSend, statusAndError } from './support/client.ts'
import { createHttpBrowser, type OidcProvider, startOidcProvider } from './support/oidc-provider.ts'
import { rows } from './support/rows.ts'
import { connectSql } from './support/sql.ts'
import { ADMIN_TOKEN, startVault, type TestVault } from './support/vault.ts'

const PEOPLE = {
  ada: ['vault-admins'],
  grace: ['shop-team', 'security'],
  eve: ['sales'],
  mallory: undefined,
  later: ['later-team'],
}
const ROLES =
  'vault-admins=administrator; security=auditor; shop-team=editor:shop; shop-team=auditor:blog; later-team=administrator:later'
const HOUR_MS = 3_600_000
const UNAUTHORIZED = [401, 'unauthorized']
const FORBIDDEN = [403, 'forbidden']
/** Lets the owner of the tables change them without their triggers. */
const AS_OWNER = 'set session_replication_role = replica;'

let provider: OidcProvider
let vault: TestVault
let origin: string

beforeAll(async () => {
  const port = await freePort()
  origin = `http://127.0.0.1:${String(port)}`
  provider = await startOidcProvider([origin], PEOPLE)
  vault = await startVault({
    ...{ ...provider.env, OIDC_ROLES: ROLES, OIDC_LABEL: 'Example ID' },
    ...{ PUBLIC_URL: origin, PORT: String(port), TRUSTED_PROXIES: '127.0.0.1' },
  })
  for (const project of ['shop', 'blog']) await createProject(vault.url, project)
})
afterAll(async () => {
  await vault.stop()
  await provider.stop()
})

type Session = { cookie: string; as(method: string, path: string, init?: Init): Promise<Answer> }
type Init = { headers?: Record<string, string>; body?: object; at?: string }

/** A replica reads the host from its proxy. */
const proxied = () => ({ 'X-Forwarded-Host': new URL(origin).host })

const newBrowser = () => createHttpBrowser(new URL(origin).host)

function sessionOf(cookies: ReadonlyMap<string, string>): Session {
  const cookie = `vault-session=${cookies.get('vault-session') ?? ''}`
  return {
    cookie,
    as: (method, path, { headers, body, at = vault.url } = {}) =>
      send(`${at}/v1/admin${path}`, {
        method,
        headers: {
          ...{ Cookie: cookie, ...proxied() },
          ...(method !== 'GET' && { Origin: origin }),
          ...(body && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      }),
  }
}

async function signIn(person: string, at = vault.url): Promise<Session> {
  const browser = newBrowser()
  const response = await browser.startSignIn(origin, person)
  const { location } = await browser.request(response.replace(origin, at))
  expect(new URL(location).pathname + new URL(location).hash).toBe('/console/')
  return sessionOf(browser.cookies)
}

type Entry = { actor: string; action: string; detail: Record<string, unknown> }
const audited = async (action: string, actor?: string) =>
  (await admin(vault.url, 'GET', `/audit?action=${action}${actor === undefined ? '' : `&actor=${actor}`}`))
    .body as Entry[]

test('signs in with a provider, in an HttpOnly cookie', async () => {
  const browser = newBrowser()
  const started = await browser.request(
    `${vault.url}/v1/sign-in/start?page=${encodeURIComponent('/projects/shop?a=b')}`,
  )
  expect(started.status).toBe(303)
  const asked = new URL(started.location).searchParams
  expect(Object.fromEntries(asked)).toMatchObject({
    ...{ response_type: 'code', code_challenge_method: 'S256', scope: 'openid email groups', client_id: 'vault' },
    ...{ redirect_uri: `${origin}/v1/sign-in/callback`, code_challenge: expect.stringMatching(/^.{43}$/) },
    ...{ state: expect.stringMatching(/^.{43}$/), nonce: expect.stringMatching(/^.{43}$/) },
  })
  expect(started.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^vault-sign-in=[\w.-]+; Max-Age=600; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/),
  ])

  const response = await browser.startSignIn(origin, 'ada', '/projects/shop?a=b')
  const finished = await browser.request(response)
  expect([finished.status, finished.location]).toEqual([303, `${origin}/console/projects/shop?a=b`])
  expect(finished.headers.get('referrer-policy')).toBe('no-referrer')
  expect(finished.headers.get('cache-control')).toBe('no-store')
  expect(finished.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^vault-session=[\w.-]+; Max-Age=28800; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/),
    expect.stringMatching(/^vault-sign-in=;/),
  ])
  const ada = sessionOf(browser.cookies)
  expect((await ada.as('GET', '/me')).body).toEqual({
    ...{ actor: 'oidc:ada', role: 'administrator', projects: null },
    grants: [{ role: 'administrator', projects: null }],
    session: { name: 'ada@example.org', expiresAt: expect.any(String) },
  })
  const created = await ada.as('POST', '/projects', { body: { name: 'ada-1', publicKey: newKey().publicKeyHex } })
  expect(created.status).toBe(201)
  expect(await audited('project.create', 'oidc:ada')).toMatchObject([{ actor: 'oidc:ada' }])
  const [entry] = await audited('session.create', 'oidc:ada')
  expect(entry?.detail).toEqual({
    ...{ session: expect.any(String), issuer: provider.url, name: 'ada@example.org', roles: 'administrator' },
  })

  const code = new URL(response).searchParams.get('code') ?? ''
  const stored = JSON.stringify(await vault.sql('select to_jsonb(s)::text as row from administrator_sessions s'))
  for (const secret of [code, asked.get('state') ?? '', ada.cookie.slice(-43), ...browser.cookies.values()]) {
    expect(secret.length).toBeGreaterThan(20)
    expect(vault.logged()).not.toContain(secret)
    expect(stored).not.toContain(secret)
  }
})

test('adds up the roles of several groups', async () => {
  const grace = await signIn('grace')
  expect((await grace.as('GET', '/me')).body).toMatchObject({
    ...{ role: 'editor', projects: null },
    grants: [
      { role: 'auditor', projects: null },
      { role: 'editor', projects: ['shop'] },
      { role: 'auditor', projects: ['blog'] },
    ],
  })
  const secret = { body: { key: 'A', value: 'v', env: 'production' } }
  expect((await grace.as('GET', '/projects/blog/secrets')).status).toBe(200)
  expect((await grace.as('PUT', '/projects/shop/secrets', secret)).status).toBe(200)
  expect(statusAndError(await grace.as('PUT', '/projects/blog/secrets', secret))).toEqual(FORBIDDEN)
  expect(statusAndError(await grace.as('PUT', '/projects/shop/rotate'))).toEqual(FORBIDDEN)
  // The path of a secret does not name its project.
  await admin(vault.url, 'PUT', '/projects/blog/secrets', secret.body)
  const secretOf = async (project: string) =>
    ((await admin(vault.url, 'GET', `/projects/${project}/secrets`)).body as { id: string }[])[0]?.id ?? ''
  expect((await grace.as('DELETE', `/secrets/${await secretOf('blog')}`)).status).toBe(404)
  expect((await grace.as('DELETE', `/secrets/${await secretOf('shop')}`)).status).toBe(200)
})

test('a project of a role may be registered later', async () => {
  const later = await signIn('later')
  expect((await later.as('GET', '/projects')).body).toEqual([])
  const register = (name: string) => later.as('POST', '/projects', { body: { name, publicKey: newKey().publicKeyHex } })
  expect(statusAndError(await register('other'))).toEqual(FORBIDDEN)
  expect((await register('later')).status).toBe(201)
  expect((await later.as('GET', '/projects')).body).toMatchObject([{ id: 'later' }])
})

test.each(['eve', 'mallory'])('refuses %s, who has no group with a role', async (person) => {
  const browser = newBrowser()
  const { location } = await browser.request(await browser.startSignIn(origin, person))
  expect(location).toBe(`${origin}/console/#sign-in=forbidden`)
  expect(browser.cookies.has('vault-session')).toBe(false)
  expect(await audited('session.create', `oidc:${person}`)).toEqual([])
})

test('refuses a response that was used, that another browser started, or whose state differs', async () => {
  const browser = newBrowser()
  const response = await browser.startSignIn(origin, 'ada')
  const refused = `${origin}/console/#sign-in=unauthorized`
  expect((await newBrowser().request(response)).location).toBe(refused)
  const stranger = newBrowser()
  await stranger.request(`${vault.url}/v1/sign-in/start`)
  expect((await stranger.request(response)).location).toBe(refused)
  for (const change of [{ state: 'x' }, { state: undefined }]) {
    const changed = new URL(response)
    if (change.state === undefined) changed.searchParams.delete('state')
    else changed.searchParams.set('state', change.state)
    expect((await browser.request(changed.href)).location).toBe(refused)
  }
  const pending = browser.cookies.get('vault-sign-in') ?? ''
  expect((await browser.request(response)).location).toBe(`${origin}/console/`)
  browser.cookies.set('vault-sign-in', pending)
  expect((await browser.request(response)).location).toBe(refused)
  expect(stranger.cookies.has('vault-session')).toBe(false)
})

test('refuses a response of another issuer, and one that took too long', async () => {
  const browser = newBrowser()
  const mixed = new URL(await browser.startSignIn(origin, 'ada'))
  mixed.searchParams.set('iss', 'https://other.example.org')
  expect((await browser.request(mixed.href)).location).toBe(`${origin}/console/#sign-in=unauthorized`)
  const late = await browser.startSignIn(origin, 'ada')
  vault.advance(600_001)
  expect((await browser.request(late)).location).toBe(`${origin}/console/#sign-in=unauthorized`)
  expect(browser.cookies.has('vault-session')).toBe(false)
})

test('redirects to pages of the console only', async () => {
  const outside = ['/../docs', '/%2e%2E/docs', '/..\\docs', '/projects/../../v1/sign-in/start']
  for (const page of ['//evil.example', 'https://evil.example', '/\\evil.example', '/a b', '', '/\u2028', ...outside]) {
    const browser = newBrowser()
    const { location } = await browser.request(await browser.startSignIn(origin, 'ada', page))
    expect(new URL(location).origin).toBe(origin)
    expect(new URL(location).pathname.startsWith('/console/')).toBe(true)
  }
})

test('a session of one replica works at another, until its person signs out', async () => {
  const replica = await vault.replica({ PORT: '0' })
  const ada = await signIn('ada', replica.url)
  for (const at of [vault.url, replica.url]) expect((await ada.as('GET', '/projects', { at })).status).toBe(200)
  const signedOut = await ada.as('DELETE', '/session', { at: replica.url })
  const url = new URL((signedOut.body as { signOutUrl: string }).signOutUrl)
  expect([url.origin, Object.fromEntries(url.searchParams)]).toEqual([
    provider.url,
    { client_id: 'vault', post_logout_redirect_uri: `${origin}/console/` },
  ])
  expect(signedOut.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^vault-session=; .*Expires=Thu, 01 Jan 1970/),
  ])
  for (const at of [vault.url, replica.url])
    expect(statusAndError(await ada.as('GET', '/projects', { at }))).toEqual(UNAUTHORIZED)
  expect(await audited('session.delete', 'oidc:ada')).toMatchObject([{ detail: { subject: 'ada' } }])
  await replica.stop()
})

test('changes nothing for another site', async () => {
  const ada = await signIn('ada')
  const rotate = (headers: Record<string, string>) => ada.as('PUT', '/projects/shop/rotate', { headers })
  for (const Origin of ['https://evil.example', 'null', `${origin}.evil.example`, origin.replace('http', 'https'), ''])
    expect(statusAndError(await rotate({ Origin }))).toEqual(FORBIDDEN)
  const withoutOrigin = await send(`${vault.url}/v1/admin/projects/shop/rotate`, {
    method: 'PUT',
    headers: { Cookie: ada.cookie },
  })
  expect(statusAndError(withoutOrigin)).toEqual(FORBIDDEN)
  expect((await rotate({ Origin: origin })).status).toBe(200)
})

test('a request with a token ignores the cookie', async () => {
  const ada = await signIn('ada')
  for (const Authorization of ['Bearer wrong', 'Bearer', 'Basic YTpi'])
    expect(statusAndError(await ada.as('GET', '/me', { headers: { Authorization } }))).toEqual(UNAUTHORIZED)
  const { body } = await admin(vault.url, 'POST', '/administrators', { name: 'Audrey', role: 'auditor' })
  const { id, token } = body as { id: string; token: string }
  const headers = { Authorization: `Bearer ${token}`, Origin: 'https://evil.example' }
  expect((await ada.as('GET', '/me', { headers })).body).toMatchObject({ actor: `administrator:${id}`, session: null })
  expect(statusAndError(await ada.as('PUT', '/projects/shop/rotate', { headers }))).toEqual(FORBIDDEN)
})

describe('a session that began with a token', () => {
  type Begin = { token?: string; at?: string; headers?: Record<string, string> }

  async function begin({ token = ADMIN_TOKEN, at = vault.url, headers = { Origin: origin } }: Begin = {}) {
    const answer = await send(`${at}/v1/admin/session`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, ...proxied(), ...headers },
    })
    const [set = ''] = answer.headers.getSetCookie()
    return { ...answer, set, ...sessionOf(new Map([['vault-session', /^vault-session=([^;]*)/.exec(set)?.[1] ?? '']])) }
  }

  async function person(administrator: object) {
    const { body } = await admin(vault.url, 'POST', '/administrators', { name: 'Audrey', ...administrator })
    return body as { id: string; token: string }
  }

  test('has the permissions of the token, in an HttpOnly cookie', async () => {
    const holder = await begin()
    expect(holder.status).toBe(200)
    expect(holder.set).toMatch(
      /^vault-session=[\w.-]+; Max-Age=28800; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    )
    expect((await holder.as('GET', '/me')).body).toMatchObject({
      ...{ actor: 'administrator', role: 'holder', projects: null, session: { name: 'Admin token' } },
    })
    expect((await holder.as('POST', '/administrators', { body: { name: 'Ed', role: 'editor' } })).status).toBe(200)
    const { token, id } = await person({ role: 'auditor', projects: ['shop'] })
    const audrey = await begin({ token })
    expect((await audrey.as('GET', '/me')).body).toMatchObject({
      ...{ actor: `administrator:${id}`, role: 'auditor', projects: ['shop'], session: { name: 'Audrey' } },
    })
    expect(statusAndError(await audrey.as('PUT', '/projects/shop/rotate'))).toEqual(FORBIDDEN)
    expect((await holder.as('GET', '/sessions')).body).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ actor: 'administrator', name: 'Admin token', roles: ['holder'] }),
        expect.objectContaining({ actor: `administrator:${id}`, name: 'Audrey', roles: ['auditor:shop'] }),
      ]),
    )
    const text = JSON.stringify(await vault.sql('select to_jsonb(s)::text as row from administrator_sessions s'))
    const hash = (of: string) => createHash('sha256').update(of).digest('hex')
    for (const secret of [ADMIN_TOKEN, token, hash(ADMIN_TOKEN), hash(token), holder.cookie]) {
      expect(text).not.toContain(secret)
      expect(vault.logged()).not.toContain(secret)
    }
    expect((await holder.as('DELETE', '/session')).body).toEqual({ ok: true, signOutUrl: null })
    expect(statusAndError(await holder.as('GET', '/me'))).toEqual(UNAUTHORIZED)
    expect((await audrey.as('DELETE', '/session')).status).toBe(200)
  })

  test('begins only for a page of the vault with a token, not with a cookie', async () => {
    for (const headers of [
      {},
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: `${origin}.example` },
    ]) {
      const refused = await begin({ headers })
      expect([statusAndError(refused), refused.set]).toEqual([FORBIDDEN, ''])
      // The setting may be what is wrong.
      expect(refused.body).toMatchObject({ message: expect.stringMatching(`${origin},.*PUBLIC_URL`) })
    }
    const wrong = await begin({ token: 'wrong' })
    expect([statusAndError(wrong), wrong.set]).toEqual([UNAUTHORIZED, ''])
    for (const session of [await begin(), await signIn('ada')]) {
      const again = await session.as('POST', '/session')
      expect([statusAndError(again), again.headers.getSetCookie()]).toEqual([FORBIDDEN, []])
    }
  })

  test('ends with its token', async () => {
    const { token, id } = await person({ role: 'administrator' })
    const removed = await begin({ token })
    await admin(vault.url, 'DELETE', `/administrators/${id}`)
    expect(statusAndError(await removed.as('GET', '/me'))).toEqual(UNAUTHORIZED)
    const expiresAt = new Date(vault.now() + HOUR_MS).toISOString()
    const expired = await begin({ token: (await person({ role: 'auditor', expiresAt })).token })
    expect((await expired.as('GET', '/me')).status).toBe(200)
    vault.advance(HOUR_MS)
    expect(statusAndError(await expired.as('GET', '/me'))).toEqual(UNAUTHORIZED)
    const holder = await begin()
    const next = { PORT: '0', ADMIN_TOKEN: randomBytes(32).toString('hex') }
    const during = await vault.replica({ ...next, ADMIN_TOKEN_PREVIOUS: ADMIN_TOKEN })
    expect((await holder.as('GET', '/me', { at: during.url })).status).toBe(200)
    const after = await vault.replica(next)
    expect(statusAndError(await holder.as('GET', '/me', { at: after.url }))).toEqual(UNAUTHORIZED)
    await Promise.all([during.stop(), after.stop()])
  })

  test('ends after ten more with the same token', async () => {
    const first = await begin()
    const { token } = await person({ role: 'auditor' })
    const other = await begin({ token })
    for (let i = 0; i < 10; i++) await begin()
    expect(statusAndError(await first.as('GET', '/me'))).toEqual(UNAUTHORIZED)
    expect((await other.as('GET', '/me')).status).toBe(200)
    await admin(vault.url, 'DELETE', '/sessions')
  })
})

test('a session ends after eight hours, and its row is deleted later', async () => {
  const ada = await signIn('ada')
  vault.advance(8 * HOUR_MS - 60_000)
  expect((await ada.as('GET', '/me')).status).toBe(200)
  vault.advance(60_000)
  const ended = await ada.as('GET', '/me')
  expect(statusAndError(ended)).toEqual(UNAUTHORIZED)
  expect(ended.headers.getSetCookie()).toEqual([expect.stringMatching(/^vault-session=;/)])
  expect((await admin(vault.url, 'GET', '/sessions')).body).toEqual([])
  // A replica whose clock is ahead removes nothing.
  await vault.context.useCases.sessions.removeExpired()
  expect(await vault.sql('select id from administrator_sessions')).toHaveLength(1)
  await vault.sql("update administrator_sessions set expires_at = now() - interval '11 minutes'")
  await vault.context.useCases.sessions.removeExpired()
  expect(await vault.sql('select id from administrator_sessions')).toEqual([])
})

test('administrators of all projects list and revoke sessions', async () => {
  const [ada, grace] = [await signIn('ada'), await signIn('grace')]
  const listed = (await ada.as('GET', '/sessions')).body as { id: string; actor: string }[]
  expect(listed).toMatchObject([
    { actor: 'oidc:ada', name: 'ada@example.org', roles: ['administrator'] },
    { actor: 'oidc:grace', roles: ['auditor', 'editor:shop', 'auditor:blog'] },
  ])
  expect((await grace.as('GET', '/sessions')).status).toBe(200)
  const later = await signIn('later')
  const path = `/sessions/${listed[1]?.id ?? ''}`
  expect(statusAndError(await later.as('GET', '/sessions'))).toEqual(FORBIDDEN)
  for (const who of [later, grace]) expect(statusAndError(await who.as('DELETE', path))).toEqual(FORBIDDEN)
  expect((await ada.as('DELETE', path)).status).toBe(200)
  expect((await ada.as('DELETE', path)).status).toBe(404)
  expect(statusAndError(await grace.as('GET', '/me'))).toEqual(UNAUTHORIZED)
  expect(statusAndError(await ada.as('DELETE', '/sessions'))).toEqual(FORBIDDEN)
  expect((await admin(vault.url, 'DELETE', '/sessions')).status).toBe(200)
  for (const who of [ada, later]) expect(statusAndError(await who.as('GET', '/me'))).toEqual(UNAUTHORIZED)
  expect((await audited('session.delete', 'administrator'))[0]?.detail).toEqual({ sessions: 2 })
  expect((await admin(vault.url, 'DELETE', '/session')).status).toBe(404)
})

test('the oldest sessions of a person give way', async () => {
  await admin(vault.url, 'DELETE', '/sessions')
  const first = await signIn('ada')
  const second = await signIn('ada')
  const other = await signIn('later')
  for (let i = 0; i < 9; i++) await signIn('ada')
  expect(statusAndError(await first.as('GET', '/me'))).toEqual(UNAUTHORIZED)
  for (const who of [second, other]) expect((await who.as('GET', '/me')).status).toBe(200)
})

const stored = async (subject: string) => {
  const [newest] = await vault.sql<{ id: string; row: object }>(
    'select id, to_jsonb(s) as row from administrator_sessions s where subject = $1 order by id desc limit 1',
    [subject],
  )
  if (newest === undefined) throw new Error('there is no session')
  return newest
}

const INSERT =
  'insert into administrator_sessions select * from jsonb_populate_record(null::administrator_sessions, $1)'

test('a session that has ended cannot be put back, not even by the owner of the tables', async () => {
  const ada = await signIn('ada')
  const { id, row } = await stored('ada')
  const role = await connectSql(vault.database.appUrl)
  await expect(role('update administrator_sessions set expires_at = now()')).rejects.toThrow(/permission denied/)
  await ada.as('DELETE', '/session')
  await expect(role(INSERT, [row])).rejects.toThrow(/cannot be put back/)
  await role.end()
  const owner = await connectSql(vault.database.adminUrl)
  await owner(AS_OWNER)
  await owner(INSERT, [row])
  await owner.end()
  expect(statusAndError(await ada.as('GET', '/me'))).toEqual(UNAUTHORIZED)
  const { stdout, stderr } = await rows(vault, 'verify')
  expect(stdout + stderr).toContain(`session ${id}: its row is not authentic`)
  await vault.sql('delete from administrator_sessions where id = $1', [id])
})

test.each([
  ['roles', `'{administrator}'`],
  ['subject', `'ada'`],
  ['name', `'ada@example.org'`],
  ['expires_at', `expires_at + interval '1 year'`],
  ['created_at', `created_at - interval '1 hour'`],
  ['code', `''`],
])('a session with another %s is refused', async (column, value) => {
  const grace = await signIn('grace')
  const { id } = await stored('grace')
  await vault.sql(`update administrator_sessions set ${column} = ${value} where id = '${id}'`)
  expect(statusAndError(await grace.as('GET', '/me'))).toEqual(UNAUTHORIZED)
  await vault.sql('delete from administrator_sessions where id = $1', [id])
})

test('the run-time role cannot give a person the session of another', async () => {
  const [ada, grace] = [await signIn('ada'), await signIn('grace')]
  const [{ row }, { id }] = [await stored('ada'), await stored('grace')]
  const role = await connectSql(vault.database.appUrl)
  await role('delete from administrator_sessions where id = $1', [id])
  const [{ hash } = { hash: '' }] = await vault.sql<{ hash: string }>(
    "select '\\x' || encode(sha256(convert_to($1, 'UTF8')), 'hex') as hash",
    [Buffer.from(grace.cookie.split(/[=.]/)[1] ?? '', 'base64url').toString()],
  )
  await role('delete from administrator_sessions where subject = $1', ['ada'])
  await role(INSERT, [{ ...row, id: newId(), token_hash: hash }])
  await role.end()
  for (const who of [ada, grace]) expect(statusAndError(await who.as('GET', '/me'))).toEqual(UNAUTHORIZED)
  await admin(vault.url, 'DELETE', '/sessions')
})

test('forged cookies are refused without a query', async () => {
  const ada = await signIn('ada')
  const [name = '', value = ''] = ada.cookie.split('=')
  for (const forged of ['', '.', 'x', value.slice(0, -2), `x${value}`, value.split('.')[0] ?? ''])
    expect(statusAndError(await ada.as('GET', '/me', { headers: { Cookie: `${name}=${forged}` } }))).toEqual(
      UNAUTHORIZED,
    )
})

test('other settings end sessions', async () => {
  const ada = await signIn('ada')
  const replica = await vault.replica({ PORT: '0', OIDC_ROLES: 'vault-admins=auditor' })
  expect(statusAndError(await ada.as('GET', '/me', { at: replica.url }))).toEqual(UNAUTHORIZED)
  await replica.stop()
})

test('counts sign-ins that the provider refuses like wrong tokens, and no response that another site can send', async () => {
  const replica = await vault.replica({ PORT: '0', ADMIN_FAILURE_LIMIT: '3', WRITE_RATE_LIMIT: '10' })
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}`, ...proxied() }
  const useToken = () => send(`${replica.url}/v1/admin/me`, { headers })
  const browser = newBrowser()
  const { location } = await browser.request(`${replica.url}/v1/sign-in/start`)
  const respond = async (state: string) => {
    const query = `error=access_denied&state=${state}`
    return new URL((await browser.request(`${replica.url}/v1/sign-in/callback?${query}`)).location).hash
  }
  for (let i = 0; i < 12; i++) expect(await respond('x')).toBe('#sign-in=unauthorized')
  expect((await useToken()).status).toBe(200)
  const state = new URL(location).searchParams.get('state') ?? ''
  for (let i = 0; i < 3; i++) expect(await respond(state)).toBe('#sign-in=unauthorized')
  expect(await respond(state)).toBe('#sign-in=rate_limited')
  expect(statusAndError(await useToken())).toEqual([429, 'rate_limited'])
  await replica.stop()
})

test('returns to the public URL of the request', async () => {
  const urls = ['http://vault.example.org', 'https://vault.example.org', 'https://b.example.org']
  const replica = await vault.replica({ PORT: '0', PUBLIC_URL: urls.join() })
  for (const [host, scheme, expected] of [
    ['vault.example.org', 'http', urls[0]],
    ['vault.example.org', 'https', urls[1]],
    ['B.example.org:443', 'https', urls[2]],
  ] as const) {
    const browser = createHttpBrowser(host)
    const { location } = await browser.request(`${replica.url}/v1/sign-in/start`, {
      headers: { 'X-Forwarded-Proto': scheme },
    })
    expect(new URL(location).searchParams.get('redirect_uri')).toBe(`${expected ?? ''}/v1/sign-in/callback`)
    expect([...browser.cookies.keys()]).toEqual([scheme === 'https' ? '__Host-vault-sign-in' : 'vault-sign-in'])
  }
  await replica.stop()
})

test.each(['start', 'callback'])('%s has no other method than GET', async (path) => {
  for (const method of ['HEAD', 'POST'])
    expect((await newBrowser().request(`${vault.url}/v1/sign-in/${path}`, { method })).status).toBe(405)
})

test('shows how to sign in', async () => {
  const read = async (headers: Record<string, string> = {}) => (await send(`${vault.url}/v1/sign-in`, { headers })).body
  const oidc = { label: 'Example ID', url: '/v1/sign-in/start' }
  expect(await read()).toEqual({ oidc, hasSession: false })
  expect(await read({ Cookie: (await signIn('ada')).cookie })).toEqual({ oidc, hasSession: true })
})

test('an ID token of the provider is exchanged for a key under a trust rule, once', async () => {
  const claims = { sub: 'ada' }
  const rule = { name: 'people', issuer: provider.url, audience: provider.env['OIDC_CLIENT_ID'], claims }
  expect((await admin(vault.url, 'POST', '/projects/shop/trust-rules', rule)).status).toBe(201)
  const idTokenOf = async (person: string): Promise<string> => {
    const verifier = randomBytes(32).toString('base64url')
    const client = { client_id: 'vault', redirect_uri: `${origin}/v1/sign-in/callback` }
    const asked = new URLSearchParams({
      ...{ ...client, response_type: 'code', scope: 'openid', code_challenge_method: 'S256' },
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    })
    const returned = await newBrowser().visitProvider(`${provider.url}/auth?${asked.toString()}`, person)
    const credentials = Buffer.from(`vault:${provider.env['OIDC_CLIENT_SECRET'] ?? ''}`).toString('base64')
    const response = await fetch(`${provider.url}/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${credentials}` },
      body: new URLSearchParams({
        ...{ ...client, grant_type: 'authorization_code', code_verifier: verifier },
        code: new URL(returned).searchParams.get('code') ?? '',
      }),
    })
    return ((await response.json()) as { id_token: string }).id_token
  }
  const exchange = (idToken: string, key = newKey()) =>
    send(`${vault.url}/v1/keys/exchange`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ idToken, publicKey: key.publicKeyHex }),
    })
  const [idToken, key] = [await idTokenOf('ada'), newKey()]
  expect(await exchange(idToken, key)).toMatchObject({ status: 201, body: { project: 'shop' } })
  const url = `${vault.url}/v1/secrets`
  expect((await signedSend({ project: 'shop', key, method: 'GET', url })).status).toBe(200)
  expect(statusAndError(await exchange(idToken))).toEqual([401, 'invalid_id_token'])
  expect(statusAndError(await exchange(await idTokenOf('eve')))).toEqual([401, 'no_trust_rule'])
})
