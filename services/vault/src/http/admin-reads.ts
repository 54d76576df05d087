import type { Administrator } from '../access/administrator.ts'
import { createOwnerTurns } from '../limits/owner-turns.ts'
import type { VaultEndpoint } from './surface.ts'

/** A list of many keys takes the thread for 20 ms, and applications that fetch secrets wait meanwhile. */
const READS_AT_ONCE = 4

/** Runs one read of each administrator at a time, and few in total. Exports read page by page, in turns of their own. */
export function administratorsTakeTurns<Deps>(
  endpoints: readonly VaultEndpoint<Deps>[],
): readonly VaultEndpoint<Deps>[] {
  const inTurn = createOwnerTurns(READS_AT_ONCE, 'Too many of your requests are waiting. Try again in a moment.')
  return endpoints.map((endpoint) => {
    if (endpoint.access !== 'admin' || endpoint.method !== 'GET' || endpoint.answerTypes !== undefined) return endpoint
    return {
      ...endpoint,
      run: (input, ...rest) => {
        // The guard of this access returned it.
        const { actor: owner } = input.caller as Administrator
        return inTurn({ owner }, () => endpoint.run(input, ...rest))
      },
    }
  })
}
