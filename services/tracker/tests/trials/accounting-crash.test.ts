import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  type DurableServers,
  eventually,
  sourceArguments,
  startDurableServers,
  type TestDatabase,
} from '@vault-and-tracker/dev-env'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import { Redis } from 'ioredis'
import pg from 'pg'
import { createFlusher } from '../../src/accounting/accounting.ts'
import { createAccountingQueue } from '../../src/accounting/accounting-queue.redis.ts'
import { createLedger } from '../../src/accounting/ledger.store.ts'
import type { Schema } from '../../src/db/schema.ts'
import { createRedisFunctions } from '../../src/redis/functions.redis.ts'
import { peer, SETTINGS, seeder, swarmName } from '../support/swarm-peers.ts'
import { createTestSwarms, type TestSwarms } from '../support/swarms.ts'
import { createTrackerDatabase } from '../support/tracker.ts'

const USERS = 24
const TORRENTS = 4

const here = (file: string): string => fileURLToPath(new URL(`../support/${file}`, import.meta.url))

let servers: DurableServers
let database: TestDatabase
let redis: Redis
let swarms: TestSwarms
let now = Date.now()
const userIds = Array.from({ length: USERS }, () => randomUUID())
const torrentIds = Array.from({ length: TORRENTS }, () => randomUUID())
/** The total that each client has reported, in the order of users and torrents. */
const counters = new Map<string, { user: number; torrent: number; up: number; down: number }>()

beforeAll(async () => {
  servers = await startDurableServers('crash')
  database = await createTrackerDatabase(servers.postgres)
  for (const id of userIds)
    await sql(
      `insert into users (id, username, email, password_hash, passkey, created_at)
       values ($1, $2, $3, 'none', $4, now())`,
      [id, `user-${id.slice(0, 8)}`, `${id}@example.org`, id.replaceAll('-', '').padEnd(40, '0')],
    )
  redis = new Redis(servers.redis.url)
  redis.on('error', () => undefined)
  swarms = createTestSwarms({ redis, clock: { now: () => now }, settings: SETTINGS, random: Math.random })
  for (let user = 0; user < USERS; user++)
    for (let torrent = 0; torrent < TORRENTS; torrent++) {
      counters.set(`${String(user)} ${String(torrent)}`, { user, torrent, up: 0, down: 0 })
      await announceOne(user, torrent, 0, 0)
    }
})

afterAll(async () => {
  redis.disconnect()
  await servers.stop()
})

async function sql(text: string, values: readonly unknown[] = []): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString: database.adminUrl })
  await client.connect()
  try {
    return (await client.query<Record<string, string>>(text, [...values])).rows
  } finally {
    await client.end()
  }
}

function bytesOf(id: string | undefined): Buffer {
  return Buffer.from((id ?? '').replaceAll('-', ''), 'hex')
}

/** As a client does: until there is an answer, the same again. */
async function announceOne(user: number, torrent: number, up: number, down: number): Promise<void> {
  const make = torrent % 2 === 0 ? seeder : peer
  const announce = make(user + 1, {
    swarm: swarmName(16 + torrent),
    kind: 'regular',
    uploaded: up,
    downloaded: down,
    account: {
      user: bytesOf(userIds[user]),
      torrent: bytesOf(torrentIds[torrent]),
      uploadPercent: 100,
      downloadPercent: 100,
    },
  })
  for (let attempt = 0; ; attempt++) {
    try {
      await swarms.announce(announce)
      return
    } catch (error) {
      if (attempt === 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

/** Everybody moves something and announces. */
async function everybodyMoves(): Promise<void> {
  now += 1_800_000
  await Promise.all(
    [...counters.values()].map((client) => {
      client.up += Math.floor(Math.random() * 5_000_000_000)
      client.down += Math.floor(Math.random() * 3_000_000)
      return announceOne(client.user, client.torrent, client.up, client.down)
    }),
  )
}

function startFlusher(killAt: string): ChildProcess {
  return spawn(process.execPath, [...sourceArguments(here('flusher.ts')), database.appUrl, servers.redis.url, killAt], {
    env: { PATH: process.env['PATH'] },
    stdio: 'ignore',
  })
}

function ended(child: ChildProcess): Promise<NodeJS.Signals | number | null> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)))
}

function killedFlush(at: string): Promise<NodeJS.Signals | number | null> {
  return ended(startFlusher(at))
}

async function expectEveryByteOnce(): Promise<void> {
  const torrents = await sql('select user_id, torrent_id, uploaded_actual, downloaded_actual from user_torrents')
  const actual = torrents.map((row) =>
    [row['user_id'], row['torrent_id'], row['uploaded_actual'], row['downloaded_actual']].join(' '),
  )
  const wanted = [...counters.values()].map(({ user, torrent, up, down }) =>
    [userIds[user], torrentIds[torrent], up, down].join(' '),
  )
  expect(actual.sort()).toEqual(wanted.sort())
  const users = await sql('select id, uploaded, downloaded, uploaded_actual from users')
  const totals = userIds.map((id, user) => {
    const mine = [...counters.values()].filter((client) => client.user === user)
    const up = mine.reduce((sum, client) => sum + client.up, 0)
    return [id, up, mine.reduce((sum, client) => sum + client.down, 0), up].join(' ')
  })
  expect(
    users.map((row) => [row['id'], row['uploaded'], row['downloaded'], row['uploaded_actual']].join(' ')).sort(),
  ).toEqual(totals.sort())
  await expect(redis.keys('*flush*')).resolves.toEqual([])
  await expect(redis.keys('*:du')).resolves.toEqual([])
}

/** Flushes in this process, and returns the errors. */
async function flush(times = 1): Promise<readonly unknown[]> {
  const errors: unknown[] = []
  const pool = createPool({
    url: database.appUrl,
    name: 'rest',
    size: 2,
    logger: createLogger({ name: 'rest', level: 'silent' }),
  })
  const flusher = createFlusher({
    queue: createAccountingQueue(redis, createRedisFunctions(redis, 'accounting')),
    ledger: createLedger(createKysely<Schema>(pool)),
    count: (names) => swarms.count(names),
    clock: { now: Date.now },
    settleSeconds: 0,
    onCompleted: () => Promise.resolve(),
    onError: (error) => errors.push(error),
  })
  for (let i = 0; i < times; i++) await flusher.flush()
  await pool.end()
  return errors
}

/** Waits until everything is written: waiting batches, and transfers that arrived in the meantime. */
async function flushRest(): Promise<void> {
  expect(await flush(3)).toEqual([])
}

test.each(['taken', 'read', 'written', 'dropped'])(
  'a flusher killed after a batch was %s loses no transfers and counts none twice',
  async (step) => {
    await everybodyMoves()
    expect(await killedFlush(step)).toBe('SIGKILL')
    await everybodyMoves()
    await flushRest()
    await expectEveryByteOnce()
  },
)

test('a flusher killed during its transaction and a second one count the same batch once', async () => {
  await everybodyMoves()
  const blocker = new pg.Client({ connectionString: database.adminUrl })
  await blocker.connect()
  await blocker.query('begin')
  await blocker.query('select 1 from users for update')
  const flushers = [startFlusher(''), startFlusher('')]
  const ends = flushers.map(ended)
  const blocked = "select pid from pg_stat_activity where application_name = 'flusher' and wait_event_type = 'Lock'"
  await eventually(async () => (await sql(blocked)).length === 2)
  flushers[0]?.kill('SIGKILL')
  await ends[0]
  await blocker.query('commit')
  await blocker.end()
  await ends[1]
  await flushRest()
  await expectEveryByteOnce()
})

test('nothing is lost if Postgres is killed during announces and failing flushes', async () => {
  await everybodyMoves()
  await servers.postgres.kill()
  expect(await flush()).not.toEqual([])
  await everybodyMoves()
  expect(await flush()).not.toEqual([])
  await everybodyMoves()
  await servers.postgres.restart()
  await flushRest()
  await expectEveryByteOnce()
})

test('nothing is lost if Redis is killed between and during announces and flushes', async () => {
  await everybodyMoves()
  await killedFlush('taken')
  await servers.redis.kill()
  const moving = everybodyMoves()
  await servers.redis.restart()
  await moving
  const flushing = flush()
  const more = everybodyMoves()
  await servers.redis.kill()
  await servers.redis.restart()
  await flushing
  await more
  await flushRest()
  await expectEveryByteOnce()
})
