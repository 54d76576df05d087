import { parsePasskey } from '@vault-and-tracker/bencode-tracker'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import { parseTorznabQuery, writeFeed } from '@vault-and-tracker/torznab-xml'
import { Kysely } from 'kysely'
import type pg from 'pg'
import type { Category } from '../src/categories/categories.ts'
import type { Schema } from '../src/db/schema.ts'
import { createSearchStore } from '../src/search/search.store.ts'
import { createSearch, type Search, SORTS } from '../src/search/search.ts'
import { createSearchTurns } from '../src/search/search-turns.ts'
import { SUPPORTED_PARAMETERS } from '../src/search/supported-parameters.ts'
import { createTorrentStore } from '../src/torrents/torrents.store.ts'
import { PAGE_LIMITS } from '../src/torznab/capabilities.ts'
import { feedItems } from '../src/torznab/feed-items.ts'
import { toSearchQuery } from '../src/torznab/search-query.ts'
import { uuidOf } from './numbering.ts'
import { signIn } from './search-client.ts'
import { bareRate, recordingDialect, type Statement, servedRate } from './search-rates.ts'
import { REST_SHAPES, type Sample, TORZNAB_SHAPES } from './search-shapes.ts'
import { cpuOfTree, startOurs } from './servers.ts'
import { print } from './table.ts'

export type SearchTargets = {
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly redisPid: number
  readonly postgresPid: number
  readonly categories: readonly Category[]
  /** How many users there are, whose keys are their numbers as hex. */
  readonly users: number
  readonly username: string
  readonly password: string
}

/** A request to the service, and the search that it leads to. */
type Shape = {
  readonly name: string
  readonly isRated?: boolean
  readonly path: (sample: Sample) => string
  readonly search: (sample: Sample) => Promise<unknown>
}

const CONNECTIONS = 8
const SEARCHER = uuidOf(0)
const PERCENT = { downloadPercent: 100, uploadPercent: 100 } as const

/**
 * Measures every shape, one request at a time, and the throughput of those that are asked for all the time.
 *
 * @param folder for files that are not kept
 */
export async function measureSearches(targets: SearchTargets, count: number, folder: string): Promise<void> {
  const logger = createLogger({ name: 'bench', level: 'warn' })
  const pool = createPool({ url: targets.databaseUrl, name: 'bench', size: CONNECTIONS, logger })
  const ran: Statement[] = []
  const db = new Kysely<Schema>({ dialect: recordingDialect(pool, ran) })
  const store = createTorrentStore(db)
  const search = createSearch({
    store: createSearchStore(db, db),
    // One search at a time needs no turns.
    turns: createSearchTurns(
      {
        atOnce: 1,
        runningEach: 1,
        underWayEach: 1,
        underWay: 1,
        waitMs: 60_000,
        runMs: 60_000,
        freeMs: 0,
        burstMs: 60_000,
        share: 1,
      },
      { countRefused: () => undefined },
    ),
    torrents: store,
    categories: {
      all: () => Promise.resolve(targets.categories),
      idsWithDeleted: () => Promise.resolve(targets.categories.map(({ id }) => id)),
    },
  })
  const samples = await takeSamples(pool, count)
  await db.updateTable('torznab_settings').set({ search_limit: 10_000 }).execute()
  const service = await startOurs({ ...targets, workers: 1, env: { REST_READ_LIMIT: '1000000' } })
  const client = await signIn(service.url, targets)
  const cpuSeconds = (): number => service.cpuSeconds() + cpuOfTree(targets.postgresPid)

  async function measure({ name, path, search: run, isRated }: Shape): Promise<void> {
    const cells = await times(samples, cpuSeconds, (sample) => client.get(path(sample)))
    if (isRated !== true) {
      print(name, ...cells)
      return
    }
    const scripts: (readonly Statement[])[] = []
    for (const sample of samples.slice(0, 50)) {
      ran.length = 0
      await run(sample)
      scripts.push([...ran])
    }
    const { url } = service
    const served = await servedRate({
      url,
      cookie: client.cookie,
      folder,
      path: (n) => path(at(samples, n)),
      cpuSeconds,
    })
    const bare = await bareRate(pool, scripts, () => cpuOfTree(targets.postgresPid) + ownCpuSeconds())
    const rates = [served, bare].flatMap((rate) => [rate.perSecond.toFixed(0), rate.processorMs.toFixed(1)])
    print(name, ...cells, ...rates, percent(served.perSecond / bare.perSecond))
  }

  const columns = ['p50', 'p95', 'most', 'processor', 'requests/s', 'processor', 'its SQL bare/s', 'processor', 'share']
  const rulers = ['---', ...columns.map(() => '--:')]
  try {
    print('REST, milliseconds', ...columns)
    print(...rulers)
    for (const shape of REST_SHAPES)
      await measure({ ...shape, search: (sample) => search.list(listQueryOf(shape.path(sample)), SEARCHER) })
    process.stdout.write('\n')
    print('Torznab, milliseconds', ...columns)
    print(...rulers)
    let user = 0
    for (const shape of TORZNAB_SHAPES)
      await measure({
        ...shape,
        path: (sample) => {
          const key = (user++ % targets.users).toString(16).padStart(40, '0')
          return `/api/torznab?${shape.query(sample)}&limit=100&apikey=${key}`
        },
        search: (sample) => searchTorznab(search, shape.query(sample), targets.categories),
      })
    process.stdout.write(`\nThe XML of 100 items takes ${(await xmlTime(search, targets)).toFixed(2)} ms.\n`)
  } finally {
    client.close()
    await service.stop()
    await db.destroy()
  }
}

function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}

function at<T>(items: readonly T[], i: number): T {
  const item = items[i % items.length]
  if (item === undefined) throw new Error('nothing to choose from')
  return item
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
  const part = (share: number): number =>
    measured[Math.min(Math.floor(measured.length * share), measured.length - 1)] ?? 0
  return [part(0.5), part(0.95), part(1), each].map((ms) => ms.toFixed(1))
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

async function searchTorznab(search: Search, rawQuery: string, categories: readonly Category[]) {
  const request = parseTorznabQuery(`${rawQuery}&limit=100&apikey=k`, {
    supported: SUPPORTED_PARAMETERS,
    limits: PAGE_LIMITS,
  })
  if (!request.ok || request.query.function === 'caps' || request.query.function === 'details')
    throw new Error(`not a search: ${rawQuery}`)
  const wanted = toSearchQuery(request.query, { categories, isAllFree: false, now: Date.now() })
  if (wanted === undefined) throw new Error(`finds nothing: ${rawQuery}`)
  return search.find(wanted, SEARCHER)
}

/** Milliseconds to write the latest hundred torrents as XML, once the compiler has seen it. */
async function xmlTime(search: Search, { categories }: SearchTargets): Promise<number> {
  const { items, total } = await searchTorznab(search, 't=search', categories)
  const passkey = parsePasskey('0'.repeat(40))
  if (passkey === undefined) throw new Error('not a passkey')
  const caller = { passkey, ...PERCENT }
  const url = 'https://tracker.example'
  const feed = {
    ...{ title: 'tracker', description: 'tracker', siteUrl: url, selfUrl: url, offset: 0, total },
    items: feedItems(items, { caller, categories, multipliers: PERCENT, publicUrl: url }),
  }
  const rounds = 500
  for (let i = 0; i < rounds; i++) writeFeed(feed)
  const before = performance.now()
  for (let i = 0; i < rounds; i++) writeFeed(feed)
  return (performance.now() - before) / rounds
}
