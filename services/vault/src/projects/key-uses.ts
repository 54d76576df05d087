import { boundedMap } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'

/** Stores when keys were last used. */
export type KeyUseStore = {
  write(uses: readonly { keyId: string; at: Date }[]): Promise<void>
}

/** Beyond this number between two writes, the least recently used keys are not recorded. */
const MAX_KEYS = 10_000

/** Records when keys are used. */
export type KeyUses = ReturnType<typeof createKeyUses>

/** Records when keys are used, in memory, so that requests do not write. */
export function createKeyUses(deps: { store: KeyUseStore; clock: Clock }) {
  const { store, clock } = deps
  let uses = boundedMap<string, { at: Date }>(MAX_KEYS)
  return {
    note: (keyId: string): void => {
      uses.set(keyId, { at: new Date(clock.now()) })
    },

    /** Stores the recorded uses. If the store fails, they are lost. */
    flush: async (): Promise<void> => {
      const noted = [...uses.entries()].map(([keyId, { at }]) => ({ keyId, at }))
      uses = boundedMap(MAX_KEYS)
      if (noted.length > 0) await store.write(noted)
    },
  }
}
