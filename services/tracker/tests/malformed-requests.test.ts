import { request as httpRequest } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openBodiesIn } from '@vault-and-tracker/rest/testing'
import { describeApi } from '../src/app.ts'
import type { Client } from './support/client.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let admin: Client

beforeAll(async () => {
  tracker = await startTracker()
  await tracker.context.useCases.categories.seed()
  admin = await tracker.signedIn('admin', 'admin')
})

afterAll(() => tracker.stop())

const refusal = (message: string) => [400, { error: { code: 'BAD_REQUEST', message } }]

/** Sends bytes as JSON with a header that fetch would not send. */
function send(headers: Readonly<Record<string, string>>, body: Uint8Array): Promise<[number | undefined, unknown]> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      `${tracker.url}/api/auth/login`,
      { method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => resolve([response.statusCode, text === '' ? undefined : JSON.parse(text)]))
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

test.each(['gzip', 'deflate', 'br'])('a body that says %s and is not is 400', async (encoding) => {
  const answer = await send({ 'content-encoding': encoding }, Buffer.from('{"username":"a","password":"b"}'))
  expect(answer).toEqual(refusal('The body is malformed.'))
})

test('a compressed body that is cut short is 400, a whole one is read', async () => {
  const whole = gzipSync('{"username":"a","password":"b"}')
  expect(await send({ 'content-encoding': 'gzip' }, whole.subarray(0, -9))).toEqual(refusal('The body is malformed.'))
  expect(await send({ 'content-encoding': 'gzip' }, whole)).toMatchObject([401, { error: { code: 'UNAUTHORIZED' } }])
})

test('an expectation that nobody knows is no reason to refuse a request', async () => {
  const body = Buffer.from('{"username":"a","password":"b"}')
  expect(await send({ expect: 'x' }, body)).toMatchObject([401, { error: { code: 'UNAUTHORIZED' } }])
})

test.each([
  ['/api/torrents?page[]=1', 'page: must be one value, without brackets.'],
  ['/api/torrents?sort=size&sort=size', 'sort: occurs twice.'],
  ['/api/torrents?search=%ff', 'query: has a malformed percent-escape.'],
  ['/api/torrents?x=1&x=2', 'query: a parameter occurs twice.'],
  ['/api/torrents?page=1e3', 'page: must be a whole number from 1 to 10000.'],
  ['/api/admin/log?from=2026-01-31T12:00:00Z&to=', 'to: must be a time as ISO 8601, such as 2026-01-31T12:00:00Z.'],
  [
    '/api/admin/torznab/requests?from=x&to=2026-01-31T12:00:00Z',
    'from: must be a time as ISO 8601, such as 2026-01-31T12:00:00Z.',
  ],
])('%s is refused by name', async (path, message) => {
  const answer = await admin.get(path)
  expect([answer.status, answer.json]).toEqual(refusal(message))
})

test.each([
  ['/api/user/me', { statsPublic: true, statsPubic: true }, 'statsPubic: is not a known member.'],
  ['/api/admin/site', { downloadPercent: 100, uploadPercent: 100, 'a secret?': 1 }, 'The body has an unknown member.'],
  ['/api/user/me', {}, 'statsPublic: is required.'],
  ['/api/user/me', { statsPublic: 'yes' }, 'statsPublic: must be true or false.'],
  ['/api/user/me', [], 'The body must be an object.'],
])('a change of %s with %j is refused by name', async (path, body, message) => {
  const answer = await admin.patch(path, body)
  expect([answer.status, answer.json]).toEqual(refusal(message))
})

test('an unknown field of a form is refused by name', async () => {
  const answer = await admin.upload(makeTorrent('x'), { category: 'other', categry: 'tv' })
  expect([answer.status, answer.json]).toEqual(refusal('categry: is not a known member.'))
})

test('every object in every body refuses unknown members', () => {
  expect(openBodiesIn(describeApi().paths)).toEqual([])
})

test.each(['Show.2021.02.31.720p', 'Show.2021.13.45', 'Show.31.02.2021.x264', 'Show.0000.00.00', '2021-02-30'])(
  'the name %s, whose day does not exist, is taken',
  async (name) => {
    const answer = await admin.upload(makeTorrent(name), { category: 'other' })
    expect([answer.status, answer.json]).toMatchObject([201, { name, release: { airDate: null } }])
  },
)
