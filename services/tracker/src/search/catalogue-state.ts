import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import type { Rates } from '../announce/lookups.ts'
import type { Categories, Category } from '../categories/categories.ts'
import { cachedValue, type Invalidations } from '../invalidation/invalidation.ts'
import type { SiteConfiguration } from '../site-settings/site-settings.ts'

/** The state of the whole catalogue that nearly every search needs. */
export type CatalogueState = {
  readonly categories: readonly Category[]
  /** Including deleted categories that still have torrents. */
  readonly categoryIds: readonly string[]
  readonly rates: Rates
  /** 0 for no rule. */
  readonly requiredSeedSeconds: number
}

/** The cached state of the catalogue. */
export type CatalogueCache = ReturnType<typeof createCatalogueCache>

/** Caches the state of the catalogue. */
export function createCatalogueCache(deps: {
  categories: Pick<Categories, 'all' | 'idsWithDeleted'>
  site: Pick<SiteConfiguration, 'read' | 'requiredSeedSeconds'>
  invalidations: Pick<Invalidations, 'addCache'>
  clock: Clock
}) {
  const { categories, site, invalidations, clock } = deps
  const load = async (): Promise<CatalogueState> => {
    const [all, categoryIds, rates, requiredSeedSeconds] = await Promise.all([
      categories.all(),
      categories.idsWithDeleted(),
      site.read(),
      site.requiredSeedSeconds(),
    ])
    return { categories: all, categoryIds, rates, requiredSeedSeconds }
  }
  return {
    /** @throws the error of a failed load */
    current: cachedValue({
      load,
      changedBy: ['site-settings', 'categories'],
      ...{ invalidations, clock, serveStale: false },
    }),
  }
}
