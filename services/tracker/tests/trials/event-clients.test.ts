import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually, removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { hashOfToken, newTokenText } from '../../src/tokens/token-text.ts'
import { startTracker, type TestTracker } from '../support/tracker.ts'
import { startTrackerProcess, type TrackerProcess } from '../support/tracker-process.ts'

const CLIENTS = 1_000
const PER_USER = 5
const MAX_BYTES = 20_000

let world: TestTracker
let tracker: TrackerProcess
let folder: string
let tokens: readonly string[]

beforeAll(async () => {
  folder = temporaryFolder('event-clients')
  world = await startTracker()
  tokens = await createTokens(CLIENTS / PER_USER)
  const probe = new URL('../support/memory-probe.mjs', import.meta.url).href
  tracker = await startTrackerProcess({
    DATABASE_URL: world.database.appUrl,
    REDIS_URL: world.redisUrl,
    REST_READ_LIMIT: '0',
    NODE_OPTIONS: `--import ${probe}?${memoryFile()}`,
  })
})
afterAll(async () => {
  await tracker.process.stop()
  await world.stop()
  removeTemporaryFolder(folder)
})

/** The text of an API token for each of so many users, who cannot sign in. */
async function createTokens(users: number): Promise<readonly string[]> {
  return Promise.all(
    Array.from({ length: users }, async (_, n) => {
      const [id, text, name] = [randomUUID(), newTokenText(), `listener${String(n)}`]
      await world.sql(
        `with u as (insert into users (id, username, email, password_hash, passkey, created_at)
           values ($1, $2, $2 || '@example.org', '-', encode(sha256($2::bytea), 'hex')::char(40), now()))
         select 1`,
        [id, name],
      )
      await world.sql(
        `insert into tokens (id, user_id, hash, purpose, name, scopes, created_at)
           values ($1, $2, $3, 'api', 'Tool', '{read}', now())`,
        [randomUUID(), id, hashOfToken(text)],
      )
      return text
    }),
  )
}

function memoryFile(): string {
  return join(folder, 'memory')
}

/** Bytes in use after a collection. */
async function bytesUsed(): Promise<number> {
  rmSync(memoryFile(), { force: true })
  process.kill(tracker.process.pid, 'SIGUSR2')
  await eventually(() => existsSync(memoryFile()))
  const { heapUsed, external } = JSON.parse(readFileSync(memoryFile(), 'utf8')) as Record<string, number>
  return (heapUsed ?? 0) + (external ?? 0)
}

/** Opens a connection, sends text and waits for the answer. */
async function openSocket(port: number, text: string, answer: RegExp): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.on('data', (chunk) => (received += chunk.toString()))
  socket.write(text)
  await eventually(() => answer.test(received))
  return socket
}

async function openAll(port: number, textFor: (token: string) => string, answer: RegExp): Promise<readonly Socket[]> {
  const sockets: Socket[] = []
  for (let round = 0; round < PER_USER; round++)
    for (let from = 0; from < tokens.length; from += 50)
      sockets.push(
        ...(await Promise.all(tokens.slice(from, from + 50).map((token) => openSocket(port, textFor(token), answer)))),
      )
  return sockets
}

test('an idle stream of events takes little memory, and gives it back', async () => {
  const port = Number(new URL(tracker.url).port)
  const request = (token: string) =>
    `GET /api/events HTTP/1.1\r\nHost: tracker.test\r\nAuthorization: Bearer ${token}\r\nUser-Agent: trial\r\n\r\n`
  const count = async (): Promise<number> => {
    const text = await (await fetch(`${tracker.url}/metrics`)).text()
    return Number(/^tracker_event_streams (\d+)$/m.exec(text)?.[1])
  }
  for (const socket of await openAll(port, request, /id: \d+\n\n/)) socket.destroy()
  await eventually(async () => (await count()) === 0)
  const before = await bytesUsed()
  const sockets = await openAll(port, request, /id: \d+\n\n/)
  expect(await count()).toBe(CLIENTS)
  const open = await bytesUsed()
  for (const socket of sockets) socket.destroy()
  await eventually(async () => (await count()) === 0)
  const after = await bytesUsed()
  expect((open - before) / CLIENTS).toBeLessThan(MAX_BYTES)
  expect(after - before).toBeLessThan((open - before) / 4)
})
