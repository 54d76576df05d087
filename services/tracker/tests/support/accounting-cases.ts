/** One announce of a case. Bytes are what the client reports; `after` are the seconds since the announce before. */
export type Step = {
  readonly after?: number
  readonly who?: 'alice' | 'bob'
  readonly peerId?: string
  readonly event?: 'started' | 'completed' | 'stopped' | 'paused'
  readonly up: number
  readonly down?: number
  readonly left?: number
  /** Announces the hybrid's second hash. */
  readonly v2?: boolean
  /** Announces over IPv6. */
  readonly ipv6?: boolean
  /** What happens just before the announce; `taken` is a round of the background that leaves a batch waiting. */
  readonly before?: 'redis emptied' | 'flushed' | 'taken'
}

/** What the database must say in the end; what is not named must be 0. */
export type Totals = {
  readonly up?: number
  readonly down?: number
  /** Where multipliers make them differ. */
  readonly creditedUp?: number
  readonly creditedDown?: number
  readonly seconds?: number
  readonly completed?: boolean
}

export type AccountingCase = {
  readonly name: string
  readonly percents?: {
    readonly user?: { readonly up?: number; readonly down?: number }
    readonly torrent?: { readonly up?: number; readonly down?: number }
    readonly site?: { readonly up?: number; readonly down?: number }
  }
  readonly steps: readonly Step[]
  readonly alice: Totals
  readonly bob?: Totals
  /** How many users completed the torrent. */
  readonly completed?: number
}

const GIB = 1_073_741_824
const HOUR = 3600

/** Everything that clients do to their counters, and what has to come of it. */
export const ACCOUNTING_CASES: readonly AccountingCase[] = [
  {
    name: 'a first announce credits nothing, whatever it reports',
    steps: [{ event: 'started', up: 5000, down: 7000 }],
    alice: {},
  },
  {
    name: 'later announces credit the difference',
    steps: [
      { event: 'started', up: 0 },
      { after: 1800, up: 1000, down: 300 },
      { after: 1800, up: 1500, down: 900 },
    ],
    alice: { up: 1500, down: 900 },
  },
  {
    name: 'what moved until the stop is credited',
    steps: [
      { event: 'started', up: 0 },
      { after: 100, event: 'stopped', up: 700, down: 800 },
    ],
    alice: { up: 700, down: 800 },
  },
  {
    name: 'a repeated stop credits nothing again',
    steps: [
      { event: 'started', up: 0 },
      { after: 100, event: 'stopped', up: 700 },
      { after: 5, event: 'stopped', up: 700 },
      { after: 5, event: 'stopped', up: 900 },
    ],
    alice: { up: 700 },
  },
  {
    name: 'a repeated announce credits nothing again',
    steps: [
      { event: 'started', up: 0 },
      { after: 1800, up: 500 },
      { after: 1, up: 500 },
      { after: 1, up: 500 },
    ],
    alice: { up: 500 },
  },
  {
    name: 'what an announce too soon reports is credited with the next one',
    steps: [
      { event: 'started', up: 0 },
      { after: 120, up: 400 },
      { after: 120, up: 600 },
      { after: 1800, up: 1000 },
    ],
    alice: { up: 1000 },
  },
  {
    name: 'a counter that went back in an announce too soon starts anew all the same',
    steps: [
      { event: 'started', up: 0 },
      { after: 1800, up: 500 },
      { after: 120, up: 10 },
      { after: 1800, up: 1000 },
    ],
    alice: { up: 1490 },
  },
  {
    name: 'announces one after the other are credited no more than a line carries in all that time',
    steps: [
      { event: 'started', up: 0 },
      ...Array.from({ length: 20 }, (_, i) => ({ after: 5, up: (i + 1) * 70 * GIB })),
      { after: 1800, up: 1400 * GIB },
    ],
    alice: { up: 1400 * GIB },
  },
  {
    name: 'events one after the other are credited no more than a line carries in that time',
    steps: [
      { event: 'started', up: 0 },
      ...Array.from({ length: 20 }, (_, i) => ({ after: 5, event: 'started' as const, up: (i + 1) * 70 * GIB })),
    ],
    alice: {},
  },
  {
    name: 'a counter that went back is a client that started anew, and credits nothing',
    steps: [
      { event: 'started', up: 0 },
      { after: 1800, up: 9000, down: 100 },
      { after: 1800, up: 10, down: 100 },
      { after: 1800, up: 60, down: 150 },
    ],
    alice: { up: 9050, down: 150 },
  },
  {
    name: 'when one counter went back the other is not believed either',
    steps: [
      { event: 'started', up: 100, down: 100 },
      { after: 1800, up: 50, down: 5000 },
    ],
    alice: {},
  },
  {
    name: 'a client restarted with a new peer id counts from there',
    steps: [
      { event: 'started', up: 0 },
      { after: 1800, up: 1000 },
      { after: 60, peerId: '-AA0001-restartedxyz', event: 'started', up: 0 },
      { after: 1800, peerId: '-AA0001-restartedxyz', up: 250 },
    ],
    alice: { up: 1250 },
  },
  {
    name: 'a stopped client that starts again with its old counters is credited once',
    steps: [
      { event: 'started', up: 0 },
      { after: 600, event: 'stopped', up: 500 },
      { after: 600, event: 'started', up: 500 },
      { after: 1800, up: 800 },
    ],
    alice: { up: 800 },
  },
  {
    name: 'a client silent for two days is credited what it moved meanwhile',
    steps: [
      { event: 'started', up: 0 },
      { after: 48 * HOUR, up: 4000 },
    ],
    alice: { up: 4000 },
  },
  {
    name: 'a client silent for longer than counters are kept is not',
    steps: [
      { event: 'started', up: 0 },
      { after: 29 * 24 * HOUR, up: 4000 },
      { after: 1800, up: 4500 },
    ],
    alice: { up: 500 },
  },
  {
    name: 'a swarm that Redis lost credits nothing twice',
    steps: [
      { event: 'started', up: 0 },
      { after: 1800, up: 1000 },
      { before: 'flushed', after: 1800, up: 1200 },
      { before: 'flushed', after: 60, up: 1200 },
      { before: 'redis emptied', after: 1800, up: 3000 },
      { after: 1800, up: 3100 },
    ],
    alice: { up: 1300 },
  },
  {
    name: 'what is announced while a batch waits is in the next one',
    steps: [
      { event: 'started', up: 0 },
      { after: 1800, up: 1000 },
      { before: 'taken', after: 1800, up: 1500 },
    ],
    alice: { up: 1500 },
  },
  {
    name: 'IPv4 and IPv6 announces of one client are credited once',
    steps: [
      { event: 'started', up: 0 },
      { after: 1, event: 'started', up: 0, ipv6: true },
      { after: 1800, up: 1000 },
      { after: 1, up: 1000, ipv6: true },
      { after: 1800, up: 1500, ipv6: true },
      { after: 1, up: 1500 },
    ],
    alice: { up: 1500 },
  },
  {
    name: 'both hashes of a hybrid are one torrent and credited once',
    steps: [
      { event: 'started', up: 0 },
      { after: 1, event: 'started', up: 0, v2: true },
      { after: 1800, up: 1000, down: 10 },
      { after: 1, up: 1000, down: 10, v2: true },
      { after: 60, event: 'completed', left: 0, up: 1000, down: 20 },
      { after: 1, event: 'completed', left: 0, up: 1000, down: 20, v2: true },
    ],
    alice: { up: 1000, down: 20, completed: true },
    completed: 1,
  },
  {
    name: 'a repeated completed is one completion',
    steps: [
      { event: 'started', up: 0 },
      { after: 100, event: 'completed', left: 0, up: 0, down: 1000 },
      { after: 1, event: 'completed', left: 0, up: 0, down: 1000 },
      { before: 'flushed', after: 100, event: 'completed', left: 0, up: 0, down: 1000 },
    ],
    alice: { down: 1000, completed: true, seconds: 101 },
    completed: 1,
  },
  {
    name: 'a user who completes twice is one snatch, another user a second',
    steps: [
      { event: 'started', up: 0 },
      { after: 100, event: 'completed', left: 0, up: 0, down: 1000 },
      { after: 0, event: 'stopped', left: 0, up: 0, down: 1000 },
      { before: 'flushed', after: 60, peerId: '-AA0001-second-time!', event: 'started', up: 0 },
      { after: 100, peerId: '-AA0001-second-time!', event: 'completed', left: 0, up: 0, down: 1000 },
      { who: 'bob', event: 'started', up: 0 },
      { after: 100, who: 'bob', event: 'completed', left: 0, up: 0, down: 1000 },
    ],
    alice: { down: 2000, completed: true },
    bob: { down: 1000, completed: true },
    completed: 2,
  },
  {
    name: 'a completed with something left is none',
    steps: [
      { event: 'started', up: 0 },
      { after: 100, event: 'completed', left: 400, up: 0, down: 600 },
    ],
    alice: { down: 600 },
  },
  {
    name: 'seed time is the time between announces as a seeder, up to the stop',
    steps: [
      { event: 'started', left: 0, up: 0 },
      { after: 1800, left: 0, up: 0 },
      { after: 1700, left: 0, up: 0 },
      { after: 500, left: 0, event: 'stopped', up: 0 },
    ],
    alice: { seconds: 4000 },
  },
  {
    name: 'seed time does not count what came before completion, nor twice for two address families',
    steps: [
      { event: 'started', up: 0 },
      { after: 1000, event: 'completed', left: 0, up: 0, down: 1000 },
      { after: 1, event: 'completed', left: 0, up: 0, down: 1000, ipv6: true },
      { after: 1800, left: 0, up: 0, down: 1000 },
      { after: 1, left: 0, up: 0, down: 1000, ipv6: true },
    ],
    alice: { down: 1000, seconds: 1802, completed: true },
    completed: 1,
  },
  {
    name: 'a silence longer than a peer lives is no seed time',
    steps: [
      { event: 'started', left: 0, up: 0 },
      { after: 10 * HOUR, left: 0, up: 0 },
    ],
    alice: {},
  },
  {
    name: 'a partial seed counts as no seeder',
    steps: [
      { event: 'started', left: 500, up: 0 },
      { after: 1800, event: 'paused', left: 500, up: 100 },
      { after: 1800, event: 'paused', left: 500, up: 300 },
    ],
    alice: { up: 300 },
  },
  {
    name: 'counters that rise faster than any line are not believed',
    steps: [
      { event: 'started', up: 0 },
      { after: 1800, up: 900_000 * GIB },
      { after: 1800, up: 900_000 * GIB + 5 },
    ],
    alice: { up: 5 },
  },
  {
    name: 'counts up to 2^53 - 1 are read, and a difference of them is exact',
    steps: [
      { event: 'started', up: 9_007_199_254_740_000 },
      { after: 1800, up: 9_007_199_254_740_991 },
    ],
    alice: { up: 991 },
  },
  {
    name: 'downloads of one client are counted up to 281 terabytes',
    steps: [
      { event: 'started', up: 0, down: 281_474_976_710_000 },
      { after: 1800, up: 5, down: 281_474_976_720_000 },
      { after: 1800, up: 9, down: 281_474_976_730_000 },
    ],
    alice: { up: 9, down: 655 },
  },
  {
    name: 'freeleech of the torrent charges nothing and says what was moved',
    percents: { torrent: { down: 0 } },
    steps: [
      { event: 'started', up: 0 },
      { after: 1800, up: 1000, down: 5000 },
    ],
    alice: { up: 1000, down: 5000, creditedUp: 1000, creditedDown: 0 },
  },
  {
    name: 'double upload of the torrent credits twice',
    percents: { torrent: { up: 200 } },
    steps: [
      { event: 'started', up: 0 },
      { after: 1800, up: 1001, down: 5 },
    ],
    alice: { up: 1001, down: 5, creditedUp: 2002, creditedDown: 5 },
  },
  {
    name: 'freeleech of the user counts for that user only',
    percents: { user: { down: 0 } },
    steps: [
      { event: 'started', up: 0 },
      { who: 'bob', event: 'started', up: 0 },
      { after: 1800, up: 0, down: 100 },
      { who: 'bob', up: 0, down: 100 },
    ],
    alice: { down: 100, creditedDown: 0 },
    bob: { down: 100, creditedDown: 100 },
  },
  {
    name: 'freeleech of the site counts for all',
    percents: { site: { down: 0 } },
    steps: [
      { event: 'started', up: 0 },
      { who: 'bob', event: 'started', up: 0 },
      { after: 1800, up: 0, down: 100 },
      { who: 'bob', up: 0, down: 100 },
    ],
    alice: { down: 100, creditedDown: 0 },
    bob: { down: 100, creditedDown: 0 },
  },
  {
    name: 'of several multipliers the best counts, and they do not multiply',
    percents: { user: { up: 150, down: 50 }, torrent: { up: 200, down: 75 }, site: { up: 120, down: 25 } },
    steps: [
      { event: 'started', up: 0 },
      { after: 1800, up: 1000, down: 1000 },
    ],
    alice: { up: 1000, down: 1000, creditedUp: 2000, creditedDown: 250 },
  },
  {
    name: 'fractions of a byte are not credited',
    percents: { torrent: { down: 50 } },
    steps: [
      { event: 'started', up: 0 },
      { after: 1800, up: 0, down: 3 },
      { after: 1800, up: 0, down: 6 },
    ],
    alice: { down: 6, creditedDown: 2 },
  },
]
