import { createTrustRuleStore } from '../exchange/trust-rules.store.ts'
import { createTrustRules } from '../exchange/trust-rules.ts'
import type { WriteTurns } from '../limits/write-turns.ts'
import type { Connections } from './connections.ts'

/** Creates trust rules. */
export function createExchangeParts({ config, db, rows, clock }: Connections, inTurn: WriteTurns) {
  const trustRules = createTrustRules({
    ...{ store: createTrustRuleStore(db), rows, inTurn, clock },
    allowLoopback: config.OIDC_ALLOW_LOOPBACK,
  })
  return { trustRules }
}
