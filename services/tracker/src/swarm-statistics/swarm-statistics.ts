import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { AnnounceRate, AnnounceTally } from './announce-rate.ts'

/** All swarms together. */
export type SwarmTotals = {
  /** Torrents with a peer. */
  readonly swarms: number
  readonly seeders: number
  readonly leechers: number
}

/** What was seen in one minute. */
export type Sample = SwarmTotals & AnnounceTally & { readonly start: Date }

export type SampleSpan = 'minute' | 'hour' | 'day'
/** Samples added up; averages are sums divided by `samples`. */
export type SampleSums = Sample & { readonly samples: number }

/** A torrent with peers. */
export type BusyTorrent = {
  readonly id: string
  readonly name: string
  readonly size: number
  readonly seeders: number
  readonly leechers: number
  readonly lastSeen: Date | null
}

export const BUSY_SORTS = ['peers', 'seeders', 'leechers'] as const
export type BusySort = (typeof BUSY_SORTS)[number]

/** Where samples are kept, and where the counts of all swarms are. All methods throw what `isUnavailable` recognises. */
export type SwarmStatisticsStore = {
  /** The counts of all torrents that are not deleted, as the accounting wrote them last. */
  totals(): Promise<SwarmTotals>
  /** Torrents with peers, those with most of them first. */
  busiest(sort: BusySort, limit: number): Promise<readonly BusyTorrent[]>
  /** Writes a minute and adds it to its hour and day. A minute that was written before is skipped. */
  write(sample: Sample): Promise<void>
  /** Sums by steps of so many seconds, ascending; steps without a sample are left out. */
  series(span: SampleSpan, from: Date, stepSeconds: number): Promise<readonly SampleSums[]>
  prune(before: { readonly minute: Date; readonly hour: Date }): Promise<void>
}

const MINUTE_S = 60
const HOUR_S = 3_600
const DAY_S = 86_400

/** What a range is drawn from, in how many steps of how many seconds. */
const RANGE_STEPS = {
  '3h': { span: 'minute', stepSeconds: MINUTE_S, steps: 180 },
  '24h': { span: 'minute', stepSeconds: 5 * MINUTE_S, steps: 288 },
  '7d': { span: 'hour', stepSeconds: HOUR_S, steps: 168 },
  '30d': { span: 'hour', stepSeconds: HOUR_S, steps: 720 },
  '1y': { span: 'day', stepSeconds: DAY_S, steps: 366 },
} as const
export const SWARM_RANGES = ['3h', '24h', '7d', '30d', '1y'] as const
export type SwarmRange = (typeof SWARM_RANGES)[number]

/** Averages of a step; null where the tracker took no sample. */
export type HistoryStep = {
  readonly start: Date
  readonly seeders: number | null
  readonly leechers: number | null
  /** Announces a second. */
  readonly announces: number | null
  readonly refused: number | null
}

export type History = { readonly stepSeconds: number; readonly items: readonly HistoryStep[] }
export type SwarmStatistics = ReturnType<typeof createSwarmStatistics>

const KEEP_MINUTES_MS = 2 * DAY_S * 1_000
const KEEP_HOURS_MS = 90 * DAY_S * 1_000
/** How long after its end a minute is sampled: by then every process has passed on its announces. */
const SETTLE_MS = 15_000

/** What all swarms do, now and over time. */
export function createSwarmStatistics(deps: { store: SwarmStatisticsStore; rate: AnnounceRate; clock: Clock }) {
  const { store, rate, clock } = deps
  let lastSampled = 0

  return {
    /** The counts of this moment, and the announces a second of the last minute. */
    async now() {
      const [totals, perSecond] = await Promise.all([store.totals(), rate.perSecond()])
      return { ...totals, ...perSecond }
    },

    busiest: (sort: BusySort, limit: number): Promise<readonly BusyTorrent[]> => store.busiest(sort, limit),

    /** One item for each step up to now, also for those without a sample. */
    async history(range: SwarmRange): Promise<History> {
      const { span, stepSeconds, steps } = RANGE_STEPS[range]
      const stepMs = stepSeconds * 1_000
      const last = Math.floor(clock.now() / stepMs) * stepMs
      const first = last - (steps - 1) * stepMs
      const rows = await store.series(span, new Date(first), stepSeconds)
      const byStart = new Map(rows.map((row) => [row.start.getTime(), row]))
      return {
        stepSeconds,
        items: Array.from({ length: steps }, (_, index) => {
          const start = first + index * stepMs
          return averagesOf(new Date(start), byStart.get(start))
        }),
      }
    },

    /** Writes the last minute that is complete. */
    async sample(): Promise<void> {
      const start = Math.floor((clock.now() - SETTLE_MS) / 60_000) * 60_000 - 60_000
      if (start <= lastSampled) return
      const [totals, tally] = await Promise.all([store.totals(), rate.inMinute(start)])
      await store.write({ ...totals, ...tally, start: new Date(start) })
      lastSampled = start
    },

    /** Deletes minutes and hours that are older than they are kept. */
    prune: () =>
      store.prune({ minute: new Date(clock.now() - KEEP_MINUTES_MS), hour: new Date(clock.now() - KEEP_HOURS_MS) }),
  }
}

function averagesOf(start: Date, sums: SampleSums | undefined): HistoryStep {
  if (sums === undefined) return { start, seeders: null, leechers: null, announces: null, refused: null }
  const { samples } = sums
  const perSecond = (count: number): number => Math.round((count / (samples * MINUTE_S)) * 100) / 100
  return {
    start,
    seeders: Math.round(sums.seeders / samples),
    leechers: Math.round(sums.leechers / samples),
    announces: perSecond(sums.announces),
    refused: perSecond(sums.refused),
  }
}
