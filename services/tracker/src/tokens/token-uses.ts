import type { Clock } from '@vault-and-tracker/service-kit/core/clock'

/** A use of a token. */
export type TokenUse = { readonly id: string; readonly at: Date; readonly address: string }

export type TokenUseStore = {
  /** Records uses in one statement. A later use that another process recorded stays. */
  record(uses: readonly TokenUse[]): Promise<void>
}

export type TokenUses = ReturnType<typeof createTokenUses>

/** A use this long after the recorded one is recorded. */
const EVERY_MS = 60_000
/** Uses of further tokens are left out until these are written. */
const MAX_WAITING = 10_000

/** Records the last use of each token, in batches, because a write per request would cost more than the request. */
export function createTokenUses({ store, clock }: { store: TokenUseStore; clock: Clock }) {
  let waiting = new Map<string, TokenUse>()
  return {
    /** Adds a use. Never waits and never fails. */
    add({ id, lastUsed }: { readonly id: string; readonly lastUsed: Date | null }, address: string): void {
      const now = clock.now()
      if (lastUsed !== null && now - lastUsed.getTime() < EVERY_MS) return
      if (waiting.size < MAX_WAITING || waiting.has(id)) waiting.set(id, { id, at: new Date(now), address })
    },

    /** Writes the added uses. Those of a failed write are dropped, and the next request adds them again. */
    async flush(): Promise<void> {
      const uses = [...waiting.values()]
      waiting = new Map()
      if (uses.length > 0) await store.record(uses)
    },
  }
}
