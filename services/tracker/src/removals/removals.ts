import { isId } from '@vault-and-tracker/service-kit/core/ids'
import type { SwarmName, Swarms } from '../swarm/swarm.ts'

/** Transfers in Redis that are not in Postgres yet. Throws an error that `isUnavailable` recognises if Redis is unavailable. */
export type GatheredTransfers = {
  /** The ids of the torrents that a user has announced since the last flush. @param user the 16 bytes of the id */
  torrentsOf(user: Buffer): Promise<readonly string[]>
}

/** The swarms of users. Throws an error that `isUnavailable` recognises if Postgres is unavailable. */
export type RemovalStore = {
  /** The swarms of the torrents that the user announced recently, and of the given torrents. */
  swarmsOf(userId: string, torrentIds: readonly string[]): Promise<readonly SwarmName[]>
}

/** Elects one of the processes to remove a user. */
type Lease = { acquire(): Promise<boolean>; release(): Promise<void> }

/** Removes the peers of users who may no longer announce, or whose passkey was reset, from their swarms. */
export type Removals = {
  /** Starts the removal; `run` finishes it. */
  remove(userId: string): void
  /** Continues pending removals. Never fails: failed removals are retried by the next run. */
  run(): Promise<void>
}

/** A second round finds peers that announced before all processes received the change. */
const ROUNDS = 2
/** Users that can wait while a store is unavailable. The peers of further users expire by themselves. */
const MAX_WAITING = 10_000

/**
 * Creates the removals.
 *
 * @param options `leaseFor` elects one of the processes, which all receive the change; `onError` receives failed rounds
 */
export function createRemovals(options: {
  gathered: GatheredTransfers
  store: RemovalStore
  swarms: Pick<Swarms, 'expel'>
  leaseFor: (userId: string) => Lease
  onError: (error: unknown) => void
}): Removals {
  const { gathered, store, swarms } = options
  const waiting = new Map<string, { rounds: number; readonly lease: Lease }>()
  let running: Promise<void> | undefined

  const takeOut = async (userId: string): Promise<void> => {
    const user = Buffer.from(userId.replaceAll('-', ''), 'hex')
    // Redis first, so that transfers flushed in the meantime are found in Postgres.
    const torrentIds = await gathered.torrentsOf(user)
    await swarms.expel(user.subarray(8), await store.swarmsOf(userId, torrentIds))
  }
  const attend = async (userId: string): Promise<void> => {
    const entry = waiting.get(userId)
    if (entry === undefined) return
    if (await entry.lease.acquire()) {
      entry.rounds -= 1
      await takeOut(userId).catch((error: unknown) => {
        entry.rounds = ROUNDS
        throw error
      })
      if (entry.rounds > 0) return
      await entry.lease.release()
      // Requested again in the meantime.
      if (entry.rounds > 0) return
    }
    waiting.delete(userId)
  }
  const attendAll = async (): Promise<void> => {
    for (const userId of [...waiting.keys()]) await attend(userId).catch(options.onError)
  }
  const run = (): Promise<void> =>
    (running ??= attendAll().finally(() => {
      running = undefined
    }))

  return {
    remove: (userId) => {
      const known = waiting.get(userId)
      if (known) known.rounds = ROUNDS
      else if (isId(userId) && waiting.size < MAX_WAITING)
        waiting.set(userId, { rounds: ROUNDS, lease: options.leaseFor(userId) })
      void run()
    },
    run,
  }
}
