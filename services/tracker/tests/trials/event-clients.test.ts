import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually, freePort, removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { hashOfToken, newTokenText } from '../../src/tokens/token-text.ts'
import { makeCertificate, plain } from '../support/irc.ts'
import { startTracker, type TestTracker } from '../support/tracker.ts'
import { startTrackerProcess } from '../support/tracker-process.ts'

const CLIENTS = 1_000
const PER_USER = 5
/** Opened before the first measurement, so that it includes what the process needs in any case. */
const FIRST = 200

let world: TestTracker
let folder: string
let tokens: readonly Owned[]

/** An API token and the name of its owner. */
type Owned = { readonly name: string; readonly token: string }

beforeAll(async () => {
  folder = temporaryFolder('event-clients')
  world = await startTracker()
  tokens = await createTokens(CLIENTS / PER_USER)
})
afterAll(async () => {
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

type Memory = { readonly rss: number; readonly heapUsed: number; readonly external: number }

/** A new process: its ports, and its memory after a collection. */
async function startProcess(env: Readonly<Record<string, string>>) {
  const file = join(folder, randomUUID())
  const ircPort = await freePort()
  const tracker = await startTrackerProcess({
    DATABASE_URL: world.database.appUrl,
    REDIS_URL: world.redisUrl,
    REST_READ_LIMIT: '0',
    // As behind a TLS proxy, whose address is not limited.
    TRUSTED_PROXIES: '127.0.0.1',
    IRC_PORT: String(ircPort),
    NODE_OPTIONS: `--import ${new URL('../support/memory-probe.mjs', import.meta.url).href}?${file}`,
    ...env,
  })
  return {
    port: Number(new URL(tracker.url).port),
    ircPort,
    stop: () => tracker.process.stop(),
    count: async (metric: string): Promise<number> => {
      const text = await (await fetch(`${tracker.url}/metrics`)).text()
      return Number(new RegExp(`^${metric} (\\d+)$`, 'm').exec(text)?.[1])
    },
    memory: async (): Promise<Memory> => {
      rmSync(file, { force: true })
      process.kill(tracker.process.pid, 'SIGUSR2')
      await eventually(() => existsSync(file))
      return JSON.parse(readFileSync(file, 'utf8')) as Memory
    },
  }
}

const usedOf = ({ heapUsed, external }: Memory): number => heapUsed + external

/** Sends text and waits for the answer. */
async function asked(socket: Socket, text: string, answer: RegExp): Promise<Socket> {
  let received = ''
  socket.on('data', (chunk) => (received += chunk.toString()))
  socket.write(text)
  await eventually(() => answer.test(received))
  return socket
}

const eventRequest = ({ token }: Owned) =>
  `GET /api/events HTTP/1.1\r\nHost: tracker.test\r\nAuthorization: Bearer ${token}\r\nUser-Agent: trial\r\n\r\n`
const ircRequest = ({ name, token }: Owned) =>
  `CAP REQ :sasl\r\nNICK me\r\nUSER me 0 * :me\r\nAUTHENTICATE PLAIN\r\nAUTHENTICATE ${plain(name, token)}\r\nCAP END\r\n`
const tcp = (port: number): Socket => connect(port, '127.0.0.1')
const tls = (port: number): Socket => connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })

test.each([
  { what: 'stream of events', metric: 'tracker_event_streams', isEncrypted: false },
  { what: 'client of IRC', metric: 'tracker_irc_connections', isEncrypted: false },
  { what: 'client of IRC over TLS', metric: 'tracker_irc_connections', isEncrypted: true },
])('an idle $what takes little memory, and gives it back', async ({ what, metric, isEncrypted }) => {
  const tracker = await startProcess(isEncrypted ? makeCertificate(folder) : {})
  const isIrc = metric === 'tracker_irc_connections'
  const open = ({ name, token }: Owned): Promise<Socket> =>
    isIrc
      ? asked((isEncrypted ? tls : tcp)(tracker.ircPort), ircRequest({ name, token }), / 366 me /)
      : asked(tcp(tracker.port), eventRequest({ name, token }), /id: \d+\n\n/)
  const sockets: Socket[] = []
  const openUntil = async (total: number): Promise<void> => {
    while (sockets.length < total) {
      const some = Array.from({ length: 50 }, (_, n) => tokens[(sockets.length + n) % tokens.length])
      sockets.push(...(await Promise.all(some.flatMap((token) => (token === undefined ? [] : [open(token)])))))
    }
    expect(await tracker.count(metric)).toBe(total)
  }
  const closeAll = async (): Promise<void> => {
    for (const socket of sockets.splice(0)) socket.destroy()
    await eventually(async () => (await tracker.count(metric)) === 0)
  }

  // In a new process, because closed connections leave memory that further ones use.
  await openUntil(FIRST)
  const first = await tracker.memory()
  await openUntil(CLIENTS)
  const all = await tracker.memory()
  const perClient = (of: (memory: Memory) => number) => Math.round((of(all) - of(first)) / (CLIENTS - FIRST))
  const [used, resident] = [perClient(usedOf), perClient(({ rss }) => rss)]
  process.stderr.write(`${what}: ${String(used)} B of objects and buffers, ${String(resident)} B resident\n`)
  expect(used).toBeLessThan(20_000)
  // What OpenSSL takes is not among the objects and buffers.
  if (isEncrypted) expect(resident).toBeLessThan(40_000)

  await closeAll()
  const before = usedOf(await tracker.memory())
  await openUntil(CLIENTS)
  const during = usedOf(await tracker.memory())
  await closeAll()
  expect(usedOf(await tracker.memory()) - before).toBeLessThan((during - before) / 4)
  await tracker.stop()
})
