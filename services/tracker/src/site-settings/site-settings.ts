import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import type { PublishInvalidation } from '../invalidation/invalidation.ts'

/** Site-wide rates: the percentages of downloads (0 is freeleech) and uploads that are counted. */
export type SiteSettings = { readonly downloadPercent: number; readonly uploadPercent: number }

/** Settings to change; the others stay as they are. */
export type SiteSettingsChanges = { [Name in keyof SiteSettings]?: SiteSettings[Name] | undefined }

/** The store of the site settings. Each method is one atomic change. */
export type SiteSettingsStore = {
  read(): Promise<SiteSettings>
  /** Changes the settings and records the changes in the admin log. */
  change(changes: SiteSettingsChanges, by: ActedBy): Promise<SiteSettings>
}

export type SiteConfiguration = ReturnType<typeof createSiteSettings>

/** Reads and changes site-wide settings. */
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
