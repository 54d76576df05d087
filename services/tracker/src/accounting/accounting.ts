import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
import type { Invalidation } from '../invalidation/invalidation.ts'
import type { Delta, SwarmCounts, SwarmName } from '../swarm/swarm.ts'

/** Deltas taken out of Redis together. The id prevents writing them twice. */
export type Batch = {
  readonly id: string
  readonly tag: number
}

export type BatchContents = {
  readonly deltas: readonly Delta[]
  /** Swarms whose counts changed. */
  readonly changed: readonly SwarmName[]
}

/** The queue of deltas. All methods throw an error that `isUnavailable` recognises if Redis is unavailable. */
export type AccountingQueue = {
  /** The number of tags, which are numbered from 0. */
  readonly tags: number
  /** Takes the accumulated deltas of tags without a waiting batch. Returns every waiting batch of these tags. */
  take(tags: readonly number[]): Promise<readonly Batch[]>
  /** The contents of a batch; empty if it was dropped. @throws Error if it is malformed */
  read(batch: Batch): Promise<BatchContents>
  drop(batch: Batch): Promise<void>
  /** Has the next batch write the counts of swarms. */
  markChanged(names: readonly SwarmName[]): Promise<void>
}

/** The counts of a swarm in the database, for lists and sorting. */
export type CountedSwarm = Pick<SwarmCounts, 'complete' | 'incomplete'> & { readonly name: SwarmName }

/** A torrent with new snatches. Only hybrids have a second hash. */
export type CompletedTorrent = { readonly infoHash: Buffer; readonly infoHashV2: Buffer | null }

/** The invalidations for a torrent with new snatches. */
export function changesOf({ infoHash, infoHashV2 }: CompletedTorrent): readonly Invalidation[] {
  return [infoHash, infoHashV2].flatMap((hash) =>
    hash === null ? [] : [{ kind: 'torrent', infoHash: hash.toString('hex') } as const],
  )
}

/** A batch with counts of its swarms from after it was taken, so that counts are written in the order of their reads. */
export type CountedBatch = {
  readonly id: string
  readonly deltas: readonly Delta[]
  readonly counts: readonly CountedSwarm[]
}

/** The totals of users and torrents. All methods throw an error that `isUnavailable` recognises if Postgres is unavailable. */
export type Ledger = {
  /**
   * Writes all batches or none. Skips batches written before, including their counts, which may be outdated.
   *
   * @returns the torrents with new snatches
   */
  write(batches: readonly CountedBatch[]): Promise<readonly CompletedTorrent[]>
  /** The stored counts above zero, without deleted torrents. */
  storedCounts(): Promise<readonly CountedSwarm[]>
  /** Deletes the log of batches written earlier, by the database's clock. No batch that old can be retried. */
  deleteBatchLog(olderThanDays: number): Promise<void>
  /** Deletes daily transfers before a time. Totals stay. */
  deleteDays(before: Date): Promise<void>
}

/** The batches of one flush. */
export type FlushResult = {
  readonly written: number
  /** Too recent to be written. */
  readonly waiting: number
  /** Retried by the next flush. */
  readonly failed: number
}

/** Counts flushes. */
export type FlushCounters = {
  countFlush(result: FlushResult): void
  /** Another process flushes, so this one knows of no waiting batches. */
  leaveToAnother(): void
}

/** Moves transfers from Redis to Postgres, exactly once. */
export type Flusher = {
  /**
   * Writes the settled batches and takes the accumulated deltas. Batches wait if Postgres is unavailable or they cannot
   * be read.
   *
   * @throws an error that `isUnavailable` recognises if Redis is unavailable
   */
  flush(): Promise<FlushResult>
  /**
   * Flushes the tags of the next turn, evenly over the time until the following one. Repeated every `everyMs`, it writes
   * batches in a steady flow of small transactions. Under load a turn takes longer, and more announces of a user and
   * torrent become one row.
   *
   * @param pause waits between two transactions, at least as long as the previous one took; must end if the process stops
   */
  flushTurn(everyMs: number, pause: (ms: number) => Promise<unknown>): Promise<FlushResult>
  /** Has the next flush correct the counts of swarms that ended without an announce, for example with an emptied Redis. */
  reconcile(): Promise<void>
}

/** The result of a write. */
type Outcome = { readonly written: number; readonly isUnavailable: boolean }

/** Rows per transaction, unless a single batch has more: many per commit, but few enough not to delay announces. */
const MAX_ROWS = 1_000
/** A tag is taken in one turn, settles during the next and is written in the third. Each turn handles a third of the tags. */
const TURNS = 3
/** Longer than any process can be suspended between reading a batch and writing it. */
const KEEP_BATCH_LOG_DAYS = 30
/** A little more than the year that members can see. */
const KEEP_DAYS_MS = 400 * 86_400_000

/**
 * Creates the flusher.
 *
 * @param options `settleSeconds` is how long a batch waits before it is written, from when this process first saw it. By
 *   then Redis has synced its append-only file, so a crash cannot undo the taking of a written batch; `onCompleted`
 *   receives torrents with new snatches; `onError` receives the reason why a batch has to be retried
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

  /** Returns undefined for a batch that cannot be read, so that the others are written. */
  const read = async (batch: Batch): Promise<(Batch & BatchContents) | undefined> => {
    try {
      return { ...batch, ...(await queue.read(batch)) }
    } catch (error) {
      if (isUnavailable(error)) throw error
      options.onError(error)
      return undefined
    }
  }
  /** Known waiting batches by tag, with the time when this process first saw them. */
  const seen = new Map<number, Batch & { since: number }>()
  /** Takes the accumulated deltas of tags. Returns the settled batches of all tags. */
  const settled = async (tags: readonly number[]): Promise<readonly Batch[]> => {
    const found = new Map((await queue.take(tags)).map((batch) => [batch.tag, batch]))
    const now = clock.now()
    for (const tag of tags) {
      const [before, batch] = [seen.get(tag), found.get(tag)]
      if (batch === undefined) seen.delete(tag)
      else if (before?.id !== batch.id) seen.set(tag, { ...batch, since: now })
    }
    // If the clock went back, the wait starts again.
    for (const batch of seen.values()) batch.since = Math.min(batch.since, now)
    return [...seen.values()].filter(({ since }) => now - since >= options.settleSeconds * 1000)
  }

  /** Groups the contents of batches by transaction. `done` counts the batches read so far. */
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
      // Without a database the next write would also wait for a connection and fail.
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
          // As long as the transaction took, which leaves half of the time to announces. At most a turn, if the clock jumps.
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
        // Not written directly, because a batch with newer counts may have been written in the meantime.
        await queue.markChanged(outdated.map(({ name }) => name))
      }
      await ledger.deleteBatchLog(KEEP_BATCH_LOG_DAYS)
      await ledger.deleteDays(new Date(clock.now() - KEEP_DAYS_MS))
    },
  }
}
