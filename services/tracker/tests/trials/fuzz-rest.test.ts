import { Agent } from 'node:http'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TRIALS } from '@vault-and-tracker/dev-env'
import { type FuzzedRequest, fuzzedRequests, problemOf, sendFuzzed } from '@vault-and-tracker/dev-env/fuzz'
import fc from 'fast-check'
import { describeApi } from '../../src/app.ts'
import { requireDocumented } from '../support/documented.ts'
import { makeHybrid, makeTorrent } from '../support/make-torrent.ts'
import { metricOf } from '../support/metrics.ts'
import { startTracker, type TestTracker } from '../support/tracker.ts'

const CASES = 600 * TRIALS
/** Much longer than any machine needs. */
const LIMIT_MS = 200_000 + CASES * 350
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_122)
const ENDS_SESSIONS = /^\/api\/(?:auth|user\/password)/
const ROLES = ['admin', 'moderator', 'member', undefined] as const

let tracker: TestTracker
const agent = new Agent({ keepAlive: true })
const ids: string[] = []

beforeAll(async () => {
  tracker = await startTracker({ REGISTRATION: 'open' })
  await tracker.context.useCases.categories.seed()
  const uploader = await tracker.signedIn('uploader')
  const torrent = await uploader.upload(makeTorrent('Fuzzed.Show.S01E01.1080p.WEB.x264-GRP'), { category: 'tv-hd' })
  const [category] = await tracker.sql<{ id: string }>('select id from categories limit 1')
  ids.push(torrent.member('id'), (await uploader.get('/api/user/me')).member('id'), category?.id ?? '')
  ids.push('0190b6a0-0000-7000-8000-000000000000', '127.0.0.1')
})

afterAll(async () => {
  agent.destroy()
  await tracker.stop()
})

/** Sessions by role. Requests end sessions and change roles, so an account that lost something is replaced. */
const cookies = new Map<string, string>()
let accounts = 0

async function cookieOf(role: 'admin' | 'moderator' | 'member'): Promise<string> {
  const known = cookies.get(role)
  if (known !== undefined) return known
  const { useCases } = tracker.context
  accounts += 1
  const username = `${role}-${String(accounts)}`
  const account = await useCases.accounts.create({
    ...{ username, email: `${username}@example.org`, password: 'correct horse battery', role },
  })
  const token = await useCases.sessions.open(account, { address: '127.0.0.1', userAgent: 'fuzz', isStrong: false })
  cookies.set(role, `session=${token}`)
  return `session=${token}`
}

const files = fc.oneof(
  fc.string({ maxLength: 40 }).map((name) => makeTorrent(`fuzz ${name}`)),
  fc.constantFrom('Show.2021.02.31', 'S2021E9999999999', '2021.13.45.', '\u200d').map((name) => makeTorrent(name)),
  fc.constant(makeHybrid('hybrid')),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.tuple(fc.nat(200), fc.nat(255)).map(([at, byte]) => {
    const file = makeTorrent('damaged')
    file[at % file.length] = byte
    return file
  }),
)

async function tryOut(request: FuzzedRequest, role: (typeof ROLES)[number]): Promise<void> {
  const own = role === undefined || 'cookie' in request.headers ? {} : { cookie: await cookieOf(role) }
  const answer = await sendFuzzed(tracker.url, request, own, agent)
  const problem = problemOf(answer)
  if (problem !== undefined) throw new Error(`${problem}: ${answer.text.slice(0, 300)}`)
  // Headers that are too large never reach an operation.
  const isOperation = request.target.startsWith('/api/') && answer.status !== 431
  if (isOperation) {
    const [path = ''] = request.target.split('?')
    requireDocumented(request.method, path, { status: answer.status, json: jsonOf(answer.text) })
  }
  if (role !== undefined && (answer.status === 401 || ENDS_SESSIONS.test(request.target))) cookies.delete(role)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

test(
  `${String(CASES)} requests for every operation, with every field and header wrong, break nothing (seed ${String(SEED)})`,
  async () => {
    const requests = fuzzedRequests({
      document: describeApi(),
      ids: fc.constantFrom(...ids),
      files,
      headers: ['x-api-key', 'upgrade-insecure-requests'],
    })
    await fc.assert(fc.asyncProperty(requests, fc.constantFrom(...ROLES), tryOut), {
      numRuns: CASES,
      seed: SEED,
      plugins: [fc.interruptAfterTimeLimit(LIMIT_MS, { failOnInterrupt: true })],
    })
    expect(await metricOf(tracker, 'tracker_uploads')).toBe(0)
    expect((await tracker.client().get('/ready')).status).toBe(200)
    expect(tracker.logged()).not.toMatch(/"level":[56]0/)
  },
  LIMIT_MS + 100_000,
)
