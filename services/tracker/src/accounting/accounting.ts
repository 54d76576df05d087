import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { UnavailableError } from '@vault-and-tracker/service-kit/errors'
import type { SwarmCounts, SwarmName } from '../swarm/swarm.ts'

/** What one user did with one torrent since the last flush. */
export type Delta = {
  readonly userId: string
  readonly torrentId: string
  /** Bytes with the multipliers applied. */
  readonly creditedUp: number
  readonly creditedDown: number
  /** Bytes as the clients counted them. */
  readonly actualUp: number
  readonly actualDown: number
  readonly seedSeconds: number
  readonly left: number
  readonly state: 'stopped' | 'leecher' | 'seeder' | 'paused'
  /** Seconds since the epoch. */
  readonly firstSeen: number
  readonly lastSeen: number
  /** When the client said it completed the torrent, if it did. */
  readonly completedAt: number | undefined
}

/** Deltas taken out of Redis together. The id is what keeps them from being written twice. */
export type Batch = {
  readonly id: string
  readonly tag: number
  /** Seconds since the epoch. */
  readonly takenAt: number
}

export type BatchContents = {
  readonly deltas: readonly Delta[]
  /** Swarms whose counts changed. */
  readonly changed: readonly SwarmName[]
}

/** Where deltas gather and wait. */
export type AccountingQueue = {
  /** Takes what gathered, except where a batch still waits; returns every batch that waits. */
  take(now: number): Promise<readonly Batch[]>
  /** A batch as it is now; empty when it is gone. @throws Error when something in it has an unknown form */
  read(batch: Batch): Promise<BatchContents>
  drop(batch: Batch): Promise<void>
  /** Has swarms counted again with what gathers. */
  markChanged(names: readonly SwarmName[]): Promise<void>
}

/** How many take part in a swarm, for sorting. */
export type CountedSwarm = Pick<SwarmCounts, 'complete' | 'incomplete'> & { readonly name: SwarmName }

/** A batch with its swarms counted after it was taken. The next one is taken when it was written, and counted later. */
export type CountedBatch = {
  readonly id: string
  readonly deltas: readonly Delta[]
  readonly counts: readonly CountedSwarm[]
}

/** Where users' and torrents' totals are kept. */
export type Ledger = {
  /** Writes all batches, or none. What was written before is passed over, with its counts: they may be outdated. */
  write(batches: readonly CountedBatch[]): Promise<void>
  /** The counts that are above zero, of torrents that are not deleted. */
  counted(): Promise<readonly CountedSwarm[]>
  /** Forgets which batches were written before a time; none that old can come again. */
  forgetBatches(before: Date): Promise<void>
}

/** What became of a round. */
export type FlushRound = { readonly written: number; readonly waiting: number; readonly failed: number }

/** Moves what users did from Redis to Postgres, exactly once. */
export type Flusher = {
  /**
   * One round: writes the batches that waited long enough, then takes what gathered.
   *
   * @throws UnavailableError when Redis is away; a ledger that is away, and what cannot be read, makes batches wait
   */
  flush(): Promise<FlushRound>
  /** Has the next round correct the counts of swarms that vanished without an announce, as when Redis was emptied. */
  reconcile(): Promise<void>
}

/** Rows that one transaction writes, unless a single batch has more. */
const ROWS = 20_000
/** Longer than any process can be stopped between reading a batch and writing it. */
const REMEMBER_BATCHES_MS = 30 * 86_400_000

/**
 * Creates the flusher.
 *
 * @param options `settleSeconds` is how long a batch waits before it is written. By then Redis has synced the append
 *   only file, so the taking cannot be undone by a crash of Redis after the batch was written
 */
export function createFlusher(options: {
  queue: AccountingQueue
  ledger: Ledger
  count: (swarms: readonly { name: SwarmName; completed: number }[]) => Promise<readonly SwarmCounts[]>
  clock: Clock
  settleSeconds: number
  failed: (error: unknown) => void
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

  /** `undefined` for a batch that cannot be read: it must not keep the others either. */
  const read = async (batch: Batch): Promise<(Batch & BatchContents) | undefined> => {
    try {
      return { ...batch, ...(await queue.read(batch)) }
    } catch (error) {
      if (error instanceof UnavailableError) throw error
      options.failed(error)
      return undefined
    }
  }
  const write = async (batches: readonly (Batch & BatchContents)[]): Promise<number> => {
    try {
      await ledger.write(await Promise.all(batches.map(counted)))
    } catch (error) {
      // One batch that cannot be written must not keep the others; without a database none can.
      if (batches.length > 1 && !(error instanceof UnavailableError)) {
        let written = 0
        for (const batch of batches) written += await write([batch])
        return written
      }
      options.failed(error)
      return 0
    }
    for (const batch of batches) await queue.drop(batch)
    return batches.length
  }

  return {
    flush: async () => {
      const now = Math.floor(clock.now() / 1000)
      const waiting = await queue.take(now)
      const ready = waiting.filter((batch) => now - batch.takenAt >= options.settleSeconds)
      let group: (Batch & BatchContents)[] = []
      let rows = 0
      let written = 0
      for (const batch of ready) {
        const contents = await read(batch)
        if (contents === undefined) continue
        group.push(contents)
        rows += contents.deltas.length + contents.changed.length
        if (rows < ROWS) continue
        written += await write(group)
        group = []
        rows = 0
      }
      if (group.length > 0) written += await write(group)
      return { written, waiting: waiting.length - ready.length, failed: ready.length - written }
    },

    reconcile: async () => {
      const written = await ledger.counted()
      for (let i = 0; i < written.length; i += 1000) {
        const some = written.slice(i, i + 1000)
        const found = await countsOf(some.map(({ name }) => name))
        const outdated = some.filter(({ complete, incomplete }, at) => {
          const is = found[at]
          return is?.complete !== complete || is.incomplete !== incomplete
        })
        // Not written from here: by now they may have changed again, and a batch with newer counts been written.
        await queue.markChanged(outdated.map(({ name }) => name))
      }
      await ledger.forgetBatches(new Date(clock.now() - REMEMBER_BATCHES_MS))
    },
  }
}
