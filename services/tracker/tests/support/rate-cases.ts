import { type AccountingCase } from './accounting-case.ts'

/** Rates of the user, the torrent and the site. */
export const RATE_CASES: readonly AccountingCase[] = [
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
    name: 'of several rates the best counts, and they do not multiply',
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
