import { type AccountingCase, HOUR } from './accounting-case.ts'

/** Completions and the time that counts as seeding. */
export const COMPLETION_CASES: readonly AccountingCase[] = [
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
    name: 'a user who starts complete has not snatched the torrent, regardless of events',
    steps: [
      { event: 'completed', left: 0, up: 0 },
      { after: 60, event: 'started', left: 0, up: 0 },
      { before: 'flushed', after: 100, event: 'completed', left: 0, up: 0 },
    ],
    alice: {},
  },
  {
    name: 'who had something left in an earlier session has snatched it',
    steps: [
      { event: 'started', up: 0 },
      { after: 100, event: 'stopped', up: 0, down: 500 },
      { before: 'flushed', after: 100, peerId: '-AA0001-second-time!', event: 'completed', left: 0, up: 0, down: 500 },
    ],
    alice: { down: 500, completed: true },
    completed: 1,
  },
  {
    name: 'what was completed before something was left is no snatch, what is completed after it is',
    steps: [
      { event: 'completed', left: 0, up: 0 },
      { after: 60, peerId: '-AA0001-second-time!', event: 'started', up: 0 },
      { before: 'flushed', after: 60, who: 'bob', event: 'completed', left: 0, up: 0 },
      { before: 'flushed', after: 60, who: 'bob', peerId: '-BB0001-second-time!', event: 'started', up: 0 },
      { after: 60, who: 'bob', peerId: '-BB0001-second-time!', event: 'completed', left: 0, up: 0, down: 1000 },
    ],
    alice: {},
    bob: { down: 1000, completed: true },
    completed: 1,
  },
  {
    name: 'a completed with something left does not count',
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
]
