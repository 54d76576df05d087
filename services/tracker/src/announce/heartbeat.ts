/** What the heartbeat needs of a connection. */
export type PingedConnection = {
  /** Something was received since the last ping. */
  heard: boolean
  /** It is not read at the moment, so nothing can be received. */
  readonly held: boolean
  /** Which group it is in; set by the heartbeat. */
  pingGroup: number
  ping(): void
  terminate(): void
}

/** Pings every connection, and ends one that does not answer until the next ping. */
export type Heartbeat = {
  add(connection: PingedConnection): void
  remove(connection: PingedConnection): void
  stop(): void
  /** Ends the connections that are still there. */
  terminateAll(): void
}

/** Few connections at a time, so that messages do not wait for pings. */
const GROUPS = 300

/** Starts the heartbeat. One timer serves all connections, and pings one group of them at a time. */
export function startHeartbeat(pingEveryMs: number): Heartbeat {
  const groups = Array.from({ length: GROUPS }, () => new Set<PingedConnection>())
  let turn = 0
  const timer = setInterval(() => {
    turn = (turn + 1) % GROUPS
    for (const connection of groups[turn] ?? []) {
      if (!connection.heard && !connection.held) connection.terminate()
      connection.heard = false
      if (!connection.held) connection.ping()
    }
  }, pingEveryMs / GROUPS)
  timer.unref()
  return {
    add: (connection) => {
      connection.pingGroup = Math.floor(Math.random() * GROUPS)
      groups[connection.pingGroup]?.add(connection)
    },
    remove: (connection) => groups[connection.pingGroup]?.delete(connection),
    stop: () => clearInterval(timer),
    terminateAll: () => {
      for (const group of groups) for (const connection of group) connection.terminate()
    },
  }
}
