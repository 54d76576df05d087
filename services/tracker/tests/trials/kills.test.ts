import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type DurableServers, eventually, startDurableServers, TRIALS, withClient } from '@vault-and-tracker/dev-env'
import { announce } from '../support/announcer.ts'
import { createClient } from '../support/client.ts'
import { makeTorrent } from '../support/make-torrent.ts'
import { createAnnouncer, createMember, type TestMember, uploadTorrent } from '../support/members.ts'
import { startRawUpload } from '../support/raw-upload.ts'
import { createTrackerDatabase, startTracker } from '../support/tracker.ts'
import { startTrackerProcess, type TrackerProcess } from '../support/tracker-process.ts'

/** How often each part is killed. */
const KILLS = TRIALS
const MEMBERS = 6
const PARTS = ['service', 'postgres', 'redis'] as const
/** Longer than any machine needs. */
const LIMIT_MS = 120_000 + KILLS * PARTS.length * 60_000

type Member = { readonly id: string; readonly passkey: string }
/** A client of a member, with its reported totals. */
type Client = { readonly member: Member; readonly infoHash: string; readonly port: number; up: number; down: number }

let servers: DurableServers
let adminUrl: string
let service: TrackerProcess
let uploader: TestMember
const members: Member[] = []
const clients: Client[] = []

beforeAll(async () => {
  servers = await startDurableServers('kills')
  const database = await createTrackerDatabase(servers.postgres)
  adminUrl = database.adminUrl
  const world = await startTracker({}, { database, redisUrl: servers.redis.url })
  await world.context.useCases.categories.seed()
  uploader = await createMember(world, 'uploader')
  const hashes = [
    await uploadTorrent(uploader, 'First of the kills'),
    await uploadTorrent(uploader, 'Second of the kills'),
  ]
  for (let i = 0; i < MEMBERS; i += 1) {
    const member = await createAnnouncer(world, `killed-${String(i)}`)
    members.push(member)
    for (const [at, { infoHash }] of hashes.entries())
      clients.push({ member, infoHash, port: 7_000 + 2 * i + at, up: 0, down: 0 })
  }
  await world.stop()
  service = await startTrackerProcess({
    DATABASE_URL: database.appUrl,
    REDIS_URL: servers.redis.url,
    ...{ ANNOUNCE_LIMIT: '0', MIN_ANNOUNCE_INTERVAL: '1', REST_WRITE_LIMIT: '0' },
  })
})
afterAll(async () => {
  await service.process.stop()
  await servers.stop()
})

/** As a client does: until there is an answer that is no failure, the same again. */
async function report({ member, infoHash, port, up, down }: Client, event?: 'started'): Promise<void> {
  const parameters = { infoHash, port, uploaded: up, downloaded: down, ...(event && { event }) }
  const peerId = `-KL0001-${String(port).padStart(12, '0')}`
  for (;;) {
    const reply = await announce(service.url, member.passkey, { ...parameters, peerId }).catch(() => undefined)
    if (reply !== undefined && 'interval' in reply.fields && reply.fields['failure reason'] === undefined) return
    await sleep(100)
  }
}

/** Reports a transfer every second until it is stopped. */
async function live(client: Client, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    client.up += Math.floor(Math.random() * 1_000_000)
    client.down += Math.floor(Math.random() * 100_000)
    await report(client)
    await sleep(1_000)
  }
}

/** Begins uploads and cuts them off at different bytes, some of them while a part is down. */
async function cutOffUploads(): Promise<void> {
  const file = makeTorrent('Cut off by the kills')
  const session = createClient(service.url)
  session.cookie = uploader.client.cookie
  const uploads = await Promise.allSettled(
    [1, 200, undefined].map(async (bytes) => {
      const upload = await startRawUpload(service.url, session, file)
      upload.send(bytes)
      await sleep(Math.random() * 100)
      upload.socket.destroy()
    }),
  )
  expect(uploads).toHaveLength(3)
}

async function kill(part: (typeof PARTS)[number]): Promise<void> {
  const killed = part === 'service' ? service.process : servers[part]
  await Promise.all([killed.kill(), cutOffUploads()])
  await sleep(Math.random() * 500)
  await cutOffUploads()
  await killed.restart()
  await eventually(async () => (await fetch(`${service.url}/ready`).catch(() => undefined))?.status === 200)
}

/** Bytes by user and by user and torrent, as Postgres has them. */
function credited(): Promise<{ name: string; up: string; down: string }[]> {
  return withClient(adminUrl, async (client) => {
    const found = await client.query<{ name: string; up: string; down: string }>(
      `select id::text as name, uploaded_actual::text as up, downloaded::text as down from users where id = any($1)
       union all
       select user_id || ' ' || sum(1)::text, sum(uploaded_actual)::text, sum(downloaded_actual)::text from user_torrents
       where user_id = any($1) group by user_id`,
      [members.map(({ id }) => id)],
    )
    return found.rows
  })
}

function reported(): { name: string; up: string; down: string }[] {
  return members.flatMap(({ id }) => {
    const own = clients.filter(({ member }) => member.id === id)
    const [up, down] = [own.reduce((sum, each) => sum + each.up, 0), own.reduce((sum, each) => sum + each.down, 0)]
    const totals = { up: String(up), down: String(down) }
    return [
      { name: id, ...totals },
      { name: `${id} ${String(own.length)}`, ...totals },
    ]
  })
}

const sorted = (rows: readonly { name: string }[]): unknown[] => rows.toSorted((a, b) => a.name.localeCompare(b.name))

test(
  `after ${String(KILLS)} kills of each part every byte that was reported is credited once, and no slot is taken`,
  async () => {
    await Promise.all(clients.map((client) => report(client, 'started')))
    let isOver = false
    const lives = clients.map((client) => live(client, () => isOver))
    for (let round = 0; round < KILLS; round += 1)
      for (const part of PARTS) {
        await sleep(500 + Math.random() * 1_500)
        await kill(part)
      }
    isOver = true
    await Promise.all(lives)
    await eventually(
      async () => JSON.stringify(sorted(await credited())) === JSON.stringify(sorted(reported())),
      30_000,
      500,
    )
      // The assertion below shows the difference.
      .catch(() => undefined)
    expect(sorted(await credited())).toEqual(sorted(reported()))
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).toMatch(/^tracker_uploads 0$/m)
  },
  LIMIT_MS,
)
