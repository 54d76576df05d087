// Fills the Torznab request log with ten million requests of thirty days and the statistics with a year, and prints how
// long administrators wait for statistics, requests and users. See docs/performance.md.
// Usage: pnpm --filter tracker bench:torznab-statistics [requests in the log]
import { randomInt } from 'node:crypto'
import { removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import { listen } from '@vault-and-tracker/service-kit/http/server'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import { createHttpServer } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { type Context, createContext } from '../src/context.ts'
import type { Schema } from '../src/db/schema.ts'
import { CLIENT_FAMILIES } from '../src/torznab/client-family.ts'
import { createRequestLogStore } from '../src/torznab/request-log.store.ts'
import { createRequestLog } from '../src/torznab/request-log.ts'
import { startDatabases } from './databases.ts'
import { USERS } from './numbering.ts'
import { signIn } from './search-client.ts'
import { fillTorznabLog, LOG_DAYS } from './torznab-statistics-data.ts'
import { machine } from './world.ts'

const requests = Number(process.argv[2] ?? 10_000_000)
const REPEATS = 200
const folder = temporaryFolder('bench-torznab')
const databases = await startDatabases(folder)
const { client } = databases
const logger = createLogger({ name: 'bench', level: 'warn' })

const print = (...cells: readonly string[]): void => void process.stdout.write(`| ${cells.join(' | ')} |\n`)
const ms = (value: number): string => value.toFixed(1)

/** Prints the median, the 95th percentile and the longest of many calls, one after the other. */
async function measure(name: string, call: () => Promise<unknown>, repeats = REPEATS): Promise<void> {
  for (let i = 0; i < repeats / 10; i++) await call()
  const times: number[] = []
  for (let i = 0; i < repeats; i++) {
    const started = performance.now()
    await call()
    times.push(performance.now() - started)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): string => ms(sorted[Math.min(repeats - 1, Math.floor(share * repeats))] ?? 0)
  print(name, at(0.5), at(0.95), at(1))
}

/** Asks for everything that administrators see, as one of them. */
async function measureAll(context: Context, url: string, users: readonly string[]): Promise<void> {
  const admin = { username: 'admin', password: 'correct horse battery' }
  await context.useCases.accounts.create({ ...admin, email: 'a@example.org', role: 'admin' })
  const session = await signIn(url, admin)
  const get = (path: string): Promise<string> => session.get(`/api/admin/torznab/${path}`)
  const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString()
  const anyUser = (): string => users[randomInt(users.length)] ?? ''

  print('endpoint', 'p50 ms', 'p95 ms', 'max ms')
  print('---', '--:', '--:', '--:')
  for (const range of ['24h', '7d', '30d', 'all'])
    await measure(`statistics, ${range}`, () => get(`statistics?range=${range}`))
  await measure('statistics, any range of the year', () => {
    const first = 1 + randomInt(8_700)
    return get(`statistics?from=${ago(first)}&to=${ago(randomInt(first))}`)
  })
  await measure('requests, first page', () => get('requests'))
  await measure('requests, page 400 of 100', () => get('requests?page=400&limit=100'))
  await measure('requests of a user', () => get(`requests?user=${anyUser()}`))
  await measure('requests of the busiest user, page 40', () => get(`requests?user=${users[0] ?? ''}&page=40`))
  await measure('requests of the busiest user, a rare function', () =>
    get(`requests?user=${users[0] ?? ''}&function=details`),
  )
  await measure('requests of a user and function', () => get(`requests?user=${anyUser()}&function=book`))
  await measure('requests of a rare function', () => get('requests?function=details'))
  await measure('requests with an error', () => get('requests?error=true'))
  await measure('requests with a rare error', () => get('requests?error=910'))
  await measure('requests of a function in a day', () => {
    const first = 24 + randomInt(600)
    return get(`requests?function=movie&from=${ago(first)}&to=${ago(first - 24)}`)
  })
  await measure('users, first page', () => get('users'))
  await measure('users, page 100', () => get('users?page=100'))
  await measure('users by part of the name', () => get(`users?search=${String(randomInt(1_000))}`))
  await measure('blocked users', () => get('users?blocked=true'))

  const ignore = (): void => undefined
  const pool = createPool({ url: databases.databaseUrl, name: 'bench', size: 1, logger })
  const log = createRequestLog({
    store: createRequestLogStore(createKysely<Schema>(pool), {
      requests: 2 * requests,
      bytes: Number.MAX_SAFE_INTEGER,
    }),
    settings: () => context.useCases.torznabConfiguration.current(),
    counters: { countWritten: ignore, countDropped: ignore, setWaiting: ignore },
    clock: systemClock,
    keepDays: LOG_DAYS,
    onError: (error) => {
      throw error
    },
  })
  const record = (): void =>
    log.record({
      function: 'tvsearch',
      rawQuery: 'q=an+example+show&season=3&ep=4&cat=5000,5040',
      results: 17,
      durationMs: 5 + randomInt(40),
      error: undefined,
      userId: anyUser(),
      authorized: true,
      address: '203.0.113.1',
      userAgent: `${CLIENT_FAMILIES[randomInt(8)] ?? ''}/4.0`,
    })
  await measure(
    'writing a batch of 1,000 requests',
    async () => {
      for (let i = 0; i < 1_000; i++) record()
      await log.flush()
    },
    100,
  )
  await pool.end()
  session.close()
}

try {
  const started = performance.now()
  const users = await fillTorznabLog(databases, requests)
  const filled = (performance.now() - started) / 1_000
  const { rows } = await client.query<{ log: string; statistics: string }>(`
    select pg_size_pretty(sum(pg_total_relation_size(oid)) filter (where relname = 'torznab_requests')) as log,
      pg_size_pretty(sum(pg_total_relation_size(oid)) filter (where relname ~ '^torznab_(counts|user_sets|users)$'))
        as statistics
    from pg_class where relkind = 'r'`)
  process.stdout.write(
    `${new Date().toISOString().slice(0, 10)}, ${machine()}\n` +
      `${requests.toLocaleString('en')} requests of ${USERS.toLocaleString('en')} users in ${String(LOG_DAYS)} days: ` +
      `${rows[0]?.log ?? ''}; statistics of a year: ${rows[0]?.statistics ?? ''}; filled in ${filled.toFixed(0)} s\n\n`,
  )

  const config = readConfig({
    DATABASE_URL: databases.databaseUrl,
    REDIS_URL: databases.redisUrl,
    PUBLIC_URL: 'http://tracker.test',
    ...{ REST_READ_LIMIT: '0', REST_WRITE_LIMIT: '0', AUTH_LIMIT: '0' },
  })
  const context = await createContext({ config, logger, clock: systemClock })
  const { server, front } = createHttpServer(context, { logger, stopping: new AbortController().signal })
  const running = await listen(server, { host: '127.0.0.1', port: 0 }, { front })
  try {
    await measureAll(context, `http://127.0.0.1:${String(running.port)}`, users)
  } finally {
    await running.drain()
    await context.close()
  }

  const counting = performance.now()
  await client.query(`
    select function, count(*), count(error), count(distinct user_id), avg(duration_ms),
      percentile_cont(0.95) within group (order by duration_ms)
    from torznab_requests group by function`)
  print('for comparison: one query that counts the log itself', ms(performance.now() - counting), '', '')
} finally {
  await databases.stop()
  removeTemporaryFolder(folder)
}
