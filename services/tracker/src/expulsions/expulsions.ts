import { isId } from '@vault-and-tracker/service-kit/core/ids'
import type { Leadership } from '../leadership/leadership.ts'
import type { SwarmName, Swarms } from '../swarm/swarm.ts'

/** What Redis holds of a user that is not in the database yet. Throws what `isUnavailable` recognises when Redis is unavailable. */
export type GatheredTransfers = {
  /** The ids of the torrents that the user announced since the last flush. @param user the 16 bytes of the id */
  torrentsOf(user: Buffer): Promise<readonly string[]>
}

/** Where a user may have peers. Throws what `isUnavailable` recognises when Postgres is unavailable. */
export type ExpulsionStore = {
  /** The swarms of the torrents that the user announced of late, and of those named. */
  swarmsOf(userId: string, torrentIds: readonly string[]): Promise<readonly SwarmName[]>
}

/** Takes the peers of users out of their swarms who may not announce any more, or got a new passkey. */
export type Expulsions = {
  /** Begins at once; `run` finishes it. */
  expel(userId: string): void
  /** Does what is still to be done. Never fails: what fails is tried again by the next run. */
  run(): Promise<void>
}

/** A second round finds the peers that announced while other processes had not heard of the change. */
const ROUNDS = 2
/** While a store is unavailable so many wait; the peers of the others expire. */
const MAX_WAITING = 10_000

/**
 * Creates them.
 *
 * @param options `turnFor` chooses one of the processes that all hear of a user; `onError` gets what made a round fail
 */
export function createExpulsions(options: {
  gathered: GatheredTransfers
  store: ExpulsionStore
  swarms: Pick<Swarms, 'expel'>
  turnFor: (userId: string) => Leadership
  onError: (error: unknown) => void
}): Expulsions {
  const { gathered, store, swarms } = options
  const waiting = new Map<string, { rounds: number; readonly turn: Leadership }>()
  let running: Promise<void> | undefined

  const takeOut = async (userId: string): Promise<void> => {
    const user = Buffer.from(userId.replaceAll('-', ''), 'hex')
    // Redis first: what is written to the database meanwhile is found there.
    const torrentIds = await gathered.torrentsOf(user)
    await swarms.expel(user.subarray(8), await store.swarmsOf(userId, torrentIds))
  }
  const attend = async (userId: string): Promise<void> => {
    const entry = waiting.get(userId)
    if (entry === undefined) return
    if (await entry.turn.acquire()) {
      entry.rounds -= 1
      await takeOut(userId).catch((error: unknown) => {
        entry.rounds = ROUNDS
        throw error
      })
      if (entry.rounds > 0) return
      await entry.turn.release()
      // Asked for once more meanwhile.
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
    expel: (userId) => {
      const known = waiting.get(userId)
      if (known) known.rounds = ROUNDS
      else if (isId(userId) && waiting.size < MAX_WAITING)
        waiting.set(userId, { rounds: ROUNDS, turn: options.turnFor(userId) })
      void run()
    },
    run,
  }
}
