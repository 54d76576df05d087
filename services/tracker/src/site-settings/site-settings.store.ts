import type { Db } from '../db/schema.ts'
import type { SiteSettingsStore } from './site-settings.ts'

/** The site's settings in Postgres: one row, which the first migration inserts. */
export function createSiteSettingsStore(db: Db): SiteSettingsStore {
  return {
    async read() {
      const row = await db.selectFrom('site_settings').selectAll().executeTakeFirstOrThrow()
      return { downloadPercent: row.download_percent, uploadPercent: row.upload_percent }
    },

    async change(changes) {
      const row = await db
        .updateTable('site_settings')
        .set((eb) => ({
          download_percent: changes.downloadPercent ?? eb.ref('download_percent'),
          upload_percent: changes.uploadPercent ?? eb.ref('upload_percent'),
        }))
        .returningAll()
        .executeTakeFirstOrThrow()
      return { downloadPercent: row.download_percent, uploadPercent: row.upload_percent }
    },
  }
}
