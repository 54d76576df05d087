import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { randomFrom, TRIALS } from '@vault-and-tracker/dev-env'
import type { Total } from '../src/pagination.ts'
import { toRow } from '../src/torrents/torrent-rows.store.ts'
import type { NewTorrent } from '../src/torrents/torrents.ts'
import { createMember, type TestMember } from './support/members.ts'
import { type Catalogued, matchesFilters, type Transfer } from './support/reference-filters.ts'
import { storeTorrents, torrentNamed } from './support/stored-torrents.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_126)
/** A twentieth of the limits in production, and more torrents than are examined, so that every plan is used. */
const LIMITS = { exactTotal: 250, examined: 400 }
const TORRENTS = 430
const QUERIES = 40 * TRIALS
const DAY_MS = 86_400_000

let tracker: TestTracker
let members: TestMember[]
let catalogue: readonly Catalogued[]
let transfers: readonly ReadonlyMap<string, Transfer>[]

beforeAll(async () => {
  tracker = await startTracker({}, { countLimits: LIMITS })
  tracker.holdClock()
  await tracker.context.useCases.categories.seed()
  members = [await createMember(tracker, 'Alice'), await createMember(tracker, 'bob')]
  const random = randomFrom(SEED)
  catalogue = await fill(random)
  transfers = await addTransfers(random)
  await tracker.sql('analyze torrents')
})

afterAll(() => tracker.stop())

type Random = () => number

function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

/** Alice's `Common` torrents are 5 in 6, so that some searches match more than are counted. */
const TITLES = ['Common', 'Common', 'Common', 'Common', 'Common Harbour', 'Rare Moon', 'Web Harbour'] as const
const NUMBERS = ['1999', '2024', '2025', 'S01', 'S01E02', 'S02E05E06', 'S01-S03', '2024.05.31', ''] as const
const TAGS = [
  ['', '480p', '1080p', '1080p', '2160p', '1080i'],
  ['', 'GERMAN', 'FRENCH', 'MULTi3'],
  ['WEB-DL', 'BluRay', 'HDTV', 'REMUX', ''],
  ['', 'DDP5.1', 'DTS-HD.MA.5.1', 'TrueHD.7.1.Atmos', 'FLAC'],
  ['', '', 'DV.HDR10', 'HDR', 'HDR10+'],
  ['x264', 'H.264', 'x265', 'AV1'],
] as const
const CATEGORIES = ['movies', 'movies-uhd', 'tv-hd', 'tv-anime', 'books'] as const
/** Steps of the index, their neighbours, and sizes between them. */
const SIZES = [0, 1, 2 ** 20 - 1, 2 ** 20, 700_000_000, 2 ** 30 - 1, 2 ** 30, 2 ** 30 + 1, 50_000_000_000, 2 ** 41]
const AGES = [0, 1, 2, 6, 20, 31, 89, 200, 365, 366, 800, 4_000]

function nameOf(random: Random): string {
  const parts = [pick(random, TITLES), pick(random, NUMBERS), ...TAGS.map((tags) => pick(random, tags))]
  return `${parts.filter((part) => part !== '').join('.')}-${pick(random, ['GRP', 'NTb'])}`.replaceAll(' ', '.')
}

async function fill(random: Random): Promise<readonly Catalogued[]> {
  const now = tracker.now()
  const categories = await tracker.context.useCases.categories.all()
  const made = Array.from({ length: TORRENTS }, (_, n) => {
    const name = nameOf(random)
    const slug = pick(random, CATEGORIES)
    const category = categories.find((each) => each.slug === slug)
    const uploader = members[pick(random, [0, 1, 2])]
    const ids = {
      imdb: pick(random, [null, 7, 944_947]),
      tmdb: pick(random, [null, 7]),
      tvdb: pick(random, [null, 7, 8]),
    }
    const [size, age] = [pick(random, SIZES), pick(random, AGES)]
    const created = now - age * DAY_MS - Math.floor(random() * DAY_MS)
    const torrent: NewTorrent = {
      ...torrentNamed(name, {
        ...{ infoHash: n.toString(16).padStart(40, '0'), size, externalIds: ids },
        ...{ categoryId: category?.id ?? '', uploaderId: uploader?.id ?? '', createdAt: new Date(created) },
      }),
      anonymous: random() < 0.2,
      state: random() < 0.97 ? 'approved' : 'pending',
    }
    const seeders = random() < 0.3 ? 0 : Math.floor(random() * 9)
    const [freeleech, internal, scene] = [random() < 0.1, random() < 0.05, random() < 0.7]
    const row = {
      ...{ ...toRow(torrent), internal, scene },
      ...{ uploader_id: uploader?.id ?? null, download_percent: freeleech ? 0 : 100 },
    }
    const categorySlugs = [slug, ...categories.filter(({ id }) => id === category?.parentId).map((each) => each.slug)]
    return {
      id: torrent.id,
      row,
      seeders,
      entry: {
        ...{ release: torrent.release, tokens: torrent.tokens },
        id: torrent.id,
        ids,
        size,
        created,
        seeders,
        categorySlugs,
        state: torrent.state,
        marks: { freeleech, internal, scene },
        uploader: uploader?.username,
        anonymous: torrent.anonymous,
      },
    }
  })
  await storeTorrents(tracker, made)
  return made.map(({ entry }) => entry)
}

/** Alice has transferred most of the catalogue, bob little of it. */
async function addTransfers(random: Random): Promise<ReadonlyMap<string, Transfer>[]> {
  const now = tracker.now()
  const ofMembers = []
  for (const [member, share] of [0.9, 0.1].entries()) {
    const own = new Map<string, Transfer>()
    for (const { id } of catalogue) {
      if (random() >= share) continue
      const lastState = pick(random, ['seeder', 'leecher', 'stopped'] as const)
      own.set(id, { isSnatched: random() < 0.5, lastState, lastSeen: now - pick(random, [0, 10 * DAY_MS]) })
    }
    const rows = [...own].map(([id, { isSnatched, lastState, lastSeen }]) => ({
      ...{ user_id: members[member]?.id ?? '', torrent_id: id, last_state: lastState },
      ...{ first_seen_at: new Date(lastSeen), last_seen_at: new Date(lastSeen) },
      completed_at: isSnatched ? new Date(lastSeen) : null,
    }))
    for (let from = 0; from < rows.length; from += 1_000)
      await tracker.db
        .insertInto('user_torrents')
        .values(rows.slice(from, from + 1_000))
        .execute()
    ofMembers.push(own)
  }
  return ofMembers
}

/** Values of each filter. */
const FILTERS: Readonly<Record<string, readonly string[]>> = {
  search: [
    'common',
    'common -x264',
    'rare',
    'web harb',
    'rare -moon',
    '-common',
    'ha -web-dl',
    's01e02',
    'rar -x26 -gone',
  ],
  category: ['movies', 'movies-uhd,books', 'tv', 'tv-anime,tv-hd', 'xxx'],
  resolution: ['2160p', '480p,1080i', '4320p'],
  source: ['WEB-DL', 'Remux,HDTV', 'CAM'],
  codec: ['x265', 'AV1,x264', 'XviD'],
  hdr: ['DV', 'HDR10+,HDR', 'HLG'],
  audio: ['Atmos', 'FLAC,DTS-HD MA', 'MP3'],
  language: ['de', 'fr,mul', 'ja'],
  year: ['2024', '1990-2024', '1980'],
  season: ['1', '2-3', '2024'],
  episode: ['2', '5-6', '99'],
  minSize: ['0', '1', '700000000', '700000001', '1073741824', '1073741825', '9000000000000'],
  maxSize: ['0', '1048575', '699999999', '700000000', '1073741823', '9000000000000'],
  maxAge: ['1', '7', '90', '365', '3650', '36500'],
  freeleech: ['true', 'false'],
  internal: ['true', 'false'],
  scene: ['true', 'false'],
  alive: ['true', 'false'],
  uploader: ['alice', 'bob'],
  imdb: ['tt0944947', '7'],
  tmdb: ['7', '8', 'tv/7', 'movie/7', 'tv/8'],
  tvdb: ['7', '8'],
  mine: ['snatched', 'seeding', 'unseen'],
}
/** The values of a torrent that are counted. */
const VALUES_OF: Readonly<Record<string, (torrent: Catalogued) => readonly (string | number | null)[]>> = {
  category: ({ categorySlugs }) => categorySlugs.slice(0, 1),
  resolution: ({ release }) => [release.resolution],
  source: ({ release }) => [release.source],
  codec: ({ release }) => [release.codec],
  hdr: ({ release }) => release.hdr,
  audio: ({ release }) => release.audio,
  language: ({ release }) => release.languages,
  year: ({ release }) => [release.year],
}

async function checkFacets(filters: Readonly<Record<string, string>>, member: TestMember): Promise<void> {
  const matching = matchesOf(filters, member)
  const answer = await member.client.get(`/api/torrents/facets?${new URLSearchParams(filters).toString()}`)
  const facets = Object.fromEntries(
    Object.entries(VALUES_OF).map(([facet, valuesOf]) => {
      const counts = new Map<string, number>()
      for (const value of matching.flatMap(valuesOf))
        if (value !== null) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1)
      const sorted = [...counts].toSorted(([a, of], [b, other]) => other - of || (a < b ? -1 : 1))
      return [facet, sorted.map(([value, count]) => ({ value, count }))]
    }),
  )
  const { total, totalIsExact, ...others } = answer.json as Total & { facets?: unknown }
  checkTotal({ total, totalIsExact }, filters, member)
  expect([filters, others]).toEqual([filters, totalIsExact ? { facets } : {}])
}

/**
 * Totals are exact up to 250, unless a condition that no index has needs to be checked for too many torrents. Inexact
 * ones are less than the number of matches.
 */
function checkTotal(found: Total, filters: Readonly<Record<string, string>>, member: TestMember): void {
  const positive = (filters['search'] ?? '').replaceAll(/(^| )-\S+/g, '').trim()
  const indexed = Object.entries({ ...filters, search: positive }).filter(
    ([name, value]) => value !== '' && name !== 'alive' && value !== 'unseen',
  )
  const examined = matchesOf(Object.fromEntries(indexed), member)
  const count = matchesOf(filters, member).length
  const isExact = count <= LIMITS.exactTotal && (found.totalIsExact || examined.length <= LIMITS.examined)
  expect([filters, found]).toEqual([
    filters,
    isExact ? { total: count, totalIsExact: true } : { total: expect.any(Number), totalIsExact: false },
  ])
  if (!found.totalIsExact) expect(found.total).toBeLessThan(count)
}

/** What filters match, by filters and member. */
const scanned = new Map<string, readonly Catalogued[]>()

function matchesOf(filters: Readonly<Record<string, string>>, member: TestMember): readonly Catalogued[] {
  const key = JSON.stringify([filters, member.username])
  const known = scanned.get(key)
  if (known !== undefined) return known
  const own = transfers[members.indexOf(member)] ?? new Map<string, Transfer>()
  const context = { filters, member: member.username, transfers: own, now: tracker.now(), peerTtlMs: 3_900_000 }
  const matching = catalogue.filter((torrent) => matchesFilters(torrent, context))
  scanned.set(key, matching)
  return matching
}

const SORTS = ['created', 'size', 'seeders', 'leechers'] as const

async function check(query: Readonly<Record<string, string>>, member: TestMember): Promise<void> {
  const { page = '1', limit = '25', sort = 'created', order = 'desc', ...filters } = query
  const matching = matchesOf(filters, member)
  const valueOf = ({ created, size, seeders }: Catalogued): number =>
    ({ created, size, seeders, leechers: 1 })[sort] ?? 0
  const sign = order === 'asc' ? 1 : -1
  const sorted = matching.toSorted((a, b) => sign * (valueOf(a) - valueOf(b) || (a.id < b.id ? -1 : 1)))
  const offset = (Number(page) - 1) * Number(limit)
  const answer = await member.client.get(`/api/torrents?${new URLSearchParams(query).toString()}`)
  expect([query, answer.status]).toEqual([query, 200])
  const { total, totalIsExact, ...found } = answer.json as Total & { items: { id: string }[] }
  checkTotal({ total, totalIsExact }, filters, member)
  expect([query, found.items.map(({ id }) => id)]).toEqual([
    query,
    sorted.slice(offset, offset + Number(limit)).map(({ id }) => id),
  ])
}

/** Filters whose first value matches everything or nothing, or whose values are looked up in different ways. */
const HAS_FACETS_BY_VALUE = new Set(['search', 'alive', 'mine', 'minSize', 'maxSize'])

describe(`a list of ${TORRENTS} torrents made at random (seed ${SEED}) has what a scan finds`, () => {
  test.each(Object.entries(FILTERS).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
    '%s=%s',
    async (name, value) => {
      for (const member of name === 'mine' ? members : members.slice(0, 1)) {
        await check({ [name]: value }, member)
        if (HAS_FACETS_BY_VALUE.has(name) || value === FILTERS[name]?.[0]) await checkFacets({ [name]: value }, member)
      }
    },
  )

  test('no filter', async () => {
    for (const member of members.slice(0, 1)) {
      await check({}, member)
      await checkFacets({}, member)
    }
  })

  test(`${QUERIES} combinations`, async () => {
    const random = randomFrom(SEED + 1)
    for (let i = 0; i < QUERIES; i++) {
      const names = Array.from({ length: 2 + Math.floor(random() * 2) }, () => pick(random, Object.keys(FILTERS)))
      const filters = Object.fromEntries(names.map((name) => [name, pick(random, FILTERS[name] ?? [])]))
      const page = { page: String(pick(random, [1, 1, 2, 5])), limit: String(pick(random, [10, 100])) }
      const order = { sort: pick(random, SORTS), order: pick(random, ['asc', 'desc']) }
      const member = pick(random, members)
      await check({ ...filters, ...page, ...order }, member)
      await checkFacets(filters, member)
    }
  })
})
