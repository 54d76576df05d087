/** Closes connections that send no valid request in time. */
export type FirstRequestTimeout<Connection> = {
  add(connection: Connection): void
  remove(connection: Connection): void
  stop(): void
}

/** How many times within the timeout the connections are checked. */
const CHECKS = 30

/**
 * Starts the timeout. One timer serves all connections, and a connection is forgotten after its first request.
 *
 * @param options `wasServed` tells whether a connection has sent a valid request; `onOverdue` is called for one that has
 *   not within `withinMs`
 */
export function startFirstRequestTimeout<Connection>(options: {
  withinMs: number
  wasServed: (connection: Connection) => boolean
  onOverdue: (connection: Connection) => void
}): FirstRequestTimeout<Connection> {
  const { withinMs, wasServed, onOverdue } = options
  const openedAt = new Map<Connection, number>()
  const timer = setInterval(() => {
    const due = performance.now() - withinMs
    for (const [connection, at] of openedAt) {
      if (!wasServed(connection)) {
        if (at > due) continue
        onOverdue(connection)
      }
      openedAt.delete(connection)
    }
  }, withinMs / CHECKS)
  timer.unref()
  return {
    add: (connection) => {
      openedAt.set(connection, performance.now())
    },
    remove: (connection) => {
      openedAt.delete(connection)
    },
    stop: () => clearInterval(timer),
  }
}
