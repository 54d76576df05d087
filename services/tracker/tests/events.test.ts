import { once } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { connect, Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { eventually } from '@vault-and-tracker/dev-env'
import { createAudience } from '../src/events/audience.ts'
import { clientOf } from '../src/events/events.routes.ts'
import { createEventStore, insertEvent } from '../src/events/events.store.ts'
import { bearer, createToken } from './support/api-tokens.ts'
import { type EventReader, openEvents } from './support/event-stream.ts'
import { makeTorrent } from './support/make-torrent.ts'
import { createMember, type TestMember } from './support/members.ts'
import { metricOf } from './support/metrics.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker
let replica: TestTracker
let alice: TestMember
let bob: TestMember
let staff: TestMember['client']
const readers: EventReader[] = []

beforeAll(async () => {
  tracker = await startTracker()
  replica = await tracker.replica()
  await tracker.context.useCases.categories.seed()
  alice = await createMember(tracker, 'alice')
  bob = await createMember(tracker, 'bob')
  staff = await tracker.signedIn('staff', 'admin')
})
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close()
})
afterAll(async () => {
  await replica.stop()
  await tracker.stop()
})

async function open(where: TestTracker, headers: Readonly<Record<string, string>>): Promise<EventReader> {
  const reader = await openEvents(where.url, headers)
  readers.push(reader)
  return reader
}
const cookieOf = ({ client }: TestMember) => ({ cookie: `session=${client.cookie ?? ''}` })
const after = (id: number) => ({ ...cookieOf(bob), 'last-event-id': String(id) })

async function upload(name: string, fields: Readonly<Record<string, string>> = {}): Promise<string> {
  const answer = await alice.client.upload(makeTorrent(name), { category: 'tv-hd', ...fields })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.member('id')
}

const moderate = (id: string, verdict: 'approve' | 'reject', body?: unknown) =>
  staff.post(`/api/admin/torrents/${id}/${verdict}`, body)

test('each torrent is announced once to all, as a member may see it, when it is first approved', async () => {
  const { token } = await createToken(bob.client, ['read'])
  const here = await open(tracker, cookieOf(bob))
  const there = await open(replica, bearer(token))
  expect(here.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(here.headers.get('x-accel-buffering')).toBe('no')

  const shown = await upload('Shown.2026.1080p.WEB-DL', { scene: 'true' })
  await upload('Hidden.2026.720p.WEB-DL', { anonymous: 'true' })
  await staff.patch('/api/admin/site', { uploadApproval: 'manual' })
  const waiting = await upload('Waiting.2026.720p.WEB-DL')
  const rejected = await upload('Rejected.2026.720p.WEB-DL')
  await moderate(rejected, 'reject', { reason: 'mislabelled' })
  await moderate(waiting, 'approve')
  await moderate(waiting, 'reject', { reason: 'mislabelled' })
  await moderate(waiting, 'approve')
  await staff.patch('/api/admin/site', { uploadApproval: 'automatic' })
  await upload('Last.2026.720p.WEB-DL')

  const names = [
    'Shown.2026.1080p.WEB-DL',
    'Hidden.2026.720p.WEB-DL',
    'Waiting.2026.720p.WEB-DL',
    'Last.2026.720p.WEB-DL',
  ]
  await eventually(() => [here, there].every((reader) => reader.names().at(-1) === names.at(-1)))
  for (const reader of [here, there]) expect(reader.names()).toEqual(names)
  const { infoHash, created } = (await bob.client.get(`/api/torrents/${shown}`)).json as Record<string, unknown>
  expect(here.events[0]).toEqual({
    ...{ id: expect.any(Number), infoHash, created, name: names[0], category: 'tv-hd', size: 1_000_000, files: 1 },
    ...{ uploader: 'alice', internal: false, scene: true, downloadPercent: 100, uploadPercent: 100 },
    url: `http://tracker.test/torrents/${shown}`,
  })
  expect(here.events[1]).toMatchObject({ uploader: null })
})

describe('a client that comes back', () => {
  test('gets what it missed, without torrents that were deleted or wait again', async () => {
    const first = await open(tracker, cookieOf(bob))
    const from = first.lastId()
    first.close()
    const ids = await Promise.all(['Missed', 'Deleted', 'Hidden.again'].map((name) => upload(`${name}.2026.720p.WEB`)))
    await alice.client.delete(`/api/torrents/${ids[1] ?? ''}`)
    await moderate(ids[2] ?? '', 'reject', { reason: 'mislabelled' })
    const back = await open(replica, after(from))
    await upload('Next.2026.720p.WEB')
    await eventually(() => back.names().length >= 2)
    expect(back.names()).toEqual(['Missed.2026.720p.WEB', 'Next.2026.720p.WEB'])
  })

  test('gets every torrent once and in one order, however often, while others upload', async () => {
    const from = (await open(tracker, cookieOf(bob))).lastId()
    const uploadSome = async (lane: number): Promise<void> => {
      for (let n = 0; n < 10; n++) await upload(`Busy.${String(lane)}.S01E${String(n + 1)}.720p.WEB`)
    }
    const uploads = Promise.all([1, 2, 3].map(uploadSome))
    const seen: number[] = []
    let last = from
    for (let round = 0; seen.length < 30; round++) {
      const reader = await open(round % 2 === 0 ? tracker : replica, after(last))
      await eventually(() => reader.events.length >= Math.min(7, 30 - seen.length))
      reader.close()
      seen.push(...reader.events.map(({ id }) => id))
      last = reader.lastId()
    }
    await uploads
    const stored = await tracker.sql<{ id: string }>('select id from events where id > $1 order by id', [from])
    expect(seen).toEqual(stored.map(({ id }) => Number(id)))
  })

  test('gets many large events over one stream', async () => {
    const from = (await open(tracker, cookieOf(bob))).lastId()
    const id = await upload('Large.2026.720p.WEB')
    await tracker.sql("update torrents set name = repeat('\u{1F3AC}', 255) where id = $1", [id])
    await tracker.sql('insert into events (torrent_id, created_at) select $1, now() from generate_series(1, 399)', [id])
    const reader = await open(tracker, after(from))
    await eventually(() => reader.events.length === 400 || reader.isEnded())
    expect([reader.events.length, reader.isEnded()]).toEqual([400, false])
  })

  test('sees no id before a lower one', async () => {
    const reader = await open(replica, cookieOf(bob))
    const id = await upload('First.2026.720p.WEB')
    const late = await tracker.db.transaction().execute(async (trx) => {
      await insertEvent(trx, id, new Date())
      const second = upload('Second.2026.720p.WEB')
      await eventually(async () => {
        const [waiting] = await tracker.sql<{ n: string }>(
          "select count(*) as n from pg_locks where locktype = 'advisory' and not granted",
        )
        return Number(waiting?.n) === 1
      })
      return { second }
    })
    await late.second
    await eventually(() => reader.names().at(-1) === 'Second.2026.720p.WEB')
    expect(reader.names()).toEqual(['First.2026.720p.WEB', 'First.2026.720p.WEB', 'Second.2026.720p.WEB'])
  })

  test('with an id of the future or none of ours gets only new torrents', async () => {
    const all = await Promise.all(
      ['999999999999999', 'x', '-1', '9'.repeat(40)].map((id) =>
        open(tracker, { ...cookieOf(bob), 'last-event-id': id }),
      ),
    )
    await upload('Only.2026.720p.WEB')
    await eventually(() => all.every(({ events }) => events.length > 0))
    for (const reader of all) expect(reader.names()).toEqual(['Only.2026.720p.WEB'])
  })
})

describe('a stream ends', () => {
  const beat = () => tracker.context.useCases.eventStreams.beat()

  test('with its session or token, and at once with its account', async () => {
    const carol = await createMember(tracker, 'carol')
    const { id, token } = await createToken(carol.client, ['read'])
    const { token: lasting } = await createToken(carol.client, ['read'])
    const [bySession, byToken, byLasting] = await Promise.all([
      open(tracker, cookieOf(carol)),
      open(replica, bearer(token)),
      open(tracker, bearer(lasting)),
    ])
    await beat()
    expect([bySession, byToken, byLasting].map((reader) => reader.isEnded())).toEqual([false, false, false])
    await staff.delete(`/api/admin/tokens/${id}`)
    await eventually(() => byToken.isEnded())
    await carol.client.post('/api/auth/logout')
    await beat()
    await eventually(() => bySession.isEnded())
    expect(byLasting.isEnded()).toBe(false)
    await staff.patch(`/api/admin/users/${carol.id}`, { state: 'banned', reason: 'spam' })
    await eventually(() => byLasting.isEnded())
  })

  test('for the sixth of a user, which replaces the oldest', async () => {
    const dave = await createMember(tracker, 'dave')
    const streams: EventReader[] = []
    for (let n = 0; n < 7; n++) streams.push(await open(tracker, cookieOf(dave)))
    await eventually(() => streams.filter((stream) => stream.isEnded()).length === 2)
    expect(streams.map((stream) => stream.isEnded())).toEqual([true, true, false, false, false, false, false])
  })

  test('for a client that does not read', () => {
    const client = clientOf(new ServerResponse(new IncomingMessage(new Socket())))
    let written = 0
    for (; client.isOpen(); written += 1_000) client.write('x'.repeat(1_000))
    expect(written).toBeGreaterThan(128_000)
    expect(written).toBeLessThan(140_000)
  })

  test.each(['with', 'after'])('for a client that closes its half of the connection %s its request', async (when) => {
    const { cookie } = cookieOf(bob)
    const socket = connect(Number(new URL(tracker.url).port), '127.0.0.1')
    let received = ''
    socket.on('data', (chunk) => (received += chunk.toString()))
    socket.write(`GET /api/events HTTP/1.1\r\nHost: tracker.test\r\nCookie: ${cookie}\r\n\r\n`)
    if (when === 'after') await eventually(() => /id: \d+/.test(received))
    socket.end()
    await once(socket, 'close')
    expect(received).toMatch(when === 'after' ? /id: \d+/ : /^(HTTP|$)/)
  })

  test('for all when the service stops, and none is opened beyond the total', () => {
    const ended: string[] = []
    const listener = (userId: string) => ({
      userId,
      isValid: () => Promise.resolve(true),
      send: () => undefined,
      end: (reason: string) => void ended.push(`${userId} ${reason}`),
    })
    const audience = createAudience({ perUser: 2, total: 2 })
    audience.join(listener('a'))
    audience.join(listener('b'))
    expect(() => audience.join(listener('c'))).toThrow('Too many clients')
    audience.drain()
    expect(ended).toEqual(['a stopping', 'b stopping'])
    expect(() => audience.join(listener('a'))).toThrow('Too many clients')
  })

  test('and gives everything back', async () => {
    await eventually(async () => (await metricOf(tracker, 'tracker_event_streams')) === 0)
  })
})

test('without a stream, HEAD describes it', async () => {
  const answer = await bob.client.send('HEAD', '/api/events')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
})

test('old events are deleted, and all except the newest', async () => {
  const kept = async () => (await tracker.sql<{ id: string }>('select id from events order by id')).map(({ id }) => id)
  const all = await kept()
  await tracker.sql("update events set created_at = created_at - interval '8 days' where id = $1", [all[0]])
  const store = createEventStore(tracker.db)
  await store.expire(new Date(tracker.now() - 7 * 86_400_000), 1_000)
  expect(await kept()).toEqual(all.slice(1))
  await store.expire(new Date(0), 3)
  expect(await kept()).toEqual(all.slice(-3))
})

test('a client that reconnects is notified if it may have missed events', async () => {
  const stored = await tracker.sql<{ id: string }>('select id from events order by id')
  const [oldest = 0, newest = 0] = [stored[0], stored.at(-1)].map((row) => Number(row?.id))
  const toldAfter = async (id: number): Promise<readonly string[]> => {
    const reader = await open(replica, after(id))
    await eventually(() => reader.missed().length > 0 || reader.events.at(-1)?.id === newest)
    return reader.missed()
  }
  expect(await toldAfter(oldest - 2)).toEqual([`{"after":${String(oldest - 2)}}`])
  expect(await toldAfter(oldest - 1)).toEqual([])
  expect(await toldAfter(oldest)).toEqual([])
  // The id of a database that was restored since.
  expect(await toldAfter(newest + 1)).toEqual([`{"after":${String(newest + 1)}}`])
  // More than are sent again.
  await tracker.sql('select setval(pg_get_serial_sequence($1, $2), $3)', ['events', 'id', newest + 1_001])
  await upload('Far.2026.720p.WEB')
  expect(await toldAfter(newest)).toEqual([`{"after":${String(newest)}}`])
})
