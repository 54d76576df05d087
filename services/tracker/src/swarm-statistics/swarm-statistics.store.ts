import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { BusySort, BusyTorrent, SampleSums, SwarmStatisticsStore, SwarmTotals } from './swarm-statistics.ts'

/** Excludes deleted torrents, whose counts are no longer corrected. */
const HAS_PEERS = sql`(seeders > 0 or leechers > 0)
  and torrent_id not in (select id from torrents where deleted_at is not null)`

const ORDERS: Readonly<Record<BusySort, RawBuilder<unknown>>> = {
  peers: sql`seeders + leechers desc, torrent_id desc`,
  seeders: sql`seeders desc, torrent_id desc`,
  leechers: sql`leechers desc, torrent_id desc`,
}

/** Samples in Postgres, and the swarm counts that the accounting writes there. */
export function createSwarmStatisticsStore(db: Db): SwarmStatisticsStore {
  return {
    totals: async () => {
      const { rows } = await sql<SwarmTotals>`
          select count(*) as swarms, coalesce(sum(seeders), 0)::bigint as seeders,
            coalesce(sum(leechers), 0)::bigint as leechers
          from torrent_stats where ${HAS_PEERS}`.execute(db)
      return rows[0] ?? { swarms: 0, seeders: 0, leechers: 0 }
    },

    busiest: async (sort, limit) => {
      // Chosen first, so that names are read only for these.
      const { rows } = await sql<BusyTorrent>`
          with busiest as (
            select torrent_id, seeders, leechers, last_seen_at from torrent_stats
            where ${HAS_PEERS} order by ${ORDERS[sort]} limit ${limit}
          )
          select id, name, size, seeders, leechers, last_seen_at as "lastSeen"
          from busiest join torrents on id = torrent_id order by ${ORDERS[sort]}`.execute(db)
      return rows
    },

    write: async ({ start, swarms, seeders, leechers, announces, refused }) => {
      await sql`
          with written as (
            insert into swarm_samples (span, start, samples, swarms, seeders, leechers, announces, refused)
            values ('minute', ${start}, 1, ${swarms}, ${seeders}, ${leechers}, ${announces}, ${refused})
            on conflict do nothing returning *
          )
          insert into swarm_samples as sums (span, start, samples, swarms, seeders, leechers, announces, refused)
          select spans.name, date_trunc(spans.name, start, 'UTC'), samples, swarms, seeders, leechers, announces, refused
          from written cross join (values ('day'), ('hour')) as spans (name)
          on conflict (span, start) do update set
            samples = sums.samples + excluded.samples,
            swarms = sums.swarms + excluded.swarms,
            seeders = sums.seeders + excluded.seeders,
            leechers = sums.leechers + excluded.leechers,
            announces = sums.announces + excluded.announces,
            refused = sums.refused + excluded.refused`.execute(db)
    },

    series: async (span, from, stepSeconds) => {
      const { rows } = await sql<SampleSums>`
          select to_timestamp(floor(extract(epoch from start) / ${stepSeconds}) * ${stepSeconds}) as start,
            sum(samples)::bigint as samples, sum(swarms)::bigint as swarms, sum(seeders)::bigint as seeders,
            sum(leechers)::bigint as leechers, sum(announces)::bigint as announces, sum(refused)::bigint as refused
          from swarm_samples where span = ${span} and start >= ${from}
          group by 1 order by 1`.execute(db)
      return rows
    },

    prune: async ({ minute, hour }) => {
      await db
        .deleteFrom('swarm_samples')
        .where((eb) =>
          eb.or([
            eb.and([eb('span', '=', 'minute'), eb('start', '<', minute)]),
            eb.and([eb('span', '=', 'hour'), eb('start', '<', hour)]),
          ]),
        )
        .execute()
    },
  }
}
