import { apiError } from '../errors.ts'

/** Why a client is disconnected: the user has connected others, may not connect any more, or the service stops. */
export type EndReason = 'replaced' | 'refused' | 'stopping'

/** A connected client of a user. */
export type Listener = {
  readonly userId: string
  /** Whether the credential that opened the connection would still open it. May throw in an outage. */
  readonly isValid: () => Promise<boolean>
  /** Sends the text of an event, or of a heartbeat without an id. Never waits. */
  readonly send: (text: string, id?: number) => void
  readonly end: (reason: EndReason) => void
}

export type Audience = ReturnType<typeof createAudience>

/** Checks at the same time, so that they share few statements and delay no request. */
const CHECKED_AT_ONCE = 100

/**
 * The connected clients of this process.
 *
 * @param bounds of a user and of all. A further client of a user replaces the oldest, which may be a dead connection
 */
export function createAudience(bounds: { readonly perUser: number; readonly total: number }) {
  const listeners = new Set<Listener>()
  let isStopping = false

  function end(listener: Listener, reason: EndReason): void {
    listeners.delete(listener)
    listener.end(reason)
  }

  return {
    size: (): number => listeners.size,

    /** Adds a client. @throws ApiError UNAVAILABLE if there are too many, or the service stops */
    join(listener: Listener): void {
      if (isStopping || listeners.size >= bounds.total)
        throw apiError('UNAVAILABLE', 'Too many clients are connected. Try again later.')
      const own = [...listeners].filter(({ userId }) => userId === listener.userId)
      for (const oldest of own.slice(0, Math.max(0, own.length + 1 - bounds.perUser))) end(oldest, 'replaced')
      listeners.add(listener)
    },

    leave: (listener: Listener): void => void listeners.delete(listener),

    /** Sends a text to all. */
    send(text: string, id?: number): void {
      for (const listener of listeners) listener.send(text, id)
    },

    /** Disconnects clients whose credential has ended; by default, of all users. In an outage, they stay. */
    async check(userId?: string): Promise<void> {
      const all = [...listeners].filter((listener) => userId === undefined || listener.userId === userId)
      for (let from = 0; from < all.length; from += CHECKED_AT_ONCE)
        await Promise.all(
          all.slice(from, from + CHECKED_AT_ONCE).map(async (listener) => {
            if (!(await listener.isValid().catch(() => true)) && listeners.has(listener)) end(listener, 'refused')
          }),
        )
    },

    /** Disconnects all, and refuses further ones. */
    drain(): void {
      isStopping = true
      for (const listener of [...listeners]) end(listener, 'stopping')
    },
  }
}
