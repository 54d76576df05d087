import { createExchangeStore } from '../exchange/exchanges.store.ts'
import { createExchanges } from '../exchange/exchanges.ts'
import { createIssuerClient } from '../exchange/issuer-keys.http.ts'
import { createIssuerKeys } from '../exchange/issuer-keys.ts'
import { createTrustRuleStore } from '../exchange/trust-rules.store.ts'
import { createTrustRules } from '../exchange/trust-rules.ts'
import type { OwnerTurns } from '../limits/owner-turns.ts'
import type { Connections } from './connections.ts'

/** Creates trust rules, and the exchange of ID tokens for keys. */
export function createExchangeParts(connections: Connections, inTurn: OwnerTurns) {
  const { config, db, rows, nonces, clock, logger } = connections
  const allowLoopback = config.OIDC_ALLOW_LOOPBACK
  const trustRules = createTrustRules({ store: createTrustRuleStore(db), rows, inTurn, clock, allowLoopback })
  const issuerKeys = createIssuerKeys({
    fetchKeys: createIssuerClient({ allowLoopback }),
    clock,
    onError: (issuer, error) => logger.warn({ issuer, err: error }, 'keys of an issuer cannot be fetched'),
  })
  const exchanges = createExchanges({
    ...{ store: createExchangeStore(db), trustRules, issuerKeys, nonces, rows, inTurn, clock },
  })
  return { trustRules, exchanges }
}
