import { request } from 'node:http'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startTracker, type TestTracker } from '../../tests/support/tracker.ts'

let tracker: TestTracker

beforeAll(async () => {
  tracker = await startTracker()
  await tracker.context.useCases.categories.seed()
})
afterAll(() => tracker.stop())

const HTML = { accept: 'text/html,application/xhtml+xml' }

type Answer = { status: number; headers: Record<string, string>; body: Buffer }

/** An answer without decompression, unlike that of `fetch`. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(tracker.url + path, { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
          body: Buffer.concat(chunks),
        }),
      )
    })
    sent.on('error', reject).end()
  })
}

async function firstScript(): Promise<string> {
  const { body } = await ask('/')
  return /src="(\/assets\/index[^"]+\.js)"/.exec(body.toString())?.[1] ?? ''
}

test.each([
  ...['/', '/login', '/torrents', '/torrents/x?tab=files', '/upload', '/me?tab=keys'],
  ...['/users/x', '/admin', '/admin/swarms', '/admin/torznab?tab=blocks'],
])('%s serves the page, revalidated, under a strict policy', async (path) => {
  const { status, headers, body } = await ask(path, HTML)
  expect(status).toBe(200)
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  })
  expect(headers['content-security-policy']).toMatch(/default-src 'none'.*script-src 'self'.*style-src 'self'/)
  expect(headers['content-security-policy']).not.toContain('unsafe')
  expect(body.toString()).toContain('<div id="application">')
})

test('hashed files are cached permanently and sent compressed', async () => {
  const path = await firstScript()
  const plain = await ask(path)
  const small = await ask(path, { 'accept-encoding': 'gzip, br' })
  expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect(plain.headers['vary']).toBe('Accept-Encoding')
  expect([small.headers['content-encoding'], plain.headers['content-encoding']]).toEqual(['br', undefined])
  expect(small.body.length).toBeLessThan(plain.body.length / 3)
  expect((await ask(path, { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBe('gzip')
})

test('the first route has at most 120 kB of compressed script, and leaves a fifth of 200 kB to its data', async () => {
  const small = { ...HTML, 'accept-encoding': 'br' }
  const page = await ask('/')
  const files = Array.from(page.body.toString().matchAll(/(?:src|href)="(\/[^"]+)"/g), ([, path = '']) => path)
  const sizes = await Promise.all(
    ['/', ...files].map(async (path) => ({ path, bytes: (await ask(path, small)).body.length })),
  )
  const sum = (pattern: RegExp): number =>
    sizes.filter(({ path }) => pattern.test(path)).reduce((total, { bytes }) => total + bytes, 0)
  expect(files.filter((path) => path.endsWith('.js')).length).toBeGreaterThan(1)
  expect(sum(/\.js$/)).toBeLessThanOrEqual(120_000)
  expect(sum(/./)).toBeLessThanOrEqual(160_000)
})

test('a cached page is not sent again', async () => {
  const { headers } = await ask('/', HTML)
  const again = await ask('/', { ...HTML, 'if-none-match': headers['etag'] ?? '' })
  expect([again.status, again.body.length]).toEqual([304, 0])
})

test('HEAD has the headers of GET and no body; other methods are refused', async () => {
  const [get, head] = [await ask('/'), await ask('/', {}, 'HEAD')]
  expect([head.status, head.body.length, head.headers['content-length']]).toEqual([
    200,
    0,
    get.headers['content-length'],
  ])
  const post = await ask('/', {}, 'POST')
  expect([post.status, post.headers['allow']]).toEqual([405, 'GET, HEAD'])
  expect((await ask(await firstScript(), {}, 'DELETE')).status).toBe(405)
})

test('a browser at an unknown address gets the page, with 404', async () => {
  const { status, body } = await ask('/nowhere', HTML)
  expect(status).toBe(404)
  expect(body.toString()).toContain('<div id="application">')
})

test.each(['/api/nothing', '/api', '/nothing', '/assets/none.js'])(
  'a program at %s gets an error of the API',
  async (path) => {
    const { status, headers } = await ask(path, path.startsWith('/api') ? HTML : {})
    expect(status).toBe(404)
    expect(headers['content-type']).toMatch(/^application\/json/)
  },
)

test('announces, scrapes and Torznab do not serve the page to a browser', async () => {
  expect((await ask('/announce', HTML)).body.toString()).toContain('failure reason')
  expect((await ask('/scrape', HTML)).body.toString()).toContain('failure reason')
  expect((await ask('/api/torznab?t=caps', HTML)).headers['content-type']).toMatch(/xml/)
  expect((await ask('/health', HTML)).headers['content-type']).toMatch(/json/)
})

test('long responses are compressed, except accounts (passkeys), announces and Torznab', async () => {
  const small = { 'accept-encoding': 'gzip, br' }
  const { headers, body } = await ask('/api/categories', small)
  expect(headers).toMatchObject({ 'content-encoding': 'br', vary: 'Accept-Encoding', 'cache-control': 'no-store' })
  expect(brotliDecompressSync(body)).toEqual((await ask('/api/categories')).body)
  const member = await tracker.signedIn('m'.repeat(32))
  const account = await ask('/api/user/me', { ...small, cookie: `session=${member.cookie ?? ''}` })
  expect([account.status, account.headers['content-encoding']]).toEqual([200, undefined])
  for (const path of ['/announce', '/scrape', '/api/torznab?t=caps'])
    expect((await ask(path, small)).headers['content-encoding']).toBeUndefined()
})
