import type { Clock } from '@vault-and-tracker/service-kit/clock'
import type { ActedBy } from '../admin-log/admin-log.ts'
import type { PublishInvalidation } from '../invalidation/invalidation.ts'

/** Settings of the whole site: the percentage of downloads that is charged (0 is freeleech) and of uploads credited. */
export type Settings = { readonly downloadPercent: number; readonly uploadPercent: number }

/** Settings to change; those left out stay as they are. */
export type SettingsChanges = { [Name in keyof Settings]?: Settings[Name] | undefined }

/** The store of the site's settings. Each method is one atomic change. */
export type SiteSettingsStore = {
  read(): Promise<Settings>
  /** Changes the settings and records in the admin log what changed. */
  change(changes: SettingsChanges, by: ActedBy): Promise<Settings>
}

export type SiteSettings = ReturnType<typeof createSiteSettings>

/** Reads and changes the settings of the whole site. */
export function createSiteSettings(deps: { store: SiteSettingsStore; publish: PublishInvalidation; clock: Clock }) {
  return {
    read: () => deps.store.read(),
    async change(changes: SettingsChanges, actorId: string): Promise<Settings> {
      const settings = await deps.store.change(changes, { actorId, at: new Date(deps.clock.now()) })
      await deps.publish({ kind: 'site' })
      return settings
    },
  }
}
