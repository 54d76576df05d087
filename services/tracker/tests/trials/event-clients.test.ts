import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually, freePort, removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { hashOfToken, newTokenText } from '../../src/tokens/token-text.ts'
import { plain } from '../support/irc.ts'
import { startTracker, type TestTracker } from '../support/tracker.ts'
import { startTrackerProcess, type TrackerProcess } from '../support/tracker-process.ts'

const CLIENTS = 1_000
const PER_USER = 5
const MAX_BYTES = 20_000

let world: TestTracker
let tracker: TrackerProcess
let folder: string
let tokens: readonly Owned[]
let ircPort: number

/** An API token and the name of its owner. */
type Owned = { readonly name: string; readonly token: string }

beforeAll(async () => {
  folder = temporaryFolder('event-clients')
  world = await startTracker()
  ircPort = await freePort()
  tokens = await createTokens(CLIENTS / PER_USER)
  const probe = new URL('../support/memory-probe.mjs', import.meta.url).href
  tracker = await startTrackerProcess({
    DATABASE_URL: world.database.appUrl,
    REDIS_URL: world.redisUrl,
    REST_READ_LIMIT: '0',
    // As behind a TLS proxy, whose address is not limited.
    TRUSTED_PROXIES: '127.0.0.1',
    IRC_PORT: String(ircPort),
    NODE_OPTIONS: `--import ${probe}?${memoryFile()}`,
  })
})
afterAll(async () => {
  await tracker.process.stop()
  await world.stop()
  removeTemporaryFolder(folder)
})

/** An API token for each of so many users, who cannot sign in. */
async function createTokens(users: number): Promise<readonly Owned[]> {
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
      return { name, token: text }
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

async function openAll(port: number, textFor: (token: Owned) => string, answer: RegExp): Promise<readonly Socket[]> {
  const sockets: Socket[] = []
  for (let round = 0; round < PER_USER; round++)
    for (let from = 0; from < tokens.length; from += 50)
      sockets.push(
        ...(await Promise.all(tokens.slice(from, from + 50).map((token) => openSocket(port, textFor(token), answer)))),
      )
  return sockets
}

/** Opens all clients twice, so that the first round has filled caches, and expects little memory for each. */
async function expectLittleMemory(metric: string, open: () => Promise<readonly Socket[]>): Promise<void> {
  const count = async (): Promise<number> => {
    const text = await (await fetch(`${tracker.url}/metrics`)).text()
    return Number(new RegExp(`^${metric} (\\d+)$`, 'm').exec(text)?.[1])
  }
  for (const socket of await open()) socket.destroy()
  await eventually(async () => (await count()) === 0)
  const before = await bytesUsed()
  const sockets = await open()
  expect(await count()).toBe(CLIENTS)
  const during = await bytesUsed()
  for (const socket of sockets) socket.destroy()
  await eventually(async () => (await count()) === 0)
  const after = await bytesUsed()
  expect((during - before) / CLIENTS).toBeLessThan(MAX_BYTES)
  expect(after - before).toBeLessThan((during - before) / 4)
}

test('an idle stream of events takes little memory, and gives it back', async () => {
  const request = ({ token }: Owned) =>
    `GET /api/events HTTP/1.1\r\nHost: tracker.test\r\nAuthorization: Bearer ${token}\r\nUser-Agent: trial\r\n\r\n`
  const port = Number(new URL(tracker.url).port)
  await expectLittleMemory('tracker_event_streams', () => openAll(port, request, /id: \d+\n\n/))
})

test('an idle client of IRC takes little memory, and gives it back', async () => {
  const request = ({ name, token }: Owned) =>
    `CAP REQ :sasl\r\nNICK me\r\nUSER me 0 * :me\r\nAUTHENTICATE PLAIN\r\nAUTHENTICATE ${plain(name, token)}\r\nCAP END\r\n`
  await expectLittleMemory('tracker_irc_connections', () => openAll(ircPort, request, / 366 me /))
})
