import { createLogger } from '@vault-and-tracker/service-kit/logger'
import { createPool } from '@vault-and-tracker/service-kit/postgres'
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import type { Category } from '../src/categories/categories.ts'
import type { Schema } from '../src/db/schema.ts'
import { createSearchStore } from '../src/search/search.store.ts'
import { createSearch, type Search, SORTS } from '../src/search/search.ts'
import { createTorrentStore } from '../src/torrents/torrents.store.ts'
import { type SignedIn, signIn } from './search-client.ts'
import { findShapes, REST_SHAPES, type Sample } from './search-shapes.ts'
import { cpuOfTree, startOurs } from './servers.ts'

export type SearchTargets = {
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly redisPid: number
  readonly postgresPid: number
  readonly categories: readonly Category[]
  readonly username: string
  readonly password: string
}

type Statement = { readonly sql: string; readonly parameters: readonly unknown[] }

const RATE_MS = 3_000
const CONNECTIONS = 8

/** Measures every shape, one request at a time, and the throughput of those that are asked for all the time. */
export async function measureSearches(targets: SearchTargets, count: number): Promise<void> {
  const logger = createLogger({ name: 'bench', level: 'warn' })
  const pool = createPool({ url: targets.databaseUrl, name: 'bench', size: CONNECTIONS, logger })
  const ran: Statement[] = []
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void ran.push({ sql: query.sql, parameters: query.parameters }),
  })
  const store = createTorrentStore(db)
  const search = createSearch({
    store: createSearchStore(db),
    torrents: (ids) => store.byIds(ids),
    categories: { all: () => Promise.resolve(targets.categories) },
  })
  const samples = await takeSamples(pool, count)
  const service = await startOurs({ ...targets, workers: 1, env: { REST_READ_LIMIT: '0' } })
  const client = await signIn(service.url, targets)
  try {
    const postgresCpu = (): number => cpuOfTree(targets.postgresPid)
    const served = (): number => service.cpuSeconds() + postgresCpu()
    const direct = (): number => process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6 + postgresCpu()
    print('REST, milliseconds', 'p50', 'p95', 'most', 'processor', 'requests/s', 'its SQL bare/s', 'share')
    print('---', '--:', '--:', '--:', '--:', '--:', '--:', '--:')
    for (const { name, path, isRated } of REST_SHAPES) {
      const latencies = await times(samples, served, (sample) => client.get(path(sample)))
      const rates = isRated === true ? await compareRates(pool, client, search, ran, samples.map(path)) : []
      print(name, ...latencies, ...rates)
    }
    process.stdout.write('\n')
    print('Torznab, milliseconds', 'p50', 'p95', 'most', 'processor')
    print('---', '--:', '--:', '--:', '--:')
    const tv = targets.categories.filter(({ torznabId }) => torznabId >= 5000 && torznabId < 6000)
    const hd = tv.filter(({ torznabId }) => torznabId === 5030 || torznabId === 5040)
    for (const { name, query } of findShapes(idsOf(tv), idsOf(hd)))
      print(
        name,
        ...(await times(samples, direct, (sample) => search.find({ limit: 100, offset: 0, ...query(sample) }))),
      )
    print('details', ...(await times(samples, direct, ({ hash }) => search.byInfoHash(hash))))
  } finally {
    client.close()
    await service.stop()
    await db.destroy()
  }
}

const idsOf = (categories: readonly Category[]): readonly string[] => categories.map(({ id }) => id)

function print(...cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`)
}

async function takeSamples(pool: pg.Pool, count: number): Promise<readonly Sample[]> {
  const { rows } = await pool.query<Sample>(
    `select encode(info_hash, 'hex') as hash, release_title as title, release_year as year, imdb_id as imdb,
       tvdb_id as tvdb, season_from as season, episode_from as episode, air_date::text as aired
     from torrents where release_title is not null and abs(hashtext(id::text)) % 997 = 0 order by hashtext(id::text) limit $1`,
    [count],
  )
  return rows
}

/**
 * Percentiles of one request after the other, each of another sample, and the processor time of one. The first two are
 * not counted.
 */
async function times(
  samples: readonly Sample[],
  cpuSeconds: () => number,
  run: (sample: Sample) => Promise<unknown>,
): Promise<readonly string[]> {
  const measured: number[] = []
  let cpu = 0
  for (const [i, sample] of samples.entries()) {
    if (i === 2) cpu = cpuSeconds()
    const before = performance.now()
    await run(sample)
    if (i > 1) measured.push(performance.now() - before)
  }
  const each = ((cpuSeconds() - cpu) * 1_000) / measured.length
  measured.sort((a, b) => a - b)
  const at = (part: number): number => measured[Math.min(Math.floor(measured.length * part), measured.length - 1)] ?? 0
  return [at(0.5), at(0.95), at(1), each].map((ms) => ms.toFixed(1))
}

/** Requests a second over several connections, and how often the same statements run without the service. */
async function compareRates(
  pool: pg.Pool,
  client: SignedIn,
  search: Search,
  ran: Statement[],
  paths: readonly string[],
): Promise<readonly string[]> {
  const scripts: (readonly Statement[])[] = []
  for (const path of paths.slice(0, 50)) {
    ran.length = 0
    await search.list(listQueryOf(path))
    scripts.push([...ran])
  }
  const pathAt = (i: number): string => paths[i % paths.length] ?? ''
  const served = await rate((i) => client.get(pathAt(i)))
  const bare = await rate((i) => runAll(pool, scripts[i % scripts.length] ?? []))
  return [served.toFixed(0), bare.toFixed(0), `${((served / bare) * 100).toFixed(0)} %`]
}

function listQueryOf(path: string) {
  const parameters = new URL(path, 'http://x').searchParams
  return {
    state: 'approved' as const,
    page: Number(parameters.get('page') ?? 1),
    limit: Number(parameters.get('limit') ?? 25),
    sort: SORTS.find((sort) => sort === parameters.get('sort')) ?? 'created',
    order: parameters.get('order') === 'asc' ? ('asc' as const) : ('desc' as const),
    category: parameters.get('category') ?? undefined,
    search: parameters.get('search') ?? undefined,
  }
}

async function runAll(pool: pg.Pool, statements: readonly Statement[]): Promise<void> {
  const client = await pool.connect()
  await client.query('begin')
  for (const { sql, parameters } of statements) await client.query(sql, [...parameters])
  await client.query('commit')
  client.release()
}

async function rate(run: (i: number) => Promise<unknown>): Promise<number> {
  const before = performance.now()
  let done = 0
  const worker = async (): Promise<void> => {
    while (performance.now() - before < RATE_MS) await run(done++)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  return (done * 1_000) / (performance.now() - before)
}
