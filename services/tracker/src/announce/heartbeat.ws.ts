import type { Connection } from './connection.ws.ts'

/** Pings every connection, and ends one that does not answer until the next ping. */
export type Heartbeat = {
  add(connection: Connection): void
  remove(connection: Connection): void
  stop(): void
  /** Ends the connections that are still there. */
  terminateAll(): void
}

/** Few connections at a time, so that messages do not wait for pings. */
const GROUPS = 300

/** Starts it. One timer serves all connections, and pings one group of them at a time. */
export function startHeartbeat(pingEveryMs: number): Heartbeat {
  const groups = Array.from({ length: GROUPS }, () => new Set<Connection>())
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
