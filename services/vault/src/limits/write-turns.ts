import { apiError } from '../errors.ts'
import { alwaysWanted, givenUp, type Wanted, whileWanted } from './wanted.ts'

/** A write of an owner to a project, which is given by its name. */
export type Write = { readonly owner: string; readonly project: string; readonly wanted?: Wanted | undefined }

/** Runs a write when it is its turn. @throws ApiError unavailable if it was given up, or too many are waiting */
export type WriteTurns = <T>(write: Write, work: () => Promise<T>) => Promise<T>

/** Less than a second of work. */
const MAX_PER_OWNER = 60
const MAX_WAITING = 1_000

type Waiting = Write & { readonly start: () => void }

/**
 * Serialises the writes of each owner and of each project in this process, and gives owners their turns round-robin. Writes
 * to a project wait for each other in the database anyway, where each would occupy a connection.
 *
 * A write that is given up while it waits does not run. If it is already running, its client gets the error at once, and it
 * keeps its turn until it has ended.
 *
 * @param atOnce how many writes run at a time: fewer than there are connections
 */
export function createWriteTurns(atOnce: number): WriteTurns {
  /** In the order of the owners' next turns. */
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
    if (writes.length >= MAX_PER_OWNER || count >= MAX_WAITING)
      throw apiError('unavailable', 'Too many writes are waiting. Try again in a moment.')
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
