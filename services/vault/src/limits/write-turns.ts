import { apiError } from '../errors.ts'
import { alwaysWanted, givenUp, type Wanted, whileWanted } from './wanted.ts'

/** A write: who makes it, the name of the project that it changes, and whether somebody still waits for it. */
export type Write = { readonly owner: string; readonly project: string; readonly wanted?: Wanted | undefined }

/** Runs a write when it is its turn, unless it was given up. @throws ApiError unavailable when it was, or too many wait */
export type WriteTurns = <T>(write: Write, work: () => Promise<T>) => Promise<T>

/** What one application writes at once, and less than a second of work. */
const MOST_OF_AN_OWNER = 60
const MOST_OF_ALL = 1_000

type Waiting = Write & { readonly start: () => void }

/**
 * Lets writes take turns in this process: one at a time of each owner and on each project, and owners one after another.
 * In the database they wait for each other anyway, and each of them would hold a connection meanwhile: those of one
 * project, or of one administrator, would take them all.
 *
 * A write that was given up while it waited does not run. One that runs then is answered at once and keeps its turn until
 * it has ended; before it commits it asks whether it is wanted.
 *
 * @param atOnce how many run at a time: fewer than there are connections
 */
export function createWriteTurns(atOnce: number): WriteTurns {
  /** In the order in which owners have their next turn. */
  const owners = new Map<string, Waiting[]>()
  const busyOwners = new Set<string>()
  const busyProjects = new Set<string>()
  let count = 0

  function startNext(): void {
    for (const [owner, writes] of owners) {
      if (busyOwners.size >= atOnce) return
      const next = busyOwners.has(owner) ? undefined : writes.find(({ project }) => !busyProjects.has(project))
      if (next === undefined) continue
      remove(next)
      busyOwners.add(owner)
      busyProjects.add(next.project)
      next.start()
    }
  }

  function remove(write: Waiting): void {
    const writes = owners.get(write.owner) ?? []
    const place = writes.indexOf(write)
    if (place === -1) return
    writes.splice(place, 1)
    count -= 1
    if (writes.length === 0) owners.delete(write.owner)
  }

  function ended({ owner, project }: Write): void {
    busyOwners.delete(owner)
    busyProjects.delete(project)
    const others = owners.get(owner)
    if (others !== undefined) {
      owners.delete(owner)
      owners.set(owner, others)
    }
    startNext()
  }

  function turnOf(write: Write, { signal }: Wanted): Promise<void> {
    const writes = owners.get(write.owner) ?? []
    if (writes.length >= MOST_OF_AN_OWNER || count >= MOST_OF_ALL)
      throw apiError('unavailable', 'Too many writes at once. Try again in a moment.')
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        remove(waiting)
        reject(givenUp())
      }
      const start = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const waiting: Waiting = { ...write, start }
      signal.addEventListener('abort', leave, { once: true })
      owners.set(write.owner, writes)
      writes.push(waiting)
      count += 1
      startNext()
    })
  }

  return async (write, work) => {
    const wanted = write.wanted ?? alwaysWanted()
    wanted.assert()
    await turnOf(write, wanted)
    const running = (async () => {
      try {
        wanted.assert()
        return await work()
      } finally {
        ended(write)
      }
    })()
    return whileWanted(wanted, running)
  }
}
