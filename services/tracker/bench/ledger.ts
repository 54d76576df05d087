// Measures what a row of accounting costs the service and Postgres. See docs/performance.md.
// Usage: pnpm --filter tracker bench:ledger [rows for each measurement]
import { removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createKysely, createPool } from '@vault-and-tracker/service-kit/postgres/pool'
import type { CountedBatch } from '../src/accounting/accounting.ts'
import { createLedger } from '../src/accounting/ledger.store.ts'
import type { Schema } from '../src/db/schema.ts'
import type { Delta } from '../src/swarm/swarm.ts'
import { TAGS } from '../src/swarm/wire.ts'
import { startDatabases } from './databases.ts'
import { infoHashOf, placeOf, USERS, uuidOf } from './numbering.ts'
import { cpuOfTree } from './servers.ts'
import { print } from './table.ts'
import { addCategory, addTorrents, machine } from './world.ts'

const PEERS = 100_000
/** Of announces that wrk sends in the other benchmarks: those that change the counts of their swarm. */
const CHANGED_SHARE = 0.05

/** By the times in the deltas. */
const ANNOUNCES_PER_SECOND = 1_000

const perMeasurement = Number(process.argv[2] ?? 200_000)
const folder = temporaryFolder('bench-ledger')
const databases = await startDatabases(folder)
const logger = createLogger({ name: 'bench', level: 'warn' })
const db = createKysely<Schema>(createPool({ url: databases.databaseUrl, name: 'bench', size: 2, logger }))
const ledger = createLedger(db)
let second = Math.floor(Date.now() / 1000)

/** What an announce of a peer adds; one in three uploaded something since the last. */
function deltaOf(peer: number, torrents: number): Delta {
  const { t, user } = placeOf(peer, torrents)
  const moved = peer % 3 === 0 ? 1_000_000 : 0
  return {
    ...{ userId: uuidOf(user), torrentId: uuidOf(t) },
    ...{ creditedUp: moved, creditedDown: 0, actualUp: moved, actualDown: 0 },
    ...{ seedSeconds: 1800, left: 0, state: 'seeder', leeched: false, snatched: false, completedAt: undefined },
    ...{ firstSeen: second, lastSeen: second },
  }
}

/** Peers in the order of their tags, as flushes write them; those of one tag are beside each other in Postgres too. */
function peersByTag(torrents: number): readonly number[] {
  const tagged = Array.from({ length: PEERS }, (_, peer) => ({ peer, tag: placeOf(peer, torrents).t % TAGS }))
  return tagged.sort((a, b) => a.tag - b.tag).map(({ peer }) => peer)
}

/** So many peers from a place on, each of which announced with the probability of one half. */
function announcing(peers: readonly number[], from: number, count: number): readonly number[] {
  const found: number[] = []
  for (let i = from; found.length < count; i++) if (Math.random() < 0.5) found.push(peers[i % peers.length] ?? 0)
  return found
}

function batchOf(peers: readonly number[], torrents: number): CountedBatch {
  const rows = peers.length
  const deltas = peers.map((peer) => deltaOf(peer, torrents))
  const changed = new Set(peers.slice(0, rows * CHANGED_SHARE).map((peer) => placeOf(peer, torrents).t))
  const counts = [...changed].map((t) => ({
    ...{ name: infoHashOf(t), complete: Math.floor(Math.random() * 3), incomplete: Math.floor(Math.random() * 3) },
  }))
  second += rows / ANNOUNCES_PER_SECOND
  return { id: newId(), deltas, counts }
}

/** The share of the updates of a table that changed no index, in per cent. */
async function hotUpdates(): Promise<string> {
  await databases.client.query('select pg_stat_clear_snapshot()')
  const { rows } = await databases.client.query<{ name: string; share: string }>(
    `select relname as name, round(100.0 * n_tup_hot_upd / nullif(n_tup_upd, 0)) || ' %' as share
     from pg_stat_user_tables where relname in ('user_torrents', 'torrent_stats', 'users') order by relname`,
  )
  return rows.map(({ name, share }) => `${name} ${share}`).join(', ')
}

async function measure(peers: readonly number[], rows: number, torrents: number): Promise<void> {
  const batches = Math.ceil(perMeasurement / rows)
  await databases.client.query('select pg_stat_reset()')
  const postgres = cpuOfTree(databases.postgresPid)
  let micros = 0
  for (let i = 0; i < batches; i++) {
    const batch = batchOf(announcing(peers, 2 * i * rows, rows), torrents)
    const before = process.cpuUsage()
    await ledger.write([batch])
    const { user, system } = process.cpuUsage(before)
    micros += user + system
  }
  const deltas = batches * rows
  print(
    rows.toLocaleString('en'),
    torrents.toLocaleString('en'),
    (micros / deltas).toFixed(1),
    (((cpuOfTree(databases.postgresPid) - postgres) * 1e6) / deltas).toFixed(1),
    await hotUpdates(),
  )
}

try {
  await databases.addUsers(USERS)
  await addCategory(databases.client)
  await addTorrents(databases.client, PEERS)
  process.stdout.write(`${new Date().toISOString().slice(0, 10)}, ${machine()}\n\n`)
  print('rows a transaction', 'torrents', 'service us/row', 'Postgres us/row', 'HOT updates')
  print('--:', '--:', '--:', '--:', '---')
  for (const torrents of [100_000, 1_000]) {
    const peers = peersByTag(torrents)
    // Every row is there, as on a tracker that has run for a while.
    for (let from = 0; from < PEERS; from += 1000)
      await ledger.write([batchOf(peers.slice(from, from + 1000), torrents)])
    await databases.client.query('vacuum analyze')
    for (const rows of [1_000, 20_000]) await measure(peers, rows, torrents)
  }
} finally {
  await db.destroy()
  await databases.stop()
  removeTemporaryFolder(folder)
}
