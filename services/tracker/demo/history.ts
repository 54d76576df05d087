import type { DemoSwarm } from '@vault-and-tracker/dev-env'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { sql } from 'kysely'
import type { Account } from '../src/accounts/accounts.ts'
import type { Db } from '../src/db/schema.ts'
import { createRequestLogStore } from '../src/torznab/request-log.store.ts'
import { DEMO_TORRENTS } from './catalogue.ts'
import { hasContent, piecesOf } from './torrent-file.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const DAYS = 30
const REQUESTS = [
  ['tvsearch', 'q=one step beyond&season=1&cat=5040', 'Sonarr'],
  ['movie', 'q=nosferatu&year=1922&cat=2040,2045', 'Radarr'],
  ['music', 'artist=kimiko ishizaka', 'Lidarr'],
  ['search', '', 'Prowlarr'],
  ['download', 'id=a torrent', 'Sonarr'],
  ['book', 'q=frankenstein', 'Prowlarr'],
] as const

/** The same numbers in every run. */
function between(from: number, to: number, ...seeds: readonly number[]): number {
  const noise = seeds.reduce((sum, seed, index) => sum + Math.sin(seed * 12.9898 + index * 78.233) * 43_758.5453, 0)
  return from + (noise - Math.floor(noise)) * (to - from)
}

/** Writes a month of transfers, samples and Torznab requests. @returns the swarms that are alive */
export async function writeHistory(db: Db, users: readonly Account[], now: number): Promise<readonly DemoSwarm[]> {
  const swarms = await writeTransfers(db, users, now)
  await writeTotals(db, users, now)
  await writeSamples(db, now)
  await writeRequests(db, users, now)
  return swarms
}

async function writeTransfers(db: Db, users: readonly Account[], now: number): Promise<readonly DemoSwarm[]> {
  const names = DEMO_TORRENTS.map(([name]) => name)
  const found = await db
    .selectFrom('torrents')
    .select(['id', 'name', 'size', 'info_hash', 'uploader_id', 'created_at'])
    .where('name', 'in', names)
    .execute()
  const members = users.slice(1)
  const swarms: DemoSwarm[] = []
  const rows = found.flatMap((torrent) => {
    const index = names.indexOf(torrent.name)
    const popularity = DEMO_TORRENTS[index]?.[4] ?? 0
    const readers = members.filter((_, member) => between(0, 10, index, member) < popularity + 1)
    const downloading = popularity > 4 ? readers.slice(-Math.ceil(popularity / 4)) : []
    const done = readers.filter((reader) => !downloading.includes(reader) && reader.id !== torrent.uploader_id)
    const gone = done.filter((_, reader) => between(0, 1, index, reader, 7) < 0.2)
    const uploader = members.filter(({ id }) => id === torrent.uploader_id && popularity > 0)
    const seeding = [...uploader, ...done.filter((reader) => !gone.includes(reader))]
    swarms.push({
      infoHash: torrent.info_hash.toString('hex'),
      size: torrent.size,
      seeders: seeding.map(({ passkey }) => passkey),
      leechers: downloading.map(({ passkey }) => passkey),
      content: hasContent(torrent.size)
        ? { name: torrent.name, pieces: piecesOf(torrent.name, torrent.size).map((hash) => hash.toString('hex')) }
        : undefined,
    })
    const age = now - torrent.created_at.getTime()
    return done.map((reader, place) => {
      const downloaded = torrent.size
      const uploaded = Math.round(torrent.size * between(0.1, 2.2, index, place, 3))
      const completedAt = new Date(now - age * between(0.2, 0.9, index, place))
      const isGone = gone.includes(reader)
      return {
        user_id: reader.id,
        torrent_id: torrent.id,
        ...{ uploaded, downloaded, uploaded_actual: uploaded, downloaded_actual: downloaded },
        seed_seconds: Math.round(isGone ? 3_600 * between(2, 40, place) : (now - completedAt.getTime()) / 1_000),
        bytes_left: 0,
        last_state: isGone ? ('stopped' as const) : ('seeder' as const),
        first_seen_at: completedAt,
        last_seen_at: isGone ? completedAt : new Date(now),
        leeched: true,
        completed_at: completedAt,
      }
    })
  })
  await db
    .insertInto('user_torrents')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await sql`update torrent_stats set completed = (
    select count(*) from user_torrents as own where own.torrent_id = torrent_stats.torrent_id and completed_at is not null
  )`.execute(db)
  return swarms
}

/** The totals of each member are those of their torrents, spread over the month. */
async function writeTotals(db: Db, users: readonly Account[], now: number): Promise<void> {
  await sql`update users set uploaded = own.uploaded, downloaded = own.downloaded, uploaded_actual = own.uploaded,
      downloaded_actual = own.downloaded, invites_left = 2
    from (select user_id, sum(uploaded)::bigint as uploaded, sum(downloaded)::bigint as downloaded
      from user_torrents group by user_id) as own
    where own.user_id = users.id and users.uploaded = 0`.execute(db)
  const first = new Date(now - DAYS * DAY_MS)
  await db
    .updateTable('users')
    .set({ last_seen_at: new Date(now - HOUR_MS) })
    .execute()
  await sql`update users set created_at = ${first} where username in ('admin', 'alice', 'bob')`.execute(db)
  const totals = await db.selectFrom('users').select(['id', 'uploaded', 'downloaded']).execute()
  const days = totals.flatMap(({ id, uploaded, downloaded }) => {
    const user = users.findIndex((each) => each.id === id)
    const shares = Array.from({ length: DAYS }, (_, day) => between(0, 2, user, day, 5) ** 2)
    const whole = shares.reduce((sum, share) => sum + share, 0)
    return shares.map((share, day) => {
      const [up, down] = [
        Math.round((uploaded * share) / whole),
        Math.round((downloaded * (shares.at(-day) ?? 0)) / whole),
      ]
      return {
        user_id: id,
        day: new Date(now - day * DAY_MS).toISOString().slice(0, 10),
        ...{ uploaded: up, downloaded: down, uploaded_actual: up, downloaded_actual: down },
      }
    })
  })
  await db
    .insertInto('user_days')
    .values(days)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** More peers in the evening, and more from week to week. */
async function writeSamples(db: Db, now: number): Promise<void> {
  const spanOf = (span: 'hour' | 'day', lengthMs: number, count: number, samples: number) =>
    Array.from({ length: count }, (_, index) => {
      const start = new Date(Math.floor(now / lengthMs) * lengthMs - (index + 1) * lengthMs)
      const growth = 1 - (0.4 * (index * lengthMs)) / (DAYS * DAY_MS)
      const evening = span === 'day' ? 1 : 1 + 0.15 * Math.sin(((start.getUTCHours() - 14) / 12) * Math.PI)
      const mean = (value: number, seed: number): number =>
        Math.round(value * growth * evening * between(0.94, 1.06, index, seed) * samples)
      return {
        ...{ span, start, samples, swarms: mean(52, 1), seeders: mean(230, 2), leechers: mean(31, 3) },
        ...{ announces: mean(9, 4), refused: mean(0.2, 5) },
      }
    })
  await db
    .insertInto('swarm_samples')
    .values([...spanOf('hour', HOUR_MS, DAYS * 24, 60), ...spanOf('day', DAY_MS, DAYS, 1_440)])
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

async function writeRequests(db: Db, users: readonly Account[], now: number): Promise<void> {
  const known = await db.selectFrom('torznab_requests').select('id').limit(1).executeTakeFirst()
  if (known !== undefined) return
  const requests = Array.from({ length: 7 * 24 * 8 }, (_, index) => {
    const [name, query, client] = REQUESTS[Math.floor(between(0, REQUESTS.length, index))] ?? REQUESTS[0]
    return {
      id: newId(),
      at: new Date(now - index * between(6, 8, index) * 60_000),
      userId: users[1 + Math.floor(between(0, users.length - 1, index, 2))]?.id,
      ...{ authorized: true, logged: true, address: '127.0.0.1', function: name, query, client },
      results: Math.floor(between(0, 25, index, 3)),
      durationMs: between(3, 30, index, 4),
      error: between(0, 1, index, 6) < 0.02 ? 201 : undefined,
    }
  })
  await createRequestLogStore(db, { requests: 1_000_000, bytes: 500_000_000 }).write({
    id: crypto.randomUUID(),
    requests,
  })
}
