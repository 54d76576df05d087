import type { PeerAnnounce } from '../swarm/swarm.ts'
import type { SocketPeer } from './socket-session.ts'

/**
 * The clients whose announce is under way, and on which connection. Redis knows which process has a client, so two
 * connections of one process are told apart here.
 */
export type AnnouncingClients = {
  /** The last peer to announce this client, until its announce has ended. */
  holderOf(client: ClientName): SocketPeer | undefined
  begin(client: ClientName, socketPeer: SocketPeer): void
  /** Ends the announce, unless another peer has begun one of the same client. */
  end(client: ClientName, socketPeer: SocketPeer): void
}

/** A client in a swarm, as strings of one character for each byte; `key` is all three in one. */
export type ClientName = {
  readonly swarm: string
  readonly owner: string
  readonly peerId: string
  readonly key: string
}

/** Names the client of an announce; `peerId` is that of the announce, one character for each byte. */
export function clientName(announce: PeerAnnounce, peerId: string): ClientName {
  const swarm = announce.swarm.toString('latin1')
  const owner = announce.owner.toString('latin1')
  return { swarm, owner, peerId, key: swarm + owner + peerId }
}

/** Creates the list. */
export function createAnnouncingClients(): AnnouncingClients {
  const peers = new Map<string, SocketPeer>()
  return {
    holderOf: ({ key }) => peers.get(key),
    begin: ({ key }, socketPeer) => {
      peers.set(key, socketPeer)
    },
    end: ({ key }, socketPeer) => {
      if (peers.get(key) === socketPeer) peers.delete(key)
    },
  }
}
