import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
import type { Invalidation } from '../invalidation/invalidation.ts'
import type { Delta, SwarmCounts, SwarmName } from '../swarm/swarm.ts'

/** Deltas taken out of Redis together. The id keeps them from being written twice. */
export type Batch = {
  readonly id: string
  readonly tag: number
}

export type BatchContents = {
  readonly deltas: readonly Delta[]
  /** Swarms whose counts changed. */
  readonly changed: readonly SwarmName[]
}

/** Where deltas accumulate and wait. All methods throw what `isUnavailable` recognises. */
export type AccountingQueue = {
  /** How many tags there are: 0 to one less. */
  readonly tags: number
  /** Takes what accumulated under some tags, except where a batch still waits; returns every batch of theirs that waits. */
  take(tags: readonly number[]): Promise<readonly Batch[]>
  /** The contents of a batch; empty when it was dropped. @throws Error when something in it has an unknown form */
  read(batch: Batch): Promise<BatchContents>
  drop(batch: Batch): Promise<void>
  /** Adds swarms to those whose counts the next batch writes. */
  markChanged(names: readonly SwarmName[]): Promise<void>
}

/** The counts that the database keeps of a swarm, for lists and sorting. */
export type CountedSwarm = Pick<SwarmCounts, 'complete' | 'incomplete'> & { readonly name: SwarmName }

/** A torrent whose count of snatches rose; the second hash is that of a hybrid. */
export type CompletedTorrent = { readonly infoHash: Buffer; readonly infoHashV2: Buffer | null }

/** What changed of a torrent whose count of snatches rose. */
export function changesOf({ infoHash, infoHashV2 }: CompletedTorrent): readonly Invalidation[] {
  return [infoHash, infoHashV2].flatMap((hash) =>
    hash === null ? [] : [{ kind: 'torrent', infoHash: hash.toString('hex') } as const],
  )
}

/** A batch with its swarms counted after it was taken: counts are written in the order in which they were read. */
export type CountedBatch = {
  readonly id: string
  readonly deltas: readonly Delta[]
  readonly counts: readonly CountedSwarm[]
}

/** Where users' and torrents' totals are kept. All methods throw what `isUnavailable` recognises when Postgres is unavailable. */
export type Ledger = {
  /**
   * Writes all batches, or none. One written before is skipped, with its counts: they may be outdated.
   *
   * @returns the torrents that are completed more often than before
   */
  write(batches: readonly CountedBatch[]): Promise<readonly CompletedTorrent[]>
  /** The stored counts that are above zero, of torrents that are not deleted. */
  storedCounts(): Promise<readonly CountedSwarm[]>
  /** Deletes the record of which batches were written longer ago, by the clock of the database. None that old can come again. */
  deleteBatchLog(olderThanDays: number): Promise<void>
  /** Deletes what users transferred on the days before a time. Their totals stay. */
  deleteDays(before: Date): Promise<void>
}

/** The batches of one flush. */
export type FlushResult = {
  readonly written: number
  /** Seen too recently to be written. */
  readonly waiting: number
  /** Tried again at the next flush. */
  readonly failed: number
}

/** Counts flushes. */
export type FlushCounters = {
  countFlush(result: FlushResult): void
  /** Another process flushes: this one knows of no batches that wait. */
  leaveToAnother(): void
}

/** Moves what users transferred from Redis to Postgres, exactly once. */
export type Flusher = {
  /**
   * Writes the batches that waited long enough and takes what accumulated.
   *
   * @throws what `isUnavailable` recognises when Redis is unavailable. While Postgres is unavailable, batches wait; so
   *   does one that cannot be read
   */
  flush(): Promise<FlushResult>
  /**
   * As `flush`, for the tags whose turn it is, and evenly over the time until the next turn: when it is repeated every
   * `everyMs`, batches are written in a steady flow of small transactions. Under load a turn takes longer, and more
   * announces of a user and torrent are one row.
   *
   * @param pause waits between two transactions, as long as the one before took at least; not when the process stops
   */
  flushTurn(everyMs: number, pause: (ms: number) => Promise<unknown>): Promise<FlushResult>
  /** Has the next flush correct the counts of swarms that ended without an announce, as when Redis was emptied. */
  reconcile(): Promise<void>
}

/** How many batches were written, and whether Postgres is unavailable. */
type Outcome = { readonly written: number; readonly isUnavailable: boolean }

/** Rows that one transaction writes, unless a single batch has more: few enough to delay no announce, and many for a commit. */
const MAX_ROWS = 1_000
/** A tag is taken in one turn, settles during the next and is written in the third, so a third of the tags is written in each. */
const TURNS = 3
/** Longer than any process can be stopped between reading a batch and writing it. */
const KEEP_BATCH_LOG_DAYS = 30
/** A year and some days, of which members see the year. */
const KEEP_DAYS_MS = 400 * 86_400_000

/**
 * Creates the flusher.
 *
 * @param options `settleSeconds` is how long a batch waits before it is written, from when this process first saw it: no
 *   other clock counts. By then Redis has synced its append only file, so a crash of Redis cannot undo the taking of a
 *   batch that was written; `onCompleted` gets torrents that were completed more often; `onError` gets the reason why a
 *   batch has to be retried
 */
export function createFlusher(options: {
  queue: AccountingQueue
  ledger: Ledger
  count: (swarms: readonly { name: SwarmName; completed: number }[]) => Promise<readonly SwarmCounts[]>
  clock: Clock
  settleSeconds: number
  onCompleted: (torrents: readonly CompletedTorrent[]) => Promise<void>
  onError: (error: unknown) => void
}): Flusher {
  const { queue, ledger, clock } = options

  const countsOf = async (names: readonly SwarmName[]): Promise<CountedSwarm[]> => {
    const counts = await options.count(names.map((name) => ({ name, completed: 0 })))
    return counts.flatMap((count, i) => {
      const name = names[i]
      return name === undefined ? [] : [{ ...count, name }]
    })
  }
  const counted = async ({ id, deltas, changed }: Batch & BatchContents): Promise<CountedBatch> => ({
    id,
    deltas,
    counts: await countsOf(changed),
  })

  /** `undefined` for a batch that cannot be read, so that the others are written. */
  const read = async (batch: Batch): Promise<(Batch & BatchContents) | undefined> => {
    try {
      return { ...batch, ...(await queue.read(batch)) }
    } catch (error) {
      if (isUnavailable(error)) throw error
      options.onError(error)
      return undefined
    }
  }
  /** Batches that wait, as far as this process knows, with the time since when it has known. */
  const seen = new Map<number, Batch & { since: number }>()
  /** Takes what accumulated under some tags; returns the batches that waited long enough, whatever their tags. */
  const settled = async (tags: readonly number[]): Promise<readonly Batch[]> => {
    const found = new Map((await queue.take(tags)).map((batch) => [batch.tag, batch]))
    const now = clock.now()
    for (const tag of tags) {
      const [before, batch] = [seen.get(tag), found.get(tag)]
      if (batch === undefined) seen.delete(tag)
      else if (before?.id !== batch.id) seen.set(tag, { ...batch, since: now })
    }
    // A clock that went back begins to wait anew.
    for (const batch of seen.values()) batch.since = Math.min(batch.since, now)
    return [...seen.values()].filter(({ since }) => now - since >= options.settleSeconds * 1000)
  }

  /** The contents of batches, as many at a time as one transaction writes; `done` counts those that were read so far. */
  async function* groupsOf(batches: readonly Batch[]) {
    let group: (Batch & BatchContents)[] = []
    let rows = 0
    for (const [done, batch] of batches.entries()) {
      const contents = await read(batch)
      if (contents === undefined) continue
      const more = contents.deltas.length + contents.changed.length
      if (group.length > 0 && rows + more > MAX_ROWS) {
        yield { group, done }
        group = []
        rows = 0
      }
      group.push(contents)
      rows += more
    }
    if (group.length > 0) yield { group, done: batches.length }
  }

  const write = async (batches: readonly (Batch & BatchContents)[]): Promise<Outcome> => {
    try {
      await options.onCompleted(await ledger.write(await Promise.all(batches.map(counted))))
    } catch (error) {
      // A batch that cannot be written must not stop the others.
      if (batches.length > 1 && !isUnavailable(error)) return writeEach(batches)
      options.onError(error)
      return { written: 0, isUnavailable: isUnavailable(error) }
    }
    for (const batch of batches) {
      await queue.drop(batch)
      seen.delete(batch.tag)
    }
    return { written: batches.length, isUnavailable: false }
  }
  const writeEach = async (batches: readonly (Batch & BatchContents)[]): Promise<Outcome> => {
    let written = 0
    for (const batch of batches) {
      const outcome = await write([batch])
      written += outcome.written
      if (outcome.isUnavailable) return { written, isUnavailable: true }
    }
    return { written, isUnavailable: false }
  }

  const flushTags = async (
    tags: readonly number[],
    untilDue: (share: number) => Promise<unknown>,
  ): Promise<FlushResult> => {
    const ready = await settled(tags)
    const waiting = seen.size - ready.length
    let written = 0
    for await (const { group, done } of groupsOf(ready)) {
      const outcome = await write(group)
      written += outcome.written
      // Without a database the next would wait for a connection, and fail as well.
      if (outcome.isUnavailable) break
      if (done < ready.length) await untilDue(done / ready.length)
    }
    return { written, waiting, failed: ready.length - written }
  }

  const allTags = Array.from({ length: queue.tags }, (_, tag) => tag)
  let turn = 0
  return {
    flush: () => flushTags(allTags, () => Promise.resolve()),

    flushTurn: async (everyMs, pause) => {
      turn = (turn + 1) % TURNS
      const start = clock.now()
      let rested = start
      return flushTags(
        allTags.filter((tag) => tag % TURNS === turn),
        async (share) => {
          const now = clock.now()
          // As long as the transaction took, so that half of the time is left to announces. No longer than a turn when the clock jumps.
          const ms = Math.min(Math.max(start + share * everyMs - now, now - rested), everyMs)
          if (ms > 0) await pause(ms)
          rested = clock.now()
        },
      )
    },

    reconcile: async () => {
      const stored = await ledger.storedCounts()
      for (let i = 0; i < stored.length; i += 1000) {
        const some = stored.slice(i, i + 1000)
        const found = await countsOf(some.map(({ name }) => name))
        const outdated = some.filter(({ complete, incomplete }, at) => {
          const actual = found[at]
          return actual?.complete !== complete || actual.incomplete !== incomplete
        })
        // Not written from here: a batch with newer counts may have been written since they were read.
        await queue.markChanged(outdated.map(({ name }) => name))
      }
      await ledger.deleteBatchLog(KEEP_BATCH_LOG_DAYS)
      await ledger.deleteDays(new Date(clock.now() - KEEP_DAYS_MS))
    },
  }
}
