import { apiError } from '../errors.ts'

/** How many clients wait for changes in this process: of one project, and altogether. */
export type WaitingLimits = { readonly perProject: number; readonly total: number }

/** A client that waits for a change. It occupies its place until `leave`. */
export type Waiter = {
  /**
   * Resolves with `woken` after a change, even if that was announced before this call, and with `over` when the time is
   * up, the client disconnected, or the service stops.
   */
  next(ms: number): Promise<'woken' | 'over'>
  /** Waits for changes of other environments too. False if it does so already. */
  follow(places: readonly string[]): boolean
  leave(): void
}

/** The environment that a client waits for. */
type Place = { readonly projectUid: string; readonly env: string; readonly gone: AbortSignal | undefined }

type Waiting = { isWoken: boolean; resume: (() => void) | undefined }

/** Changes often come in groups, such as an import. Clients are woken once for all changes within this time. */
const SETTLE_MS = 100

/** Keeps waiting clients by environment. A waiting client costs memory only, no statement and no connection. */
export function createWaitingClients(limits: WaitingLimits) {
  const places = new Map<string, Set<Waiting>>()
  const perProject = new Map<string, number>()
  const settling = new Map<string, NodeJS.Timeout>()
  const stopping = new AbortController()
  let count = 0

  function wake(waiting: Waiting): void {
    waiting.isWoken = true
    waiting.resume?.()
  }

  function add(projectUid: string, difference: 1 | -1): void {
    count += difference
    const sum = (perProject.get(projectUid) ?? 0) + difference
    if (sum === 0) perProject.delete(projectUid)
    else perProject.set(projectUid, sum)
  }

  function enterPlace(place: string, waiting: Waiting): void {
    places.set(place, (places.get(place) ?? new Set()).add(waiting))
  }

  function leavePlace(place: string, waiting: Waiting): void {
    const others = places.get(place)
    others?.delete(waiting)
    if (others?.size === 0) places.delete(place)
  }

  function pause(waiting: Waiting, ms: number, gone: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const resume = (): void => {
        clearTimeout(timer)
        gone?.removeEventListener('abort', resume)
        waiting.resume = undefined
        resolve()
      }
      const timer = setTimeout(resume, ms)
      gone?.addEventListener('abort', resume, { once: true })
      waiting.resume = resume
    })
  }

  return {
    /** How many clients wait. */
    count: (): number => count,

    /** Takes a place. @throws ApiError unavailable if too many clients wait */
    enter: ({ projectUid, env, gone }: Place): Waiter => {
      if (count >= limits.total || (perProject.get(projectUid) ?? 0) >= limits.perProject)
        throw apiError('unavailable', 'Too many clients are waiting for changes. Try again in a moment.')
      const waiting: Waiting = { isWoken: false, resume: undefined }
      const followed = [placeOf(projectUid, env)]
      enterPlace(placeOf(projectUid, env), waiting)
      add(projectUid, 1)
      let hasLeft = false
      return {
        next: async (ms) => {
          const isOver = (): boolean => stopping.signal.aborted || gone?.aborted === true || ms <= 0
          if (!waiting.isWoken && !isOver()) await pause(waiting, ms, gone)
          const { isWoken } = waiting
          waiting.isWoken = false
          return isWoken && !stopping.signal.aborted && gone?.aborted !== true ? 'woken' : 'over'
        },
        follow: (wanted) => {
          const added = wanted.filter((place) => !followed.includes(place))
          for (const place of added) enterPlace(place, waiting)
          followed.push(...added)
          return added.length > 0
        },
        leave: () => {
          if (hasLeft) return
          hasLeft = true
          add(projectUid, -1)
          for (const place of followed) leavePlace(place, waiting)
        },
      }
    },

    /** Wakes the clients of an environment, a moment later. */
    wake: (place: string): void => {
      if (!places.has(place) || settling.has(place)) return
      const timer = setTimeout(() => {
        settling.delete(place)
        for (const waiting of places.get(place) ?? []) wake(waiting)
      }, SETTLE_MS)
      settling.set(place, timer.unref())
    },

    /** Wakes all clients, after announcements may have been missed. */
    wakeAll: (): void => {
      for (const waiters of places.values()) for (const waiting of waiters) wake(waiting)
    },

    /** Ends the wait of all clients, including those that come later. */
    stop: (): void => {
      stopping.abort()
      for (const waiters of places.values()) for (const waiting of waiters) waiting.resume?.()
    },
  }
}

/** Identifies an environment in announcements. */
export function placeOf(projectUid: string, env: string): string {
  return `${projectUid}/${env}`
}
