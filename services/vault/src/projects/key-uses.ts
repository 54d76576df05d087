import { boundedMap } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'

/** Stores when keys were last used. */
export type KeyUseStore = {
  write(uses: readonly { keyId: string; at: Date }[]): Promise<void>
}

/** More keys than this between two writes, and the least recently used one is not noted. */
const MAX_KEYS = 10_000

/** Notes when keys are used, in memory, so that a request writes nothing for it; `flush` stores what was noted. */
export function createKeyUses(deps: { store: KeyUseStore; clock: Clock }) {
  const { store, clock } = deps
  let uses = boundedMap<string, { at: Date }>(MAX_KEYS)
  return {
    used: (keyId: string): void => {
      uses.set(keyId, { at: new Date(clock.now()) })
    },

    /** @throws whatever the store throws; then the uses since the last flush are not noted */
    flush: async (): Promise<void> => {
      const noted = [...uses.entries()].map(([keyId, { at }]) => ({ keyId, at }))
      uses = boundedMap(MAX_KEYS)
      if (noted.length > 0) await store.write(noted)
    },
  }
}
