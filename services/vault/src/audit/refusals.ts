import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { ApiError } from '@vault-and-tracker/service-kit/core/errors'
import { apiError, ERRORS, type ErrorCode, isApiError } from '../errors.ts'
import { type AppendedEntry, type AuditStore, newEntry } from './audit.ts'

/** A request that was refused. */
export type Refusal = {
  readonly address: string
  /** Who was refused; `unknown` where nobody was authenticated. */
  readonly actor: string
  /** The project of the key that was refused, else the empty text. */
  readonly projectId: string
  /** The code that the request was answered with. */
  readonly code: string
}

/** The cause of an error for a caller who is known and may not do what they asked for. */
class ForbiddenCaller extends Error {
  override readonly name = 'ForbiddenCaller'
  readonly actor: string
  readonly projectId: string

  constructor(actor: string, projectId: string) {
    super(`${actor} may not do this`)
    this.actor = actor
    this.projectId = projectId
  }
}

/** The error for a caller who may not do what they asked for; it tells the audit log who that was. */
export function forbidden(actor: string, projectId: string): ApiError<ErrorCode> {
  return apiError('forbidden', undefined, { cause: new ForbiddenCaller(actor, projectId) })
}

/** What is refused before anybody knows who asks: signatures, tokens, and addresses that ask too often. */
const STATUSES: readonly number[] = [401, 421, 429]

/** Whom an error refuses, and with which code; undefined for one that refuses nobody. */
export function refusalOf(error: unknown): Omit<Refusal, 'address'> | undefined {
  if (!isApiError(error)) return undefined
  const { code, cause } = error
  if (cause instanceof ForbiddenCaller) return { code, actor: cause.actor, projectId: cause.projectId }
  return STATUSES.includes(ERRORS[code].status) ? { code, actor: 'unknown', projectId: '' } : undefined
}

/** Gathers refusals, and writes them. */
export type Refusals = ReturnType<typeof createRefusals>

const MINUTE_MS = 60_000

/** More callers than this in one minute, and the others are gathered in one entry. */
const MOST_OF_A_MINUTE = 1_000

/** While Postgres is unavailable, those of ten minutes are kept. */
const MOST_OF_ALL = 10_000

/** A statement takes 65,535 parameters; an entry has nine. */
const MOST_AT_ONCE = 500

/** Ended minutes are written every ten seconds: later than this, something is wrong. */
const LATE_MS = 120_000

/** The address and the actor of the entry for all others. */
const OTHERS = { address: '0.0.0.0', actor: 'unknown', projectId: '' }

type Gathered = {
  readonly who: Omit<Refusal, 'code'>
  readonly minute: number
  readonly since: number
  last: number
  readonly counts: Map<string, number>
}

/**
 * Gathers refused requests in memory, one entry for each address and minute with the number of refusals by code: a
 * flood of them makes few rows. A kill loses what was gathered in the last minute.
 */
export function createRefusals(deps: {
  store: Pick<AuditStore, 'append'>
  clock: Clock
  /** The address under which those of one subscriber are counted. */
  addressKey: (address: string) => string
  /** Whether the store refused a value, as it will every time. */
  isRefusedValue: (error: unknown) => boolean
  /** Called for each entry that is left out because the store refuses it. */
  onDropped: (error: unknown) => void
}) {
  const { store, clock, addressKey, isRefusedValue, onDropped } = deps
  const gathered = new Map<string, Gathered>()
  let current = { minute: 0, callers: 0 }

  /** The entry of a caller in this minute, or that of all others when it has too many callers. */
  function entryOf(who: Omit<Refusal, 'code'>, now: number): Gathered {
    const minute = Math.floor(now / MINUTE_MS)
    if (current.minute !== minute) current = { minute, callers: 0 }
    const key = `${String(minute)} ${who.address} ${who.actor} ${who.projectId}`
    const known = gathered.get(key)
    if (known !== undefined) return known
    const isFull = current.callers >= MOST_OF_A_MINUTE || gathered.size >= MOST_OF_ALL
    if (isFull && who !== OTHERS) return entryOf(OTHERS, now)
    current.callers += 1
    const made: Gathered = { who, minute, since: now, last: now, counts: new Map() }
    gathered.set(key, made)
    return made
  }

  function toEntry({ who, since, last, counts }: Gathered): AppendedEntry {
    const entry = newEntry(clock, {
      action: 'refused',
      by: who,
      detail: { since: new Date(since).toISOString(), ...Object.fromEntries(counts) },
    })
    return { entry: { ...entry, requestedAt: new Date(last) }, projectId: who.projectId }
  }

  /** Stores entries and removes them from `left`. Halves what is refused until only the refused entries are left out. */
  async function append(entries: readonly (readonly [string, Gathered])[], left: Map<string, Gathered>): Promise<void> {
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

  /** Writes what `isDue` chooses; what could not be written stays. */
  async function write(isDue: (minute: number) => boolean): Promise<void> {
    const due = [...gathered].filter(([, { minute }]) => isDue(minute))
    // What is refused meanwhile is gathered anew; where this fails, the entry of the same minute gives way to this one.
    for (const [key] of due) gathered.delete(key)
    const left = new Map(due)
    try {
      for (let i = 0; i < due.length; i += MOST_AT_ONCE) await append(due.slice(i, i + MOST_AT_ONCE), left)
    } catch (error) {
      for (const [key, each] of left) gathered.set(key, each)
      throw error
    }
  }

  /** For how long the oldest minute that has ended could not be written, in milliseconds. */
  function delayMs(): number {
    const oldest = Math.min(...[...gathered.values()].map(({ minute }) => minute))
    return oldest === Infinity ? 0 : Math.max(0, clock.now() - (oldest + 1) * MINUTE_MS)
  }

  return {
    /** Counts a refused request. */
    note: ({ code, address, ...who }: Refusal): void => {
      const now = clock.now()
      const entry = entryOf({ ...who, address: addressKey(address) }, now)
      entry.counts.set(code, (entry.counts.get(code) ?? 0) + 1)
      entry.last = now
    },

    /** Writes the minutes that have ended. */
    writeEnded: (): Promise<void> => {
      const minute = Math.floor(clock.now() / MINUTE_MS)
      return write((each) => each !== minute)
    },

    /** Writes everything, at the stop. */
    writeAll: (): Promise<void> => write(() => true),

    delayMs,

    /** @throws Error when refused requests could not be written for minutes */
    check: (): Promise<void> =>
      delayMs() < LATE_MS ? Promise.resolve() : Promise.reject(new Error('refused requests cannot be written')),
  }
}
