/** Connections that have to show within a time that they belong to a user. */
export type Strangers<Each> = {
  add(connection: Each): void
  remove(connection: Each): void
  stop(): void
}

/** How often it is looked whose time is over, as a part of that time. */
const LOOKS = 30

/**
 * Waits for connections to be known. One timer serves all, and a connection that is known costs nothing any more.
 *
 * @param options `onOverdue` is called for one that is not known in time
 */
export function startStrangers<Each>(options: {
  withinMs: number
  isKnown: (connection: Each) => boolean
  onOverdue: (connection: Each) => void
}): Strangers<Each> {
  const { withinMs, isKnown, onOverdue } = options
  const openedAt = new Map<Each, number>()
  const timer = setInterval(() => {
    const due = performance.now() - withinMs
    for (const [connection, at] of openedAt) {
      if (!isKnown(connection)) {
        if (at > due) continue
        onOverdue(connection)
      }
      openedAt.delete(connection)
    }
  }, withinMs / LOOKS)
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
