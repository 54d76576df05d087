import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type DurableServers,
  eventually,
  freePort,
  startDurableServers,
  TRIALS,
  withClient,
} from '@vault-and-tracker/dev-env'
import { bearer, createToken } from '../support/api-tokens.ts'
import { createClient } from '../support/client.ts'
import { openEvents } from '../support/event-stream.ts'
import { type IrcClient, joinIrc } from '../support/irc.ts'
import { makeTorrent } from '../support/make-torrent.ts'
import { createMember, type TestMember } from '../support/members.ts'
import { createTrackerDatabase, startTracker } from '../support/tracker.ts'
import { startTrackerProcess, type TrackerProcess } from '../support/tracker-process.ts'

const PARTS = ['service', 'postgres', 'redis'] as const
const FOLLOWERS = 4
const LIMIT_MS = 120_000 + TRIALS * PARTS.length * 60_000

let servers: DurableServers
let adminUrl: string
/** One that is killed, and one that lives. */
let processes: readonly [TrackerProcess, TrackerProcess]
let uploader: TestMember
let tokens: readonly string[]
let irc: IrcClient
let receiver: Server
/** The ids that the webhook has received, repeated ones included. */
const delivered: number[] = []

beforeAll(async () => {
  servers = await startDurableServers('event-kills')
  const database = await createTrackerDatabase(servers.postgres)
  adminUrl = database.adminUrl
  const world = await startTracker({ WEBHOOK_ALLOW_PRIVATE: 'true' }, { database, redisUrl: servers.redis.url })
  await world.context.useCases.categories.seed()
  uploader = await createMember(world, 'uploader')
  tokens = await Promise.all(
    Array.from({ length: FOLLOWERS }, async (_, n) => {
      const { client } = await createMember(world, `follower${String(n)}`)
      return (await createToken(client, ['read'])).token
    }),
  )
  receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      delivered.push(Number((JSON.parse(body) as { id: string }).id))
      response.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port: receiverPort } = receiver.address() as AddressInfo
  const chief = await world.signedIn('chief', 'admin')
  await world.context.useCases.webhooks.add(
    { by: (await chief.get('/api/user/me')).member('id') },
    { url: `http://127.0.0.1:${String(receiverPort)}/`, format: 'json', savedSearch: null },
  )
  await world.stop()
  const port = await freePort()
  const env = {
    DATABASE_URL: database.appUrl,
    REDIS_URL: servers.redis.url,
    WEBHOOK_ALLOW_PRIVATE: 'true',
    ...{ REST_WRITE_LIMIT: '0', REST_READ_LIMIT: '0' },
  }
  processes = [
    await startTrackerProcess(env),
    await startTrackerProcess({ ...env, IRC_PORT: String(port), TRACKER_WORKERS: '2' }),
  ]
  irc = await joinIrc({ port }, { account: 'follower0', password: tokens[0] ?? '' })
})
afterAll(async () => {
  irc.quit()
  receiver.close()
  await Promise.all(processes.map(({ process }) => process.stop()))
  await servers.stop()
})

/** A client that comes back to either process after the last event that it received. */
async function follow(token: string, isOver: () => boolean): Promise<readonly number[]> {
  const ids: number[] = []
  let last = 0
  for (let round = 0; !isOver(); round++) {
    const where = processes[round % 2] ?? processes[0]
    const headers = { ...bearer(token), 'last-event-id': String(last) }
    const reader = await openEvents(where.url, headers).catch(() => undefined)
    // Some leave by themselves.
    const until = Date.now() + Math.random() * 3_000
    while (reader !== undefined && !reader.isEnded() && Date.now() < until && !isOver()) await sleep(20)
    reader?.close()
    ids.push(...(reader?.events.map(({ id }) => id) ?? []))
    last = Math.max(last, reader?.lastId() ?? 0)
    await sleep(50)
  }
  return ids
}

/** Uploads to both processes, whatever happens to them. */
async function uploadAll(isOver: () => boolean): Promise<void> {
  const clients = processes.map(({ url }) => {
    const client = createClient(url)
    client.cookie = uploader.client.cookie
    return client
  })
  for (let n = 0; !isOver(); n++) {
    const name = `Killed.${String(n)}.S01E01.720p.WEB`
    await clients[n % 2]?.upload(makeTorrent(name), { category: 'tv-hd' }).catch(() => undefined)
    await sleep(Math.random() * 100)
  }
}

async function kill(part: (typeof PARTS)[number]): Promise<void> {
  const killed = part === 'service' ? processes[0].process : servers[part]
  await killed.kill()
  await sleep(Math.random() * 2_000)
  await killed.restart()
  for (const { url } of processes)
    await eventually(async () => (await fetch(`${url}/ready`).catch(() => undefined))?.status === 200)
}

test(
  'each torrent is announced once and in order, whatever is killed',
  async () => {
    let [areUploadsOver, isOver] = [false, false]
    const followers = tokens.map((token) => follow(token, () => isOver))
    const uploads = uploadAll(() => areUploadsOver)
    for (let round = 0; round < TRIALS; round++)
      for (const part of PARTS) {
        await sleep(1_000)
        await kill(part)
      }
    await sleep(1_000)
    areUploadsOver = true
    await uploads
    const stored = await withClient(adminUrl, async (client) => {
      const { rows } = await client.query<{ id: string; name: string }>(
        'select events.id, name from events join torrents on torrents.id = torrent_id order by events.id',
      )
      return rows.map(({ id, name }) => ({ id: Number(id), name }))
    })
    const { rows } = await withClient(adminUrl, (client) => client.query('select id from torrents'))
    expect(stored).toHaveLength(rows.length)
    expect(stored.length).toBeGreaterThan(10)
    await eventually(() => irc.lines.length >= stored.length)
    await sleep(7_000)
    isOver = true
    for (const ids of await Promise.all(followers)) expect(ids).toEqual(stored.map(({ id }) => id))
    const announced = irc.lines.map((line) => /^New torrent: (\S+) /.exec(line)?.[1])
    expect(announced).toEqual(stored.map(({ name }) => name))
    // The lease of a killed process ends after a minute.
    await eventually(() => delivered.at(-1) === stored.at(-1)?.id, 120_000)
    expect([...new Set(delivered)]).toEqual(stored.map(({ id }) => id))
    expect(delivered).toEqual(delivered.toSorted((a, b) => a - b))
  },
  LIMIT_MS,
)
