import { expect, test } from '@jest/globals'
import { UnavailableError } from '@vault-and-tracker/service-kit/core/errors'
import type { Delta } from '../swarm/swarm.ts'
import { type AccountingQueue, type Batch, type CountedBatch, createFlusher, type Flusher } from './accounting.ts'

const TAGS = 9
const TURN_MS = 2_000
const ID = '00000000-0000-7000-8000-000000000000'
const DELTA: Delta = {
  ...{ userId: ID, torrentId: ID, creditedUp: 1, creditedDown: 0, actualUp: 1, actualDown: 0 },
  ...{ seedSeconds: 0, left: 0, state: 'seeder', firstSeen: 1, lastSeen: 1 },
  ...{ leeched: false, snatched: false, completedAt: undefined },
}

/** A queue in which `rowsOf` rows accumulate per tag between two flushes, and a ledger that records its writes. */
function world(rowsOf: (tag: number) => number, onWrite: (tags: readonly number[]) => void = () => undefined) {
  let nowMs = 1_000_000
  let taken = 0
  const waiting = new Map<number, Batch>()
  const takenTags: number[][] = []
  const transactions: number[][] = []
  const pauses: number[] = []
  const errors: unknown[] = []
  const tagOf = ({ id }: { id: string }): number => Number(id.split(' ')[0])
  const queue: AccountingQueue = {
    tags: TAGS,
    take: (tags) => {
      const fresh = tags.filter((tag) => !waiting.has(tag) && rowsOf(tag) > 0)
      takenTags.push([...fresh])
      for (const tag of fresh) waiting.set(tag, { id: `${String(tag)} ${String(taken++)}`, tag })
      return Promise.resolve(tags.flatMap((tag) => waiting.get(tag) ?? []))
    },
    read: ({ tag }) => Promise.resolve({ deltas: Array.from({ length: rowsOf(tag) }, () => DELTA), changed: [] }),
    drop: ({ tag }) => {
      waiting.delete(tag)
      return Promise.resolve()
    },
    markChanged: () => Promise.resolve(),
  }
  const another = (): Flusher =>
    createFlusher({
      queue,
      ledger: {
        write: async (batches: readonly CountedBatch[]) => {
          const tags = batches.map(tagOf)
          transactions.push(tags)
          await Promise.resolve()
          onWrite(tags)
          return []
        },
        storedCounts: () => Promise.resolve([]),
        deleteBatchLog: () => Promise.resolve(),
        deleteDays: () => Promise.resolve(),
      },
      count: () => Promise.resolve([]),
      clock: { now: () => nowMs },
      settleSeconds: 3,
      onCompleted: () => Promise.resolve(),
      onError: (error) => errors.push(error),
    })
  const flusher = another()
  const pause = (ms: number): Promise<void> => {
    pauses.push(ms)
    return Promise.resolve()
  }
  return {
    ...{ flusher, another, takenTags, transactions, pauses, errors },
    advance: (ms: number): void => {
      nowMs += ms
    },
    turn: () => flusher.flushTurn(TURN_MS, pause),
  }
}

test('a transaction writes at most 1,000 rows, unless a single batch has more', async () => {
  const rows = [600, 400, 1, 999, 5_000, 300, 300, 300, 300]
  const { flusher, transactions, advance } = world((tag) => rows[tag] ?? 0)
  await flusher.flush()
  advance(3_000)
  await expect(flusher.flush()).resolves.toEqual({ written: 9, waiting: 0, failed: 0 })
  expect(transactions).toEqual([[0, 1], [2, 3], [4], [5, 6, 7], [8]])
})

test('a third of the tags is taken in each turn, and written two turns later', async () => {
  const { takenTags, transactions, advance, turn } = world(() => 1)
  for (let i = 0; i < 6; i++) {
    await turn()
    advance(TURN_MS)
  }
  const thirds = [
    [1, 4, 7],
    [2, 5, 8],
    [0, 3, 6],
  ]
  expect(takenTags).toEqual([...thirds, ...thirds])
  expect(transactions).toEqual([...thirds, thirds[0]])
})

test('the writes of a turn are spread over the time until the next one', async () => {
  const { transactions, pauses, advance, turn } = world(() => 700)
  for (let i = 0; i < 3; i++) {
    await turn()
    advance(TURN_MS)
  }
  expect(transactions).toEqual([[1], [4], [7]])
  expect(pauses.map(Math.round)).toEqual([TURN_MS / 3, (TURN_MS * 2) / 3].map(Math.round))
})

test('a late turn pauses as long as its transactions take', async () => {
  const late = world(
    () => 700,
    () => late.advance(TURN_MS),
  )
  for (let i = 0; i < 3; i++) {
    await late.turn()
    late.advance(TURN_MS)
  }
  expect(late.transactions).toEqual([[1], [4], [7]])
  expect(late.pauses).toEqual([TURN_MS, TURN_MS])
})

test('no pause exceeds a turn if the clock goes back', async () => {
  const back = world(
    () => 700,
    () => back.advance(-3_600_000),
  )
  await back.flusher.flush()
  back.advance(3_000)
  await back.turn()
  expect(back.pauses.length).toBeGreaterThan(0)
  for (const ms of back.pauses) expect(ms).toBeLessThanOrEqual(TURN_MS)
})

test('finds batches of another process within three turns, and settles them from then on', async () => {
  const { flusher, another, transactions, advance } = world(() => 1)
  await flusher.flush()
  advance(60_000)
  const successor = another()
  for (let i = 0; i < 4; i++) {
    await successor.flushTurn(TURN_MS, () => Promise.resolve())
    advance(TURN_MS)
  }
  expect(transactions).toEqual([
    [1, 4, 7],
    [2, 5, 8],
  ])
})

test('a batch that cannot be written does not delay the others of its transaction', async () => {
  const { flusher, errors, transactions, advance } = world(
    () => 400,
    (tags) => {
      if (tags.includes(3)) throw new Error('refused')
    },
  )
  await flusher.flush()
  advance(3_000)
  await expect(flusher.flush()).resolves.toEqual({ written: 8, waiting: 0, failed: 1 })
  expect(transactions).toEqual([[0, 1], [2, 3], [2], [3], [4, 5], [6, 7], [8]])
  expect(errors).toEqual([new Error('refused')])
})

test('while Postgres is unavailable, a flush tries once', async () => {
  let isUp = false
  const { flusher, errors, transactions, advance } = world(
    () => 600,
    () => {
      if (!isUp) throw new UnavailableError('postgres')
    },
  )
  await flusher.flush()
  advance(3_000)
  await expect(flusher.flush()).resolves.toEqual({ written: 0, waiting: 0, failed: 9 })
  expect([transactions, errors.length]).toEqual([[[0]], 1])
  isUp = true
  await expect(flusher.flush()).resolves.toEqual({ written: 9, waiting: 0, failed: 0 })
})
