import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import { Redis } from 'ioredis'
import type pg from 'pg'
import { timeToLive } from '../src/swarm/interval.ts'
import { createRedisSwarms } from '../src/swarm/swarm.redis.ts'
import { announced } from '../src/swarm/swarm.ts'
import { startDatabases } from './databases.ts'
import { idBytes, infoHashOf, peerIdOf, placeOf, portOf, USERS, uuidOf } from './numbering.ts'

/** Postgres with users and torrents, and Redis. */
export async function startWorld(folder: string) {
  const databases = await startDatabases(folder)
  const { client, databaseUrl, redisUrl, redisPid, postgresPid } = databases
  const redis = new Redis(redisUrl)
  await databases.addUsers(USERS)
  await addCategory(client)

  return {
    ...{ databaseUrl, redisUrl, redisPid, postgresPid },
    /** Makes sure that torrents 0 to n - 1 exist. */
    addTorrents: (count: number) => addTorrents(client, count),
    /** Fills the swarms; returns the bytes that Redis uses for a peer. */
    async populate(torrents: number, peers: number): Promise<number> {
      await redis.flushall()
      await redis.call('MEMORY', 'PURGE')
      const before = await usedMemory(redis)
      const swarms = createRedisSwarms({
        redis,
        clock: systemClock,
        random: Math.random,
        settings: {
          timeToLive: timeToLive(1800),
          minInterval: 0,
          repeatWindow: 30,
          recoveryInterval: 300,
          maxPeersPerOwner: 5,
          evictsOldest: false,
          keepCountersFor: 0,
          maxBytesPerSecond: 1.25e9,
        },
      })
      for (let from = 0; from < peers; from += 1000) {
        const batch = Array.from({ length: Math.min(1000, peers - from) }, (_, i) => from + i)
        await Promise.all(
          batch.map((p) => {
            const { t, k, user } = placeOf(p, torrents)
            const seeds = p % 3 === 0
            return announced(swarms, {
              swarm: infoHashOf(t),
              owner: idBytes(user).subarray(8),
              peerId: peerIdOf(p),
              ipv4: Buffer.from([127, 0, 0, 1, portOf(k) >> 8, portOf(k) & 255]),
              ipv6: undefined,
              kind: 'started',
              state: seeds ? 'seeder' : 'leecher',
              uploaded: p * 1000,
              downloaded: p * 10,
              left: seeds ? 0 : 1_048_576,
              want: 0,
              withPeerIds: false,
              completed: 0,
              expectedPeers: 0,
              account: undefined,
            })
          }),
        )
      }
      return ((await usedMemory(redis)) - before) / peers
    },
    async stop(): Promise<void> {
      redis.disconnect()
      await databases.stop()
    },
  }
}

/** The category of all torrents. */
export async function addCategory(client: pg.Client): Promise<void> {
  await client.query(
    `insert into categories (id, slug, name, torznab_id, created_at) values ($1, 'tv', 'TV', 5000, now())`,
    [uuidOf(1)],
  )
}

/** Makes sure that torrents 0 to n - 1 exist. */
export async function addTorrents(client: pg.Client, count: number): Promise<void> {
  await client.query(
    `insert into torrents (id, info_hash, name, category_id, size, file_count, search, created_at)
     select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
       decode(lpad(to_hex(n % 256), 2, '0') || lpad(to_hex(n), 8, '0'), 'hex') || 'bench-info-hash'::bytea,
       'torrent ' || n, $2, 1, 1, '', now()
     from generate_series(0, $1::int - 1) as n on conflict do nothing`,
    [count, uuidOf(1)],
  )
  // Without statistics of the table, the trigger of the next statement would read all torrents for each.
  await client.query('analyze torrents')
  // As an upload does.
  await client.query('insert into torrent_stats (torrent_id) select id from torrents on conflict do nothing')
  await client.query('analyze')
}

/** What the machine is, for the head of the table. */
export function machine(): string {
  const model = /model name\s*:\s*(.*)/.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 'unknown processor'
  const cores = execFileSync('nproc', { encoding: 'utf8' }).trim()
  return `${cores} cores, ${model}, Node ${process.version}`
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
}
