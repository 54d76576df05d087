import { apiError } from '../errors.ts'
import { alwaysWanted, givenUp, type Wanted, whileWanted } from './wanted.ts'

/** Work of an owner, and the name of the project that it changes. */
export type OwnerTurn = {
  readonly owner: string
  readonly project?: string
  readonly wanted?: Wanted | undefined
}

/** Runs work when it is its turn. @throws ApiError unavailable if it was given up, or too much is waiting */
export type OwnerTurns = <T>(turn: OwnerTurn, work: () => Promise<T>) => Promise<T>

/** Less than a second of work. */
const MAX_PER_OWNER = 60
const MAX_WAITING = 1_000

type Waiting = OwnerTurn & { readonly start: () => void }

/**
 * Serialises the work of each owner, and the changes of each project, in this process, and gives owners their turns
 * round-robin. Writes to a project wait for each other in the database anyway, where each would occupy a connection.
 *
 * Work that is given up while it waits does not run. If it is already running, its client gets the error at once, and it
 * keeps its turn until it has ended.
 *
 * @param atOnce how much runs at a time; of writes, fewer than there are connections
 * @param busy the message if too much is waiting
 */
export function createOwnerTurns(atOnce: number, busy: string): OwnerTurns {
  /** In the order of the owners' next turns. */
  const owners = new Map<string, Waiting[]>()
  const busyOwners = new Set<string>()
  const busyProjects = new Set<string>()
  let count = 0

  function startNext(): void {
    for (const [owner, turns] of owners) {
      if (busyOwners.size >= atOnce) return
      const next = busyOwners.has(owner) ? undefined : turns.find(({ project }) => !isBusy(project))
      if (next === undefined) continue
      remove(next)
      busyOwners.add(owner)
      if (next.project !== undefined) busyProjects.add(next.project)
      next.start()
    }
  }

  function isBusy(project: string | undefined): boolean {
    return project !== undefined && busyProjects.has(project)
  }

  function remove(turn: Waiting): void {
    const turns = owners.get(turn.owner) ?? []
    const place = turns.indexOf(turn)
    if (place === -1) return
    turns.splice(place, 1)
    count -= 1
    if (turns.length === 0) owners.delete(turn.owner)
  }

  function ended({ owner, project }: OwnerTurn): void {
    busyOwners.delete(owner)
    if (project !== undefined) busyProjects.delete(project)
    const others = owners.get(owner)
    if (others !== undefined) {
      owners.delete(owner)
      owners.set(owner, others)
    }
    startNext()
  }

  function turnOf(turn: OwnerTurn, { signal }: Wanted): Promise<void> {
    const turns = owners.get(turn.owner) ?? []
    if (turns.length >= MAX_PER_OWNER || count >= MAX_WAITING) throw apiError('unavailable', busy)
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        remove(waiting)
        reject(givenUp())
      }
      const start = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const waiting: Waiting = { ...turn, start }
      signal.addEventListener('abort', leave, { once: true })
      owners.set(turn.owner, turns)
      turns.push(waiting)
      count += 1
      startNext()
    })
  }

  return async (turn, work) => {
    const wanted = turn.wanted ?? alwaysWanted()
    wanted.assert()
    await turnOf(turn, wanted)
    const running = (async () => {
      try {
        wanted.assert()
        return await work()
      } finally {
        ended(turn)
      }
    })()
    return whileWanted(wanted, running)
  }
}
