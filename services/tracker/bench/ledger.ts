// Measures what a row of accounting costs the service and Postgres. See docs/performance.md.
// Usage: pnpm --filter tracker bench:ledger [rows for each measurement]
import { cpuOfTree, print, printHead, whole } from '@vault-and-tracker/dev-env/bench'
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

const PEERS = 100_000
/** The share of the announces of the other benchmarks that change the counts of their swarm. */
const CHANGED_SHARE = 0.05
const ANNOUNCES_PER_SECOND = 1_000

const perMeasurement = Number(process.argv[2] ?? 200_000)
const databases = await startDatabases()
const logger = createLogger({ name: 'bench', level: 'warn' })
const db = createKysely<Schema>(createPool({ url: databases.databaseUrl, name: 'bench', size: 2, logger }))
const ledger = createLedger(db)
let second = Math.floor(Date.now() / 1000)

/** The delta of one announce. One announce in three reports an upload. */
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

/** Peers in the order of their tags, like flushes write them. */
function peersByTag(torrents: number): readonly number[] {
  const tagOf = (peer: number): number => placeOf(peer, torrents).t % TAGS
  return Array.from({ length: PEERS }, (_, peer) => peer).sort((a, b) => tagOf(a) - tagOf(b))
}

function batchOf(peers: readonly number[], torrents: number): CountedBatch {
  const changed = new Set(peers.slice(0, peers.length * CHANGED_SHARE).map((peer) => placeOf(peer, torrents).t))
  const counts = [...changed].map((t) => ({ name: infoHashOf(t), complete: t % 3, incomplete: second % 3 }))
  second += peers.length / ANNOUNCES_PER_SECOND
  return { id: newId(), deltas: peers.map((peer) => deltaOf(peer, torrents)), counts }
}

async function measure(peers: readonly number[], rows: number, torrents: number): Promise<void> {
  const batches = Math.ceil(perMeasurement / rows)
  const postgres = cpuOfTree(databases.postgresPid)
  let micros = 0
  for (let i = 0; i < batches; i++) {
    // Half of the peers announce in each interval.
    const from = (2 * i * rows) % peers.length
    const announcing = [...peers.slice(from), ...peers].slice(0, 2 * rows).filter((_, place) => place % 2 === 0)
    const batch = batchOf(announcing, torrents)
    const before = process.cpuUsage()
    await ledger.write([batch])
    const { user, system } = process.cpuUsage(before)
    micros += user + system
  }
  const spent = [micros, (cpuOfTree(databases.postgresPid) - postgres) * 1e6]
  print(whole(rows), whole(torrents), ...spent.map((total) => (total / (batches * rows)).toFixed(1)))
}

try {
  await databases.addUsers(USERS)
  await databases.addTorrents(PEERS)
  printHead('', 'rows per transaction', 'torrents', 'service µs/row', 'Postgres µs/row')
  for (const torrents of [100_000, 1_000]) {
    const peers = peersByTag(torrents)
    // All rows exist, as on a tracker that has run for a while.
    for (let from = 0; from < PEERS; from += 1000)
      await ledger.write([batchOf(peers.slice(from, from + 1000), torrents)])
    await databases.client.query('vacuum analyze')
    for (const rows of [1_000, 20_000]) await measure(peers, rows, torrents)
  }
} finally {
  await db.destroy()
  await databases.stop()
}
