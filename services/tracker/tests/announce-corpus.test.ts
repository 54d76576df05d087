import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { afterAll, expect, test } from '@jest/globals'
import { eventually, randomFrom, TRIALS } from '@vault-and-tracker/dev-env'
import { type CorpusRequest, corpusOf, normalized } from './support/corpus.ts'
import { makeHybrid, makeTorrent } from './support/make-torrent.ts'
import { createAnnouncer, createMember } from './support/members.ts'
import { answerTo, binary, connectSocket, type Message, makeOffers } from './support/socket-client.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

/** The number of replayed requests out of 9,000 recorded ones, in private and in open mode. */
const REQUESTS = TRIALS > 1 ? 9_000 : 150
/** The number of replayed WebSocket messages out of 2,000 recorded ones. */
const MESSAGES = TRIALS > 1 ? 2_000 : 60

const trackers: TestTracker[] = []
afterAll(() => Promise.all(trackers.map((each) => each.stop())))

/** Sends requests, each on its own connection, which the server closes. */
async function answerOf(url: string, { target, headers }: CorpusRequest): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.end(`GET ${target} HTTP/1.1\r\nHost: tracker.test\r\n${headers}Connection: close\r\n\r\n`, 'utf8')
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}

async function replay(name: string, tracker: TestTracker, world: Parameters<typeof corpusOf>[0]): Promise<void> {
  await tracker.context.background.stop()
  tracker.holdClock()
  tracker.advance(60_000 - (tracker.now() % 60_000))
  const answers: string[] = []
  for (const { advanceMs, group } of corpusOf(world, 7)) {
    tracker.advance(advanceMs)
    if (advanceMs > 60_000) await tracker.sweep()
    const replies = await Promise.all(group.map((request) => answerOf(tracker.url, request)))
    for (const [i, reply] of replies.entries()) {
      const numwant = Number(/numwant=(\d+)/.exec(group[i]?.target ?? '')?.[1] ?? 50)
      answers.push(normalized(reply, Math.min(numwant, 100), world.torrents))
    }
    if (answers.length >= REQUESTS) break
  }
  expectRecorded(name, answers)
}

function readRecorded(name: string): string[] {
  const file = new URL(`data/announces-${name}.gz`, import.meta.url)
  return gunzipSync(readFileSync(file)).toString().split('\n')
}

function expectRecorded(name: string, answers: readonly string[]): void {
  const recorded = readRecorded(name)
  for (const [i, answer] of answers.entries())
    expect([i, withoutWording(answer)]).toEqual([i, withoutWording(recorded[i] ?? '')])
}

/** Errors of the REST API are compared by code. */
function withoutWording(answer: string): string {
  return answer.replace(/"message":"[^"]*"/, '"message":"…"')
}

test('a private tracker returns the recorded replies', async () => {
  const tracker = await startTracker({
    TRUSTED_PROXIES: '127.0.0.1',
    ALLOW_PRIVATE_PEERS: 'true',
    ANNOUNCE_LIMIT: '40',
    CLIENTS_DENIED: '-XX',
  })
  trackers.push(tracker)
  await tracker.context.useCases.categories.seed()
  const uploader = await createMember(tracker, 'uploader')
  const torrents: string[][] = []
  for (let n = 0; n < 24; n++) {
    const pieces = Buffer.alloc(80, n)
    const file = n % 8 === 7 ? makeHybrid(`Hybrid ${String(n)}`) : makeTorrent(`Torrent ${String(n)}`, { pieces })
    const uploaded = await uploader.client.upload(file, { category: 'tv-hd' })
    torrents.push([uploaded.member('infoHash')])
  }
  const passkeys: string[] = []
  for (let n = 0; n < 30; n++) passkeys.push((await createAnnouncer(tracker, `user${String(n)}`)).passkey)
  await tracker.sql(`update users set state = 'suspended' where username = 'user1'`)
  await tracker.sql(`update users set state = 'banned' where username = 'user2'`)
  await tracker.sql(`update users set can_download = false where username = 'user3'`)
  const set = (which: number, change: string): Promise<unknown> =>
    tracker.sql(`update torrents set ${change} where info_hash = decode($1, 'hex')`, [torrents[which]?.[0]])
  await set(1, `state = 'pending'`)
  await set(2, `state = 'rejected', state_reason = 'a duplicate'`)
  await set(3, `deleted_at = now(), delete_reason = 'nuked'`)
  await set(4, `download_percent = 0`)
  torrents.push(['ee'.repeat(20)])
  await replay('private', tracker, { passkeys: [...passkeys, 'f'.repeat(40), 'short'], torrents })
}, 300_000)

test('an open tracker returns the recorded replies', async () => {
  const tracker = await startTracker({
    TRACKER_MODE: 'open',
    TRUSTED_PROXIES: '127.0.0.1',
    ALLOW_PRIVATE_PEERS: 'true',
    ALLOW_IP_PARAM: 'true',
    ANNOUNCE_LIMIT: '60',
  })
  trackers.push(tracker)
  const torrents = Array.from({ length: 20 }, (_, n) => [n.toString(16).padStart(40, 'a')])
  await replay('open', tracker, { passkeys: Array.from({ length: 40 }, () => undefined), torrents })
}, 300_000)

test('sockets of a private tracker return the recorded replies', async () => {
  const tracker = await startTracker({ WS_MESSAGES_PER_SECOND: '1000', ANNOUNCE_LIMIT: '0' })
  trackers.push(tracker)
  await tracker.context.useCases.categories.seed()
  const uploader = await createMember(tracker, 'uploader')
  const torrents: string[] = ['ee'.repeat(20)]
  for (let n = 0; n < 4; n++) {
    const file = makeTorrent(`Torrent ${String(n)}`, { pieces: Buffer.alloc(80, n) })
    torrents.push((await uploader.client.upload(file, { category: 'tv-hd' })).member('infoHash'))
  }
  const sockets = await Promise.all(
    Array.from({ length: 10 }, async (_, n) => {
      const { passkey } = await createAnnouncer(tracker, `user${String(n)}`)
      const peerId = `-WW0102-${String(n).padStart(12, '0')}`
      return connectSocket(tracker.url, passkey, { peerId })
    }),
  )
  await tracker.context.background.stop()
  tracker.holdClock()
  const random = randomFrom(11)
  const int = (below: number): number => Math.floor(random() * below)
  const recorded = readRecorded('sockets').map(withoutWording)
  let before = sockets.map((each) => each.received.length)
  const plain = (message: Message): string => {
    const { interval, min_interval: minimum, info_hash: hash, files, ...rest } = message as Record<string, unknown>
    const name = torrents.findIndex((each) => binary(each) === hash)
    const regular = typeof interval === 'number' && interval >= 120 && interval < 132 ? 120 : interval
    const scraped = typeof files === 'object' && files !== null ? Object.values(files) : undefined
    // The receivers of offers are random.
    return JSON.stringify({ ...rest, name, regular, minimum, scraped }).replaceAll(/(o{3,}|v=0\\r\\n)\d+/g, '$1')
  }
  for (let step = 0; step < MESSAGES; step++) {
    // In all less than the time after which peers expire.
    if (step % 40 === 0) tracker.advance(61_000)
    const socket = sockets[int(sockets.length)]
    const hash = torrents[random() < 0.03 ? 0 : 1 + int(4)] ?? ''
    if (socket === undefined) throw new Error('no socket')
    const offer = socket.offersReceived().at(-1)
    const dice = random()
    const announce = {
      action: 'announce',
      info_hash: binary(hash),
      peer_id: socket.peerId,
      uploaded: step,
      downloaded: 0,
    }
    const event = random() < 0.2 ? { event: (['started', 'completed', 'stopped', 'paused'] as const)[int(4)] } : {}
    const message: unknown =
      dice < 0.15 && offer !== undefined
        ? answerTo(socket, offer)
        : dice < 0.25
          ? { action: 'scrape', info_hash: random() < 0.8 ? binary(hash) : torrents.slice(1, 3).map(binary) }
          : dice < 0.257
            ? { ...announce, numwant: 'many', offers: {} }
            : {
                ...announce,
                ...event,
                left: random() < 0.4 ? 0 : 5,
                numwant: 10,
                offers: makeOffers(random() < 0.6 ? 10 : 0),
              }
    socket.send(message)
    // The answer to a scrape may overtake those to earlier messages.
    await socket.next(() => socket.send({ action: 'scrape', info_hash: binary(torrents[4] ?? '') }))
    const received = (): string =>
      withoutWording(JSON.stringify(sockets.map((each, i) => each.received.slice(before[i]).map(plain).toSorted())))
    await eventually(() => received() === recorded[step], 20_000, 2).catch(() => undefined)
    expect([step, received()]).toEqual([step, recorded[step]])
    before = sockets.map((each) => each.received.length)
  }
}, 300_000)
