import { createRedisSwarms } from '../../src/swarm/swarm.redis.ts'
import {
  announced,
  type PeerAnnounce,
  type SocketAnnounce,
  type SwarmAnswer,
  type Swarms,
} from '../../src/swarm/swarm.ts'

/** Swarms whose announces a test waits for. */
export type TestSwarms = Omit<Swarms, 'announce'> & {
  announce(peer: PeerAnnounce): Promise<SwarmAnswer>
  announceOverSocket(peer: PeerAnnounce, socket: SocketAnnounce): Promise<SwarmAnswer>
}

export function createTestSwarms(options: Parameters<typeof createRedisSwarms>[0]): TestSwarms {
  const swarms = createRedisSwarms(options)
  return {
    ...swarms,
    announce: (peer) => announced(swarms, peer),
    announceOverSocket: (peer, socket) => announced(swarms, peer, socket),
  }
}
