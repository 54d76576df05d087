import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startVault, type TestVault } from '../../tests/support/vault.ts'

let vault: TestVault

beforeAll(async () => {
  vault = await startVault()
})
afterAll(() => vault.stop())

const HTML = { accept: 'text/html,application/xhtml+xml' }

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(vault.url + path, { method, headers, redirect: 'manual' })

test.each(['', '/', '/projects', '/projects/shop?tab=secrets', '/administrators', '/audit?action=read'])(
  '/console%s serves the page, revalidated, under a strict policy',
  async (path) => {
    const answer = await ask(`/console${path}`, HTML)
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
    const policy = answer.headers.get('content-security-policy') ?? ''
    for (const directive of [
      ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
      ...["form-action 'none'", "frame-ancestors 'none'", "base-uri 'none'"],
    ])
      expect(policy.split('; ')).toContain(directive)
    expect(policy).not.toContain('unsafe')
    expect(await answer.text()).toContain('<div id="application">')
  },
)

test('hashed files are cached permanently and sent compressed', async () => {
  const page = await (await ask('/console')).text()
  const [, path = ''] = /src="(\/console\/assets\/index[^"]+\.js)"/.exec(page) ?? []
  const script = await ask(path, { 'accept-encoding': 'br' })
  expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(script.headers.get('content-encoding')).toBe('br')
  expect(page).not.toMatch(/<(script|style)>|style=|https?:/)
})

test('the first route has at most 120 kB of compressed script', async () => {
  const page = await (await ask('/console')).text()
  const files = Array.from(page.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g), ([, path = '']) => path)
  const sizes = await Promise.all(
    files.map(async (path) => {
      const answer = await ask(path, { 'accept-encoding': 'br' })
      await answer.arrayBuffer()
      return { path, bytes: Number(answer.headers.get('content-length')) }
    }),
  )
  const sum = (pattern: RegExp): number =>
    sizes.filter(({ path }) => pattern.test(path)).reduce((total, { bytes }) => total + bytes, 0)
  expect(files.filter((path) => path.endsWith('.js')).length).toBeGreaterThan(1)
  expect(sum(/\.js$/)).toBeLessThanOrEqual(120_000)
  expect(sum(/./)).toBeLessThanOrEqual(160_000)
})

test('a browser at an unknown address below the console gets the page, with 404; a program gets an error', async () => {
  const page = await ask('/console/nowhere', HTML)
  expect([page.status, (await page.text()).includes('<div id="application">')]).toEqual([404, true])
  const answer = await ask('/console/assets/none.js')
  expect([answer.status, await answer.json()]).toEqual([404, { error: 'not_found', message: expect.any(String) }])
  expect((await ask('/console', {}, 'POST')).status).toBe(405)
})

test('the root leads to the console', async () => {
  const answer = await ask('/', HTML)
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/console'])
  const post = await ask('/', {}, 'POST')
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
})

test('the API and other addresses do not serve the page to a browser', async () => {
  expect((await ask('/v1/admin/projects', HTML)).status).toBe(401)
  expect((await ask('/consolex', HTML)).status).toBe(404)
  expect((await ask('/health', HTML)).headers.get('content-type')).toMatch(/json/)
})
