import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import express from 'express'
import request from 'supertest'
import { type Look, webApplication } from '../src/web-application.ts'

let parent: string
let folder: string
let missing: string[]

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'web-application-'))
  folder = join(parent, 'dist')
  missing = []
})
afterEach(() => rmSync(parent, { recursive: true }))

function build(name: string): void {
  mkdirSync(join(folder, 'assets'), { recursive: true })
  writeFileSync(join(folder, 'index.html'), `<script src="/assets/${name}.js"></script>`)
  writeFileSync(join(folder, 'assets', `${name}.js`), `"${name}"`)
}

const start = () =>
  express()
    .use(webApplication({ folder, pages: ['list'], onMissing: (text) => missing.push(text) }))
    .use((_request, response) => void response.status(418).end())

test('a new build is served from the next request on', async () => {
  build('first')
  const app = start()
  expect((await request(app).get('/assets/first.js')).text).toBe('"first"')
  build('second')
  utimesSync(join(folder, 'index.html'), new Date(), new Date(Date.now() + 5_000))
  expect((await request(app).get('/list')).text).toContain('second')
  expect((await request(app).get('/assets/second.js')).text).toBe('"second"')
})

test('a page in the look of a site has its name, icon and style, which its policy allows, and a new tag', async () => {
  build('first')
  const page =
    '<!doctype html><head><title>Application</title><link rel="icon" href="/icon.svg"></head><script src="/assets/first.js"></script>'
  writeFileSync(join(folder, 'index.html'), page)
  let look: Look = {}
  const app = express().use(
    webApplication({ folder, pages: ['list'], onMissing: () => undefined, look: () => Promise.resolve(look) }),
  )
  const plain = await request(app).get('/list').set('accept-encoding', 'identity')
  expect(plain.text).toBe(page)
  expect(plain.headers['content-security-policy']).toContain("style-src 'self';")
  look = { name: 'R&D <files>', icon: '/logo-1.png', style: ':root{--brand:#112233}' }
  const other = await request(app).get('/list').set('accept-encoding', 'gzip')
  expect(other.text).toBe(
    page
      .replace('Application', 'R&amp;D &lt;files&gt;')
      .replace('<link rel="icon" href="/icon.svg">', '<link rel="icon" href="/logo-1.png" type="image/png">')
      .replace('</head>', '<style>:root{--brand:#112233}</style></head>'),
  )
  const hash = createHash('sha256').update(':root{--brand:#112233}').digest('base64')
  expect(other.headers['content-security-policy']).toContain(`style-src 'self' 'sha256-${hash}';`)
  expect(other.headers['etag']).not.toBe(plain.headers['etag'])
})

test('without a build, everything is left to the next handler, and onMissing is called once', async () => {
  const app = start()
  expect((await request(app).get('/list').set('accept', 'text/html')).status).toBe(418)
  expect((await request(app).get('/')).status).toBe(418)
  expect(missing).toHaveLength(1)
  expect(missing[0]).toContain('run pnpm build')
})

test('a build that is created later is served', async () => {
  const app = start()
  build('late')
  expect((await request(app).get('/list')).status).toBe(200)
})

test('no file outside the build is served', async () => {
  build('first')
  writeFileSync(join(parent, 'secret.js'), 'secret')
  expect((await request(start()).get('/../secret.js')).status).toBe(418)
  expect((await request(start()).get('/assets/%2e%2e/%2e%2e/secret.js')).status).toBe(418)
})

test.each(['//', '//list', '//example.org/list', '///', '/%2f/list'])('%s is not a page', async (path) => {
  build('first')
  expect((await request(start()).get(path)).status).toBe(418)
  expect((await request(start()).get('/')).status).toBe(200)
})

test('below a path it is served as at the root, and forms are allowed only if enabled', async () => {
  build('first')
  const app = express()
    .use('/console', webApplication({ folder, pages: ['list'], onMissing: (text) => missing.push(text) }))
    .use(webApplication({ folder, pages: ['list'], onMissing: (text) => missing.push(text), sendsForms: true }))
  for (const path of ['/console', '/console/', '/console/list/1'])
    expect((await request(app).get(path)).status).toBe(200)
  expect((await request(app).get('/console/assets/first.js')).headers['cache-control']).toMatch(/immutable$/)
  const policyOf = async (path: string) => (await request(app).get(path)).headers['content-security-policy']
  expect(await policyOf('/console')).toContain("form-action 'none'")
  expect(await policyOf('/list')).toContain("form-action 'self'")
})

test.each([
  [{ range: 'bytes=9999-' }, 200],
  [{ 'if-match': '"other"' }, 412],
  [{ 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 412],
])('a conditional request for a file with %j is answered %i', async (headers, status) => {
  build('first')
  const response = await request(start()).get('/assets/first.js').set(headers)
  expect(response.status).toBe(status)
  if (status !== 200) expect(response.headers['cache-control']).toBe('no-store')
})
