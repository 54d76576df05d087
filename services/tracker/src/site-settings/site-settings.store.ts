import type { Selectable } from 'kysely'
import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import { changedFields } from '../admin-log/admin-log.ts'
import type { Db, SiteSettingsTable } from '../db/schema.ts'
import type { SiteSettings, SiteSettingsStore } from './site-settings.ts'

/** Site settings in Postgres: a single row, inserted by the first migration. */
export function createSiteSettingsStore(db: Db): SiteSettingsStore {
  return {
    read: async () => toSettings(await db.selectFrom('site_settings').selectAll().executeTakeFirstOrThrow()),

    change: (changes, by) =>
      db.transaction().execute(async (trx) => {
        const before = await trx.selectFrom('site_settings').selectAll().forUpdate().executeTakeFirstOrThrow()
        const after = await trx
          .updateTable('site_settings')
          .set({
            download_percent: changes.downloadPercent ?? before.download_percent,
            upload_percent: changes.uploadPercent ?? before.upload_percent,
          })
          .returningAll()
          .executeTakeFirstOrThrow()
        const changed = changedFields(toSettings(before), toSettings(after))
        const target = { type: 'site', id: null, name: null } as const
        if (changed) await recordAdminAction(trx, by, { action: 'site.update', target, ...changed })
        return toSettings(after)
      }),
  }
}

function toSettings(row: Selectable<SiteSettingsTable>): SiteSettings {
  return { downloadPercent: row.download_percent, uploadPercent: row.upload_percent }
}
