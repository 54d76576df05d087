import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { AnnounceRate, AnnounceTally } from './announce-rate.ts'

/** Totals of all swarms. */
export type SwarmTotals = {
  /** Torrents with a peer. */
  readonly swarms: number
  readonly seeders: number
  readonly leechers: number
}

/** A sample of one minute. */
export type Sample = SwarmTotals & AnnounceTally & { readonly start: Date }

export type SampleSpan = 'minute' | 'hour' | 'day'
/** Sums of samples; averages are sums divided by `samples`. */
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

/** The store of samples and swarm counts. All methods throw an error that `isUnavailable` recognises. */
export type SwarmStatisticsStore = {
  /** The totals without deleted torrents, as last written by the accounting. */
  totals(): Promise<SwarmTotals>
  /** Torrents with the most peers first. */
  busiest(sort: BusySort, limit: number): Promise<readonly BusyTorrent[]>
  /** Writes a minute and adds it to its hour and day. Skips a minute that was written before. */
  write(sample: Sample): Promise<void>
  /** Sums by step, ascending, without empty steps. */
  series(span: SampleSpan, from: Date, stepSeconds: number): Promise<readonly SampleSums[]>
  prune(before: { readonly minute: Date; readonly hour: Date }): Promise<void>
}

const MINUTE_S = 60
const HOUR_S = 3_600
const DAY_S = 86_400

/** The samples and steps of each range. */
const RANGE_STEPS = {
  '3h': { span: 'minute', stepSeconds: MINUTE_S, steps: 180 },
  '24h': { span: 'minute', stepSeconds: 5 * MINUTE_S, steps: 288 },
  '7d': { span: 'hour', stepSeconds: HOUR_S, steps: 168 },
  '30d': { span: 'hour', stepSeconds: HOUR_S, steps: 720 },
  '1y': { span: 'day', stepSeconds: DAY_S, steps: 366 },
} as const
export const SWARM_RANGES = ['3h', '24h', '7d', '30d', '1y'] as const
export type SwarmRange = (typeof SWARM_RANGES)[number]

/** Averages of a step; null if no sample was taken. */
export type HistoryStep = {
  readonly start: Date
  readonly seeders: number | null
  readonly leechers: number | null
  /** Per second. */
  readonly announces: number | null
  readonly refused: number | null
}

export type History = { readonly stepSeconds: number; readonly items: readonly HistoryStep[] }
export type SwarmStatistics = ReturnType<typeof createSwarmStatistics>

const KEEP_MINUTES_MS = 2 * DAY_S * 1_000
const KEEP_HOURS_MS = 90 * DAY_S * 1_000
/** A minute is sampled this long after its end, when every process has flushed its announces. */
const SETTLE_MS = 15_000

/** Statistics of all swarms, current and over time. */
export function createSwarmStatistics(deps: { store: SwarmStatisticsStore; rate: AnnounceRate; clock: Clock }) {
  const { store, rate, clock } = deps
  let lastSampled = 0

  return {
    /** Current counts, and announces per second over the last minute. */
    async now() {
      const [totals, perSecond] = await Promise.all([store.totals(), rate.perSecond()])
      return { ...totals, ...perSecond }
    },

    busiest: (sort: BusySort, limit: number): Promise<readonly BusyTorrent[]> => store.busiest(sort, limit),

    /** One item per step up to now, including steps without a sample. */
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

    /** Writes the last complete minute. */
    async sample(): Promise<void> {
      const start = Math.floor((clock.now() - SETTLE_MS) / 60_000) * 60_000 - 60_000
      if (start <= lastSampled) return
      const [totals, tally] = await Promise.all([store.totals(), rate.inMinute(start)])
      await store.write({ ...totals, ...tally, start: new Date(start) })
      lastSampled = start
    },

    /** Deletes old minutes and hours. */
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
