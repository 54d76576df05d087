import type { PublishInvalidation } from '../invalidation/invalidation.ts'

/** What holds for the whole site. Per cent of downloads charged (0 is freeleech) and of uploads credited. */
export type SiteSettings = { readonly downloadPercent: number; readonly uploadPercent: number }

/** Where the site's settings are kept. */
export type SiteStore = {
  read(): Promise<SiteSettings>
  change(changes: { [Name in keyof SiteSettings]?: SiteSettings[Name] | undefined }): Promise<SiteSettings>
}

export type Site = ReturnType<typeof createSite>

/** The site's settings. */
export function createSite(deps: { store: SiteStore; publish: PublishInvalidation }) {
  return {
    read: () => deps.store.read(),
    async change(changes: Parameters<SiteStore['change']>[0]): Promise<SiteSettings> {
      const settings = await deps.store.change(changes)
      await deps.publish({ kind: 'site' })
      return settings
    },
  }
}
