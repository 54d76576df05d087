import type { PeerAnnounce } from '../swarm/swarm.ts'
import type { SocketAnnounces } from './announces.ts'
import { POLICY_VIOLATION, type SocketConnection, type SocketPeer } from './connections.ts'
import { textFromHex } from './messages.ts'
import { type Client, keyOf, type Signalling } from './signalling.ts'

/** Maximum number of failed removals to repeat. Further peers are left to expire. */
const MAX_FAILED = 100_000

/** The client of an announce. */
export function clientOf({ swarm, owner, peerId }: PeerAnnounce): Client {
  return { swarm: swarm.toString('latin1'), owner: owner.toString('latin1'), peerId: textFromHex(peerId) }
}

/**
 * The peers with an announce under way, by client. Redis stores which process has a client. This map distinguishes two
 * connections of one process.
 */
export type Claims = Map<string, SocketPeer>

/** Removes peers from their swarms. Never throws: failed removals are repeated. */
export class PeerRemoval {
  private readonly announces: SocketAnnounces
  private readonly signalling: Signalling<SocketPeer>
  private readonly claims: Claims
  private readonly underWay = new Set<Promise<void>>()
  private failed: PeerAnnounce[] = []

  constructor(announces: SocketAnnounces, signalling: Signalling<SocketPeer>, claims: Claims) {
    this.announces = announces
    this.signalling = signalling
    this.claims = claims
  }

  async remove(peer: SocketPeer): Promise<void> {
    const { announce } = peer
    // Another connection of this client may have replaced it.
    if (this.signalling.leave(peer) && announce !== undefined) await this.close(announce)
  }

  async removeAll(connection: SocketConnection): Promise<void> {
    connection.isEnded = true
    const removed = [...connection.peers.values()].map((peer) => this.remove(peer))
    connection.peers.clear()
    await Promise.all(removed)
  }

  /** Closes a connection after its peers are removed, so that no count includes a closed connection. */
  async end(connection: SocketConnection, code: number, reason: string): Promise<void> {
    if (connection.isEnded) return
    await this.removeAll(connection)
    connection.closeWith(code, reason)
  }

  /** Ends a connection that does not answer a ping. Returns whether it was ended. */
  async endUnlessAlive(connection: SocketConnection): Promise<boolean> {
    if (await connection.isAlive()) return false
    await this.end(connection, POLICY_VIOLATION, 'Ping timeout')
    return true
  }

  /** Queues the removal of a peer that Redis may count although its announce failed. */
  retryLater(announce: PeerAnnounce): void {
    if (this.failed.length < MAX_FAILED) this.failed.push(announce)
  }

  /** Repeats failed removals, except of clients that have announced again, which must stay counted. */
  async retry(): Promise<void> {
    const again = this.failed.filter((announce) => {
      const client = clientOf(announce)
      return !this.claims.has(keyOf(client)) && this.signalling.find(client) === undefined
    })
    this.failed = []
    await Promise.all(again.map((announce) => this.close(announce)))
  }

  /** Waits for removals under way, and repeats failed ones. Returns whether all succeeded. */
  async finish(): Promise<boolean> {
    await Promise.all(this.underWay)
    await this.retry()
    return this.failed.length === 0
  }

  private async close(announce: PeerAnnounce): Promise<void> {
    const closed = this.announces.close(announce).catch(() => this.retryLater(announce))
    this.underWay.add(closed)
    await closed
    this.underWay.delete(closed)
  }
}
