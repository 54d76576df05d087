import type { WebSocket } from 'ws'

/** What is known of a connection between two pings. */
export type Beat = {
  /** Something was heard of it since the last ping. */
  alive: boolean
  /** It is not read at the moment, so nothing can be heard of it. */
  paused: boolean
  readonly socket: WebSocket
}

/** Pings every connection, and ends one that does not answer until the next ping. */
export type Heartbeat = {
  add(beat: Beat): void
  remove(beat: Beat): void
  stop(): void
  /** Ends the connections that are still there. */
  terminateAll(): void
}

const GROUPS = 30

/** Starts it. One timer serves all connections, and pings a thirtieth of them at a time. */
export function startHeartbeat(pingEveryMs: number): Heartbeat {
  const groups = Array.from({ length: GROUPS }, () => new Set<Beat>())
  let turn = 0
  const timer = setInterval(() => {
    turn = (turn + 1) % GROUPS
    for (const beat of groups[turn] ?? []) {
      if (!beat.alive && !beat.paused) beat.socket.terminate()
      beat.alive = false
      if (!beat.paused) beat.socket.ping()
    }
  }, pingEveryMs / GROUPS)
  timer.unref()
  return {
    add: (beat) => groups[Math.floor(Math.random() * GROUPS)]?.add(beat),
    remove: (beat) => {
      for (const group of groups) if (group.delete(beat)) return
    },
    stop: () => clearInterval(timer),
    terminateAll: () => {
      for (const group of groups) for (const { socket } of group) socket.terminate()
    },
  }
}
