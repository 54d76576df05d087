import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import type { PublishInvalidation } from '../invalidation/invalidation.ts'

/** Settings of the whole site: the percentage of downloads that is charged (0 is freeleech) and of uploads credited. */
export type SiteSettings = { readonly downloadPercent: number; readonly uploadPercent: number }

/** Settings to change; those left out stay as they are. */
export type SiteSettingsChanges = { [Name in keyof SiteSettings]?: SiteSettings[Name] | undefined }

/** The store of the site's settings. Each method is one atomic change. */
export type SiteSettingsStore = {
  read(): Promise<SiteSettings>
  /** Changes the settings and records in the admin log what changed. */
  change(changes: SiteSettingsChanges, by: ActedBy): Promise<SiteSettings>
}

/** The use cases of the settings. */
export type SiteConfiguration = ReturnType<typeof createSiteSettings>

/** Reads and changes the settings of the whole site. */
export function createSiteSettings(deps: { store: SiteSettingsStore; publish: PublishInvalidation; clock: Clock }) {
  return {
    read: () => deps.store.read(),
    async change(changes: SiteSettingsChanges, actorId: string): Promise<SiteSettings> {
      const settings = await deps.store.change(changes, actedBy(deps.clock, actorId))
      await deps.publish({ kind: 'site-settings' })
      return settings
    },
  }
}
