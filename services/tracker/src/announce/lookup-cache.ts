import { type BatcherOptions, createBatcher } from '@vault-and-tracker/service-kit/batch'
import type { Clock } from '@vault-and-tracker/service-kit/clock'

/** A value, or that there is none, at once where it is cached. */
export type Lookup<Value> = Value | undefined | Promise<Value | undefined>

/** A bounded cache in front of something that is asked for many at once. */
export type LookupCache<Name extends string, Value> = {
  /** @throws whatever loading throws, when nothing is cached under the name */
  get(name: Name): Lookup<Value>
  forget(name: Name): void
  /** From now on every entry is asked for again, and serves until the answer comes. */
  doubt(): void
}

type Entry<Value> = { readonly value: Value | undefined; trustedUntil: number; epoch: number }

/** Planning a query costs more than finding ten names in it, so after a restart one in 5 ms asks for what was missed. */
const LOADS: BatcherOptions = { concurrency: 1, maxBatchSize: 500, lingerMs: 5, isReady: (waiting) => waiting >= 200 }
/** Absences are many and cheap to find again, so few are kept. */
const ABSENCES = 20_000
/** A failed load is not repeated at every lookup. */
const RETRY_MS = 2_000

/**
 * Creates a cache. An entry that is no longer trusted still serves while it is asked for again, so announces go on when
 * the database is away; one that was forgotten never does.
 *
 * @param options `load` answers for those that exist; `namesOf` says under which names a value is found; `own`
 *   copies a name that is to be remembered: one cut out of a URL would keep all of the URL in memory
 */
export function createCache<Name extends string, Value>(options: {
  clock: Clock
  trustMs: number
  size: number
  load: (names: readonly Name[]) => Promise<ReadonlyMap<Name, Value>>
  namesOf: (value: Value, asked: Name) => readonly Name[]
  own: (name: Name) => Name
}): LookupCache<Name, Value> {
  const { clock, size } = options
  const present = new Map<Name, Entry<Value>>()
  const absent = new Map<Name, Entry<Value>>()
  const pending = new Map<Name, Promise<Value | undefined>>()
  let epoch = 0
  // Rises with everything forgotten: what was being loaded meanwhile may be the state before.
  let forgotten = 0

  const keep = (map: Map<Name, Entry<Value>>, name: Name, value: Value | undefined, bound: number): void => {
    map.delete(name)
    map.set(name, { value, trustedUntil: clock.now() + options.trustMs, epoch })
    if (map.size <= bound) return
    const oldest = map.keys().next()
    if (oldest.done !== true) map.delete(oldest.value)
  }
  const store = (name: Name, value: Value | undefined): void => {
    if (value === undefined) {
      present.delete(name)
      keep(absent, name, undefined, ABSENCES)
      return
    }
    for (const each of options.namesOf(value, name)) {
      absent.delete(each)
      keep(present, each, value, size)
    }
  }

  const ask = createBatcher(async (names: readonly Name[]) => {
    const before = forgotten
    const found = await options.load(names)
    return names.map((name) => ({ value: found.get(name), before }))
  }, LOADS)

  const load = (asking: Name): Promise<Value | undefined> => {
    const already = pending.get(asking)
    if (already) return already
    const name = options.own(asking)
    const settle = (): void => {
      if (pending.get(name) === answer) pending.delete(name)
    }
    const answer = ask(name).then(
      ({ value, before }) => {
        settle()
        if (before === forgotten) store(name, value)
        return value
      },
      (error: unknown) => {
        settle()
        const entry = present.get(name) ?? absent.get(name)
        if (entry) entry.trustedUntil = clock.now() + RETRY_MS
        throw error
      },
    )
    pending.set(name, answer)
    return answer
  }

  return {
    get: (name) => {
      const entry = present.get(name) ?? absent.get(name)
      if (!entry) return load(name)
      if (entry.trustedUntil <= clock.now() || entry.epoch !== epoch) {
        entry.trustedUntil = clock.now() + RETRY_MS
        entry.epoch = epoch
        load(name).catch(() => undefined)
      }
      return entry.value
    },
    forget: (name) => {
      forgotten += 1
      pending.delete(name)
      const value = present.get(name)?.value
      if (value !== undefined) for (const each of options.namesOf(value, name)) present.delete(each)
      // What is new may have been asked for under any of its names.
      absent.clear()
    },
    doubt: () => {
      epoch += 1
      // What is being loaded may have been read before the change that was missed.
      forgotten += 1
    },
  }
}
