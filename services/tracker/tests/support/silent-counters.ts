import type { SocketCounters } from '../../src/announce/socket-counters.ts'

const ignore = (): void => undefined

/** Counters of sockets for tests that do not ask for counts. */
export const SILENT_COUNTERS: SocketCounters = {
  countOpened: ignore,
  countClosed: ignore,
  countMessage: ignore,
  countRelayed: ignore,
  countDropped: ignore,
  countRefused: ignore,
}
