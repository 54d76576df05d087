import { createValueCache } from '@vault-and-tracker/service-kit/core/cache'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { Rates } from '../announce/lookups.ts'
import type { Category } from '../categories/categories.ts'
import type { Invalidation } from '../invalidation/invalidation.ts'

/** The state of the whole catalogue that nearly every search needs. */
export type CatalogueState = {
  readonly categories: readonly Category[]
  /** Including deleted categories that still have torrents. */
  readonly categoryIds: readonly string[]
  readonly rates: Rates
  /** 0 for no rule. */
  readonly requiredSeedSeconds: number
}

/** The bound on the effect of a lost invalidation. */
const TTL_MS = 30_000

export type CatalogueStates = ReturnType<typeof createCatalogueState>

/** Caches the state of the catalogue. A change drops it on all replicas. */
export function createCatalogueState(deps: {
  categories: () => Promise<readonly Category[]>
  categoryIds: () => Promise<readonly string[]>
  rates: () => Promise<Rates>
  requiredSeedSeconds: () => Promise<number>
  clock: Clock
}) {
  const load = async (): Promise<CatalogueState> => {
    const [categories, categoryIds, rates, requiredSeedSeconds] = await Promise.all([
      deps.categories(),
      deps.categoryIds(),
      deps.rates(),
      deps.requiredSeedSeconds(),
    ])
    return { categories, categoryIds, rates, requiredSeedSeconds }
  }
  const cache = createValueCache({ load, clock: deps.clock, valueTtlMs: TTL_MS, serveStale: false })
  return {
    /** The cached state. Throws the error of a failed load. */
    current: () => cache.get(),
    /** Drops the state if a change outdated it. */
    forget: (change: Invalidation): void => {
      if (change.kind === 'site-settings' || change.kind === 'categories') cache.forget()
    },
    /** Loads the state again at its next use, because changes may have been missed. */
    revalidateAll: () => cache.revalidateAll(),
  }
}
