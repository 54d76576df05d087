import { once } from 'node:events'
import { chmodSync, createWriteStream, type WriteStream } from 'node:fs'
import { join } from 'node:path'
import { randomFrom } from '@vault-and-tracker/dev-env'
import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import type pg from 'pg'
import { createPasswords } from '../src/accounts/passwords.argon2.ts'
import { createCategoryStore } from '../src/categories/categories.store.ts'
import { createCategories } from '../src/categories/categories.ts'
import type { Schema } from '../src/db/schema.ts'
import { parseReleaseName } from '../src/releases/release-name.ts'
import { indexTokens, numberingTokens } from '../src/releases/search-words.ts'
import { READER_VERSION } from '../src/torrents/reindex.ts'
import { startDatabases } from './databases.ts'
import { uuidOf } from './numbering.ts'
import { createReleaseMaker, type MadeRelease } from './search-names.ts'

/** All users may upload. The first ones can sign in. */
const USERS = 1_000
const SIGNING_IN = 10
const PASSWORD = 'correct horse battery'
/** Torrents of each user who signs in: half of them snatched, a third seeded. */
const TORRENTS_OF_USER = 5_000
const FREELEECH_EVERY = 50
const INTERNAL_EVERY = 40
/** Of scene releases, about half of all videos and all old ones. */
const SCENE_CODECS: ReadonlySet<string | null | undefined> = new Set(['x264', 'XviD'])
const TEN_YEARS_MS = 10 * 365 * 86_400_000

/** Postgres with a catalogue of the requested size, and Redis. */
export async function startSearchWorld(torrents: number) {
  const databases = await startDatabases()
  const { client, folder } = databases
  const logger = createLogger({ name: 'bench', level: 'warn' })
  const db = createKysely<Schema>(createPool({ url: databases.databaseUrl, name: 'bench', size: 1, logger }))
  const store = createCategoryStore(db)
  const categories = await createCategories({ store, publish: () => Promise.resolve(), clock: systemClock }).seed()
  await db.destroy()
  await databases.addUsers(USERS)
  const hash = await (await createPasswords()).hash(PASSWORD)
  const names = Array.from({ length: SIGNING_IN }, (_, user) => `user-${String(user)}`)
  await client.query('update users set password_hash = $1 where username = any($2)', [hash, names])
  await client.query('update torznab_settings set search_limit = 10000')
  await copyCatalogue(client, folder, torrents, new Map(categories.map(({ slug, id }) => [slug, id])))
  await addTransfers(client)
  await client.query('vacuum analyze')
  return {
    ...databases,
    users: USERS,
    /** Signs in one of the first ten users. Returns the session cookie. */
    signIn: async (url: string, user: number): Promise<string> => {
      const answer = await fetch(`${url}/api/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username: names[user], password: PASSWORD }),
      })
      if (!answer.ok) throw new Error(await answer.text())
      return answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    },
  }
}

/** The transfers of the users who sign in, of random torrents. */
async function addTransfers(client: pg.Client): Promise<void> {
  await client.query(
    `insert into user_torrents (user_id, torrent_id, last_state, first_seen_at, last_seen_at, completed_at)
     select users.id, torrents.id, (array['seeder', 'stopped', 'stopped'])[1 + number % 3], created_at, now(),
       case when number % 2 = 0 then created_at end
     from (select id from users order by id limit $1) as users, lateral (
       select torrents.id, created_at, row_number() over () as number from torrents
       where users.id is not null order by hashtext(torrents.id::text || users.id::text) limit $2
     ) as torrents`,
    [SIGNING_IN, TORRENTS_OF_USER],
  )
}

const TORRENT_COLUMNS =
  'id, info_hash, name, category_id, size, file_count, uploader_id, imdb_id, tmdb_id, tvdb_id, release_title, release_year, season_from, season_to, episode_from, episode_to, absolute_from, absolute_to, air_date, resolution, source, codec, release_group, hdr, audio, languages, download_percent, internal, scene, search, reader_version, created_at'

/** Writes the rows to files for the server to read. This takes minutes for a million. */
async function copyCatalogue(
  client: pg.Client,
  folder: string,
  torrents: number,
  categories: ReadonlyMap<string, string>,
): Promise<void> {
  const paths = { torrents: join(folder, 'torrents.tsv'), stats: join(folder, 'stats.tsv') }
  const files = { torrents: createWriteStream(paths.torrents), stats: createWriteStream(paths.stats) }
  const random = randomFrom(1)
  const make = createReleaseMaker(random)
  const newest = Date.now()
  for (let n = 0; n < torrents; n++) {
    const age = n / torrents
    const made = make(age)
    const createdAt = newest - TEN_YEARS_MS + Math.floor(age * TEN_YEARS_MS)
    const id = idOf(createdAt, n)
    await write(files.torrents, torrentRow(made, n, id, createdAt, categories.get(made.category)))
    const seeders = Math.floor(2 * random() ** 4 * (1 + 200 * age ** 4 * random() ** 8))
    const leechers = Math.floor(seeders * random() * 0.4)
    await write(files.stats, [id, categories.get(made.category), seeders, leechers, seeders * 7])
  }
  for (const file of Object.values(files)) {
    file.end()
    await once(file, 'finish')
  }
  chmodSync(folder, 0o755)
  // The work of the triggers is done once for all rows.
  await client.query('set session_replication_role = replica')
  await client.query(`copy torrents (${TORRENT_COLUMNS}) from '${paths.torrents}'`)
  await client.query(`copy torrent_stats (torrent_id, listed_in, seeders, leechers, completed) from '${paths.stats}'`)
  await client.query("insert into search_words select word from ts_stat('select search from torrents')")
  await client.query('set session_replication_role = origin')
}

const NO_NUMBERS = parseReleaseName('')

type Cell = string | number | null | undefined

function torrentRow(
  { name, megabytes, ids, release }: MadeRelease,
  n: number,
  id: string,
  createdAt: number,
  categoryId: string | undefined,
): readonly Cell[] {
  const tokens = [
    ...new Set([...indexTokens(name, release.title ?? ''), ...numberingTokens({ ...NO_NUMBERS, ...release })]),
  ]
  return [
    id,
    `\\\\x${n.toString(16).padStart(40, '0')}`,
    name,
    categoryId,
    megabytes * 1_048_576 + (n % 1_048_576),
    1 + (n % 12),
    uuidOf(n % USERS),
    ...[ids.imdb, ids.tmdb, ids.tvdb, release.title, release.year],
    ...[release.seasonFrom, release.seasonTo, release.episodeFrom, release.episodeTo],
    ...[release.absoluteFrom, release.absoluteTo, release.airDate],
    ...[release.resolution, release.source, release.codec, release.group],
    ...[release.hdr, release.audio, release.languages].map(arrayOf),
    n % FREELEECH_EVERY === 0 ? 0 : 100,
    String(n % INTERNAL_EVERY === 0),
    String(SCENE_CODECS.has(release.codec)),
    tokens.map((token) => `'${token}'`).join(' '),
    READER_VERSION,
    new Date(createdAt).toISOString(),
  ]
}

/** An array literal of Postgres. */
function arrayOf(values: readonly string[] = []): string {
  return `{${values.map((value) => `"${value}"`).join(',')}}`
}

/** The UUIDv7 of a torrent: its time, then its number. */
function idOf(createdAt: number, n: number): string {
  const hex = `${createdAt.toString(16).padStart(12, '0')}70008000${n.toString(16).padStart(12, '0')}`
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

async function write(file: WriteStream, cells: readonly Cell[]): Promise<void> {
  const line = `${cells.map((cell) => (cell === null || cell === undefined ? '\\N' : String(cell))).join('\t')}\n`
  if (!file.write(line)) await once(file, 'drain')
}
