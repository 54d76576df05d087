import type { Db } from '../db/schema.ts'
import type { SiteStore } from './site.ts'

/** The site's settings in Postgres: one row, made by the first migration. */
export function createSiteStore(db: Db): SiteStore {
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
