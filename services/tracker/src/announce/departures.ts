import type { PeerAnnounce } from '../swarm/swarm.ts'
import type { Signalling } from './signalling.ts'
import type { SocketAnnounces } from './socket-announces.ts'
import type { Seat, Session } from './socket-session.ts'

/** Takes peers out of their swarms when their sockets are gone. Never fails: what Redis misses is repeated. */
export type Departures = {
  leave(seat: Seat): Promise<void>
  leaveAll(session: Session): Promise<void>
  /** Repeats what Redis missed. */
  retry(): Promise<void>
}

/** A process that lost so many sockets while Redis was away leaves the rest to their expiry. */
const MAX_MISSED = 100_000

/** Creates it. */
export function createDepartures(options: { announces: SocketAnnounces; signalling: Signalling<Seat> }): Departures {
  const { announces, signalling } = options
  let missed: PeerAnnounce[] = []

  const close = async (announce: PeerAnnounce): Promise<void> => {
    try {
      await announces.close(announce)
    } catch {
      if (missed.length < MAX_MISSED) missed.push(announce)
    }
  }

  const leave = async (seat: Seat): Promise<void> => {
    const { peer, announce } = seat
    seat.peer = undefined
    // Where another socket of this client has taken the place, there is nothing to end.
    if (peer === undefined || announce === undefined || signalling.bySerial(peer.serial)?.socket !== seat) return
    signalling.leave(peer)
    await close(announce)
  }

  return {
    leave,
    leaveAll: async ({ seats }) => {
      const all = [...seats.values()]
      seats.clear()
      await Promise.all(all.map(leave))
    },
    retry: async () => {
      const again = missed
      missed = []
      const isBack = ({ swarm, owner, peerId }: PeerAnnounce): boolean => {
        const text = Buffer.from(peerId, 'hex').toString('latin1')
        return signalling.find(swarm.toString('latin1'), owner.toString('latin1'), text) !== undefined
      }
      await Promise.all(again.filter((announce) => !isBack(announce)).map(close))
    },
  }
}
