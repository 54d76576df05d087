import type { Clock } from 'service-kit/clock'

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

/** How many names one load asks for. */
const BATCH = 500
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
  const asked: { name: Name; resolve: (value: Value | undefined) => void; reject: (error: unknown) => void }[] = []
  let loading = false
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

  const loadBatch = async (): Promise<void> => {
    const batch = asked.splice(0, BATCH)
    const before = forgotten
    try {
      const found = await options.load(batch.map(({ name }) => name))
      for (const { name, resolve } of batch) {
        pending.delete(name)
        const value = found.get(name)
        if (before === forgotten) store(name, value)
        resolve(value)
      }
    } catch (error) {
      for (const { name, reject } of batch) {
        pending.delete(name)
        const entry = present.get(name) ?? absent.get(name)
        if (entry) entry.trustedUntil = clock.now() + RETRY_MS
        reject(error)
      }
    }
  }
  const loadAll = async (): Promise<void> => {
    while (asked.length > 0) await loadBatch()
    loading = false
  }
  const load = (asking: Name): Promise<Value | undefined> => {
    const already = pending.get(asking)
    if (already) return already
    const name = options.own(asking)
    const answer = new Promise<Value | undefined>((resolve, reject) => asked.push({ name, resolve, reject }))
    pending.set(name, answer)
    if (!loading) {
      loading = true
      // One load at a time, and all that is asked in this turn in the first.
      setImmediate(() => void loadAll())
    }
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
