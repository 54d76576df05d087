import type { PeerAnnounce } from '../swarm/swarm.ts'
import { type AnnouncingClients, clientName } from './announcing-clients.ts'
import type { Signalling } from './signalling.ts'
import type { SocketAnnounces } from './socket-announces.ts'
import { textFromHex } from './socket-replies.ts'
import type { Session, SocketPeer } from './socket-session.ts'

/** Removes peers from their swarms when their connections close. Never fails: what Redis could not be told is repeated. */
export type PeerRemoval = {
  remove(socketPeer: SocketPeer): Promise<void>
  removeAll(session: Session): Promise<void>
  /** Has the next `retry` remove a peer that Redis may count although its announce failed. */
  retryLater(peer: PeerAnnounce): void
  /** Repeats the removals that failed, except of clients that have announced again. */
  retry(): Promise<void>
  /** Waits for the removals under way, and repeats those that failed; returns whether Redis knows of all. */
  finish(): Promise<boolean>
}

/** Beyond so many failed removals, peers are left to expire. */
const MAX_FAILED = 100_000

/** Creates the removal of peers. */
export function createPeerRemoval(options: {
  announces: SocketAnnounces
  signalling: Signalling<SocketPeer>
  announcing: AnnouncingClients
}): PeerRemoval {
  const { announces, signalling, announcing } = options
  const underWay = new Set<Promise<void>>()
  let failed: PeerAnnounce[] = []

  const retryLater = (peer: PeerAnnounce): void => {
    if (failed.length < MAX_FAILED) failed.push(peer)
  }

  const close = async (announce: PeerAnnounce): Promise<void> => {
    const closed = announces.close(announce).catch(() => retryLater(announce))
    underWay.add(closed)
    await closed
    underWay.delete(closed)
  }

  const remove = async (socketPeer: SocketPeer): Promise<void> => {
    const { signalPeer, announce } = socketPeer
    socketPeer.signalPeer = undefined
    if (signalPeer === undefined || announce === undefined) return
    // Another connection of this client has taken the entry over.
    if (signalling.bySerial(signalPeer.serial)?.socket !== socketPeer) return
    signalling.leave(signalPeer)
    await close(announce)
  }

  /** Whether the client has announced again: then it must stay counted. */
  const isBack = (announce: PeerAnnounce): boolean => {
    const client = clientName(announce, textFromHex(announce.peerId))
    return (
      announcing.holderOf(client) !== undefined ||
      signalling.find(client.swarm, client.owner, client.peerId) !== undefined
    )
  }

  const retry = async (): Promise<void> => {
    const again = failed
    failed = []
    await Promise.all(again.filter((announce) => !isBack(announce)).map(close))
  }

  return {
    remove,
    removeAll: async ({ peers }) => {
      const all = [...peers.values()]
      peers.clear()
      await Promise.all(all.map(remove))
    },
    retryLater,
    retry,
    finish: async () => {
      await Promise.all(underWay)
      await retry()
      return failed.length === 0
    },
  }
}
