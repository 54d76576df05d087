import type { Cluster, Redis } from 'ioredis'
import { createClientCensus } from '../clients/client-census.ts'
import { type ClientRule, rulesOfPrefixes } from '../clients/client-rules.ts'
import { createClientStore } from '../clients/clients.store.ts'
import { createClients } from '../clients/clients.ts'
import type { Config } from '../config.ts'
import { createPeerList } from '../swarm/peer-list.redis.ts'
import { createSwarmPages } from '../swarm/swarm-names.redis.ts'
import type { Connections } from './connections.ts'
import { swarmSettings } from './swarms.ts'

/** The client rules of the configuration. */
export function serverRules({ CLIENTS_ALLOWED, CLIENTS_DENIED }: Config): readonly ClientRule[] {
  return rulesOfPrefixes({ allowed: CLIENTS_ALLOWED, denied: CLIENTS_DENIED })
}

export type ClientsPart = ReturnType<typeof createClientsPart>

/** Creates the client rules, and the count of clients that the leading process runs. */
export function createClientsPart(
  { config, db, clock, swarmClock, invalidations }: Connections,
  redis: Redis | Cluster,
) {
  const store = createClientStore(db)
  const { publish } = invalidations
  return {
    clients: createClients({ store, defaults: serverRules(config), publish, clock }),
    clientCensus: createClientCensus({
      page: createSwarmPages(redis),
      peers: createPeerList({ redis, clock: swarmClock, settings: swarmSettings(config) }),
      write: (day, counts) => store.write(day, counts),
      clock,
    }),
  }
}
