import type { PeerAnnounce } from '../swarm/swarm.ts'
import { type Claims, clientName } from './claims.ts'
import type { Signalling } from './signalling.ts'
import type { SocketAnnounces } from './socket-announces.ts'
import type { Seat, Session } from './socket-session.ts'

/** Takes peers out of their swarms when their sockets are gone. Never fails: what Redis misses is repeated. */
export type Departures = {
  leave(seat: Seat): Promise<void>
  leaveAll(session: Session): Promise<void>
  /** Notes a peer that Redis may count, though its announce failed. */
  note(peer: PeerAnnounce): void
  /** Repeats what Redis missed. */
  retry(): Promise<void>
  /** Waits for what is under way; tells whether Redis missed nothing. */
  settle(): Promise<boolean>
}

/** A process that lost so many sockets while Redis was away leaves the rest to their expiry. */
const MAX_MISSED = 100_000

/** Creates it. */
export function createDepartures(options: {
  announces: SocketAnnounces
  signalling: Signalling<Seat>
  claims: Claims
}): Departures {
  const { announces, signalling, claims } = options
  const closing = new Set<Promise<void>>()
  let missed: PeerAnnounce[] = []

  const note = (peer: PeerAnnounce): void => {
    if (missed.length < MAX_MISSED) missed.push(peer)
  }

  const close = async (announce: PeerAnnounce): Promise<void> => {
    const closed = announces.close(announce).catch(() => note(announce))
    closing.add(closed)
    await closed
    closing.delete(closed)
  }

  const leave = async (seat: Seat): Promise<void> => {
    const { peer, announce } = seat
    seat.peer = undefined
    // Where another socket of this client has taken the place, there is nothing to end.
    if (peer === undefined || announce === undefined || signalling.bySerial(peer.serial)?.socket !== seat) return
    signalling.leave(peer)
    await close(announce)
  }

  /** Whoever has the client now says so with each announce. */
  const isBack = (announce: PeerAnnounce): boolean => {
    const client = clientName(announce, Buffer.from(announce.peerId, 'hex').toString('latin1'))
    return (
      claims.holder(client) !== undefined || signalling.find(client.swarm, client.owner, client.peerId) !== undefined
    )
  }

  const retry = async (): Promise<void> => {
    const again = missed
    missed = []
    await Promise.all(again.filter((announce) => !isBack(announce)).map(close))
  }

  return {
    leave,
    leaveAll: async ({ seats }) => {
      const all = [...seats.values()]
      seats.clear()
      await Promise.all(all.map(leave))
    },
    note,
    retry,
    settle: async () => {
      await Promise.all(closing)
      await retry()
      return missed.length === 0
    },
  }
}
