import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { ERRORS, isApiError, refusedCaller } from '../errors.ts'
import { type AuditStore, type EntryOfProject, newEntry } from './audit.ts'

/** A refused request. */
type Refusal = {
  readonly address: string
  /** `unknown` if the requester was not authenticated. */
  readonly actor: string
  /** The project of the refused key, otherwise empty. */
  readonly projectId: string
  readonly code: string
}

/** Refusals of requesters who were not identified: signatures, tokens, wrong hosts and addresses over a limit. */
const STATUSES: readonly number[] = [401, 421, 429]

/** Records refused requests in the audit log. */
export type Refusals = ReturnType<typeof createRefusals>

const MINUTE_MS = 60_000

/** Further requesters of the same minute share one entry. */
const MAX_PER_MINUTE = 1_000

/** Enough for ten minutes without Postgres. */
const MAX_ENTRIES = 10_000

/** A statement takes 65,535 parameters; an entry has nine. */
const MAX_PER_STATEMENT = 500

/** Entries are written every ten seconds once their minute has ended; a longer delay is a fault. */
const LATE_MS = 120_000

/** Represents all further requesters. */
const OTHERS = { address: '0.0.0.0', actor: 'unknown', projectId: '' }

type Counted = {
  readonly who: Omit<Refusal, 'code'>
  readonly minute: number
  readonly since: number
  last: number
  readonly counts: Map<string, number>
}

/**
 * Counts refused requests in memory, with one entry per minute for each address, so that a flood of them writes few
 * rows. A killed process loses its counts of the last minute.
 */
export function createRefusals(deps: {
  store: Pick<AuditStore, 'append'>
  clock: Clock
  /** The address that the requests of one subscriber are counted under. */
  addressKey: (address: string) => string
  /** Whether the store refused a value, which it will do again. */
  isRefusedValue: (error: unknown) => boolean
  /** Called for each entry that is dropped because the store refuses it. */
  onDropped: (error: unknown) => void
}) {
  const { store, clock, addressKey, isRefusedValue, onDropped } = deps
  const counted = new Map<string, Counted>()
  let current = { minute: 0, requesters: 0 }

  function entryOf(who: Omit<Refusal, 'code'>, now: number): Counted {
    const minute = Math.floor(now / MINUTE_MS)
    if (current.minute !== minute) current = { minute, requesters: 0 }
    const key = `${String(minute)} ${who.address} ${who.actor} ${who.projectId}`
    const known = counted.get(key)
    if (known !== undefined) return known
    const isFull = current.requesters >= MAX_PER_MINUTE || counted.size >= MAX_ENTRIES
    if (isFull && who !== OTHERS) return entryOf(OTHERS, now)
    current.requesters += 1
    const added: Counted = { who, minute, since: now, last: now, counts: new Map() }
    counted.set(key, added)
    return added
  }

  function toEntry({ who, since, last, counts }: Counted): EntryOfProject {
    const detail = { since: new Date(since).toISOString(), ...Object.fromEntries(counts) }
    const entry = newEntry(clock, { action: 'refused', by: who, detail })
    return { entry: { ...entry, requestedAt: new Date(last) }, project: { uid: null, name: who.projectId } }
  }

  /** Writes entries and removes them from `left`. Halves the statement until it finds an entry that the store refuses. */
  async function append(entries: readonly (readonly [string, Counted])[], left: Map<string, Counted>): Promise<void> {
    try {
      await store.append(entries.map(([, each]) => toEntry(each)))
    } catch (error) {
      if (!isRefusedValue(error)) throw error
      if (entries.length > 1) {
        const middle = Math.ceil(entries.length / 2)
        await append(entries.slice(0, middle), left)
        await append(entries.slice(middle), left)
        return
      }
      onDropped(error)
    }
    for (const [key] of entries) left.delete(key)
  }

  /** Writes the minutes that `isDue` selects. Counts that could not be written are kept. */
  async function write(isDue: (minute: number) => boolean): Promise<void> {
    const due = [...counted].filter(([, { minute }]) => isDue(minute))
    // New refusals are counted separately meanwhile; if this fails, they give way to the earlier ones of their minute.
    for (const [key] of due) counted.delete(key)
    const left = new Map(due)
    try {
      for (let i = 0; i < due.length; i += MAX_PER_STATEMENT) await append(due.slice(i, i + MAX_PER_STATEMENT), left)
    } catch (error) {
      for (const [key, each] of left) counted.set(key, each)
      throw error
    }
  }

  /** For how long the oldest ended minute could not be written, in milliseconds. */
  function delayMs(): number {
    const oldest = Math.min(...[...counted.values()].map(({ minute }) => minute))
    return oldest === Infinity ? 0 : Math.max(0, clock.now() - (oldest + 1) * MINUTE_MS)
  }

  /** Counts a refused request. */
  function note({ code, address, actor, projectId }: Refusal): void {
    const now = clock.now()
    const entry = entryOf({ address: addressKey(address), actor, projectId }, now)
    entry.counts.set(code, (entry.counts.get(code) ?? 0) + 1)
    entry.last = now
  }

  return {
    note,

    /** Counts the request of an error if the error refuses it. */
    noteError: (error: unknown, address: string): void => {
      if (!isApiError(error)) return
      const caller = refusedCaller(error)
      if (caller !== undefined) note({ code: error.code, address, ...caller })
      else if (STATUSES.includes(ERRORS[error.code].status))
        note({ code: error.code, address, actor: 'unknown', projectId: '' })
    },

    /** Writes the minutes that have ended. */
    writeEnded: (): Promise<void> => {
      const minute = Math.floor(clock.now() / MINUTE_MS)
      return write((each) => each !== minute)
    },

    /** Writes everything, when the service stops. */
    writeAll: (): Promise<void> => write(() => true),

    delayMs,

    /** @throws Error if refused requests could not be written for two minutes */
    check: (): Promise<void> =>
      delayMs() < LATE_MS ? Promise.resolve() : Promise.reject(new Error('refused requests cannot be written')),
  }
}
