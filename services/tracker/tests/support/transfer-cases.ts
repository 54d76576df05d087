import { type AccountingCase, GIB, HOUR } from './accounting-case.ts'

/** Changes of clients' counters, and the expected credit. */
export const TRANSFER_CASES: readonly AccountingCase[] = [
  {
    name: 'a first announce credits nothing, regardless of its counters',
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
    name: 'a decreased counter also starts again in an announce that is too soon',
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
    name: 'a decreased counter means a restarted client, and credits nothing',
    steps: [
      { event: 'started', up: 0 },
      { after: 1800, up: 9000, down: 100 },
      { after: 1800, up: 10, down: 100 },
      { after: 1800, up: 60, down: 150 },
    ],
    alice: { up: 9050, down: 150 },
  },
  {
    name: 'when only uploaded went back, the download of that interval counts',
    steps: [
      { event: 'started', up: 100, down: 100 },
      { after: 1800, up: 50, down: 5000 },
    ],
    alice: { down: 4900 },
  },
  {
    name: 'when only downloaded went back, the upload of that interval counts',
    steps: [
      { event: 'started', up: 100, down: 9000 },
      { after: 1800, up: 5100, down: 50 },
      { after: 1800, up: 5200, down: 70 },
    ],
    alice: { up: 5100, down: 20 },
  },
  {
    name: 'when only downloaded went back in an announce too soon, the upload is credited with the next one',
    steps: [
      { event: 'started', up: 0, down: 100 },
      { after: 120, up: 400, down: 10 },
      { after: 1800, up: 1000, down: 60 },
    ],
    alice: { up: 1000, down: 50 },
  },
  {
    name: 'two machines with one peer id are credited what one of them moved',
    steps: [
      { event: 'started', up: 0 },
      { after: 1800, up: 50 * GIB },
      { after: 60, event: 'started', up: 0, elsewhere: true },
      { after: 1740, up: 60 * GIB },
      { after: 60, up: 10 * GIB, elsewhere: true },
      { after: 1800, up: 20 * GIB, elsewhere: true },
      { after: 60, up: 70 * GIB },
      { after: 60, event: 'stopped', up: 21 * GIB, elsewhere: true },
      { after: 1740, up: 80 * GIB },
    ],
    alice: { up: 80 * GIB },
  },
  {
    name: 'a client whose address changes goes on',
    steps: [
      { event: 'started', up: 0 },
      { after: 1800, up: 1000 },
      { after: 1800, up: 1500, elsewhere: true },
      { after: 60, event: 'stopped', up: 1600, elsewhere: true },
    ],
    alice: { up: 1600 },
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
]
