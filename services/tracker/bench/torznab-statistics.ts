// Fills the Torznab request log with a million requests of thirty days and the hourly counts with a year, and prints the
// response times of statistics, requests and users. See docs/performance.md.
// Usage: pnpm --filter tracker bench:torznab-statistics [requests in the log]
import { randomInt } from 'node:crypto'
import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import { listen } from '@vault-and-tracker/service-kit/http/server'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import { createHttpServer } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { type Context, createContext } from '../src/context.ts'
import type { Schema } from '../src/db/schema.ts'
import { createRequestLogStore } from '../src/torznab/request-log.store.ts'
import { createRequestLog } from '../src/torznab/request-log.ts'
import type { AnsweredRequest } from '../src/torznab/torznab.ts'
import { startDatabases } from './databases.ts'
import { USERS, uuidOf } from './numbering.ts'

const requests = Number(process.argv[2] ?? 1_000_000)
const REPEATS = 20
const FUNCTIONS = ['search', 'tvsearch', 'movie', 'download', 'caps', 'music', 'book', 'details']
const CLIENTS = [
  ...['Sonarr', 'Radarr', 'Prowlarr', 'Lidarr', 'qui', 'Whisparr', 'Jackett', 'NZBHydra2', 'cross-seed', 'autobrr'],
  ...['FlexGet', 'Medusa', 'SickChill', 'qBittorrent', 'browser', 'library', 'other'],
]

const databases = await startDatabases()
const logger = createLogger({ name: 'bench', level: 'warn' })
const userOf = (n: number): string => uuidOf(Math.floor(n))
const print = (...cells: readonly string[]): void => void process.stdout.write(`| ${cells.join(' | ')} |\n`)

async function fill(): Promise<void> {
  const { client } = databases
  await databases.addUsers(USERS)
  await client.query('set synchronous_commit = off')
  await client.query(
    `insert into torznab_requests (id, at, user_id, function, query, results, duration_ms, error, client)
     select uuidv7(at - now()), at,
       ('00000000-0000-7000-8000-' || lpad(to_hex(floor($2::int * random() ^ 2)::int), 12, '0'))::uuid,
       ($3::text[])[1 + floor($4::int * random() ^ 3)::int], 'q=an example show ' || n || '&cat=5000,5040', n % 100,
       exp(random_normal(2.5, 0.9)), case when random() < 0.02 then 201 end, ($5::text[])[1 + n % $6::int]
     from generate_series(1, $1::int) as n, lateral (select now() - n * interval '30 days' / $1::int as at)`,
    [requests, USERS, FUNCTIONS, FUNCTIONS.length, CLIENTS, CLIENTS.length],
  )
  await client.query(`
    insert into torznab_users (user_id, requests, downloads, errors, violations, first_at, last_at)
    select user_id, count(*), count(*) filter (where function = 'download'), count(error), 0, min(at), max(at)
    from torznab_requests group by user_id`)
  await client.query(
    `insert into torznab_hours (kind, hour, name, requests, errors, duration_ms)
     select kind, hour, name, 400, 8, 5000
     from generate_series(date_trunc('hour', now()) - interval '1 year', now(), interval '1 hour') as hour,
       (
         select 'function', unnest($1::text[]) union all select 'client', unnest($2::text[])
       ) as names (kind, name)`,
    [FUNCTIONS, CLIENTS],
  )
  await client.query('vacuum analyze')
}

/** Prints the median, the 95th percentile and the maximum of consecutive calls. */
async function measure(name: string, call: () => Promise<unknown>): Promise<void> {
  const times: number[] = []
  for (let i = 0; i < REPEATS + 2; i++) {
    const started = performance.now()
    await call()
    if (i >= 2) times.push(performance.now() - started)
  }
  const sorted = times.toSorted((a, b) => a - b)
  print(name, ...[0.5, 0.95, 1].map((share) => (sorted[Math.ceil(share * REPEATS) - 1] ?? 0).toFixed(1)))
}

async function measureReads(context: Context, url: string): Promise<void> {
  const admin = { username: 'admin', password: 'correct horse battery' }
  await context.useCases.accounts.create({ ...admin, email: 'a@example.org', role: 'admin' })
  const { username, password } = admin
  const signedIn = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  })
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const get = async (path: string): Promise<string> => {
    const answer = await fetch(`${url}/api/admin/torznab/${path}`, { headers: { cookie } })
    if (!answer.ok) throw new Error(await answer.text())
    return await answer.text()
  }
  const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString()
  for (const range of ['24h', '7d', '30d', 'all'])
    await measure(`statistics, ${range}`, () => get(`statistics?range=${range}`))
  await measure('statistics, a year by day', () => get(`statistics?from=${ago(364 * 24)}`))
  await measure('statistics, any range of the year', () => {
    const first = 1 + randomInt(8_700)
    return get(`statistics?from=${ago(first)}&to=${ago(randomInt(first))}`)
  })
  for (const query of ['', '?page=100&limit=100', `?user=${userOf(0)}`, '?function=details', '?error=true'])
    await measure(`requests${query}`, () => get(`requests${query}`))
  await measure('users', () => get('users'))
}

async function measureWrites(): Promise<void> {
  const pool = createPool({ url: databases.databaseUrl, name: 'bench', size: 1, logger })
  const bounds = { requests: 2 * requests, bytes: Number.MAX_SAFE_INTEGER }
  const ignore = (): void => undefined
  const log = createRequestLog({
    store: createRequestLogStore(createKysely<Schema>(pool), bounds),
    counters: { countWritten: ignore, countDropped: ignore, setWaiting: ignore },
    clock: systemClock,
    keepDays: 30,
    onError: (error) => {
      throw error
    },
  })
  const request: Omit<AnsweredRequest, 'durationMs' | 'userId'> = {
    ...{
      function: 'tvsearch',
      rawQuery: 'q=an+example+show&season=3&ep=4&cat=5000,5040',
      results: 17,
      error: undefined,
    },
    ...{ authorized: true, logged: true, address: '203.0.113.1', userAgent: 'Sonarr/4.0' },
  }
  await measure('writing a batch of 1,000 requests', async () => {
    for (let i = 0; i < 1_000; i++)
      log.record({ ...request, durationMs: 5 + randomInt(40), userId: userOf(randomInt(USERS)) })
    await log.flush()
  })
  await pool.end()
}

try {
  await fill()
  process.stdout.write(
    `${new Date().toISOString().slice(0, 10)}, Node ${process.version}\n${requests.toLocaleString('en')} logged requests, a year of counts\n\n`,
  )
  print('endpoint', 'p50 ms', 'p95 ms', 'max ms')
  print('---', '--:', '--:', '--:')
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
    await measureReads(context, `http://127.0.0.1:${String(running.port)}`)
    await measureWrites()
  } finally {
    await running.drain()
    await context.close()
  }
} finally {
  await databases.stop()
}
