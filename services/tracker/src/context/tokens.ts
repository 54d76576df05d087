import { trustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import { createApiTokenStore } from '../tokens/api-tokens.store.ts'
import { createApiTokens } from '../tokens/api-tokens.ts'
import { createTokenUseStore } from '../tokens/token-uses.store.ts'
import { createTokenUses } from '../tokens/token-uses.ts'
import { createTokenStore } from '../tokens/tokens.store.ts'
import { createTokens } from '../tokens/tokens.ts'
import type { Connections } from './connections.ts'

const RECORD_EVERY_MS = 5_000

export type TokenUseCases = ReturnType<typeof createTokenUseCases>

/** Creates the tokens of feeds and APIs. In the background, and at the end, their uses are recorded. */
export function createTokenUseCases({ db, clock, logger, resources, background, invalidations }: Connections) {
  const { publish } = invalidations
  const uses = createTokenUses({ store: createTokenUseStore(db), clock })
  const onError = (error: unknown): void => logger.warn({ err: error }, 'recording the use of tokens failed')
  background.add({ everyMs: RECORD_EVERY_MS, task: () => uses.flush(), onError })
  resources.defer(() => uses.flush().catch(onError))
  return {
    tokens: createTokens({ store: createTokenStore(db), uses, publish, clock }),
    apiTokens: createApiTokens({
      store: createApiTokenStore(db, clock),
      uses,
      isInRanges: (ranges, address) => trustedProxies(ranges).isTrusted(address),
      ...{ publish, clock },
    }),
    tokenUses: uses,
  }
}
