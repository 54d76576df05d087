import { type Selectable, sql, type Transaction } from 'kysely'
import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import { type ActedBy, changedFields } from '../admin-log/admin-log.ts'
import type { Db, Schema, SiteSettingsTable } from '../db/schema.ts'
import { notify } from '../notices/notices.store.ts'
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
        if (changed) {
          await recordAdminAction(trx, by, { action: 'site.update', target, ...changed })
          await notifyMembers(trx, by, toSettings(after))
        }
        return toSettings(after)
      }),
  }
}

/** Members who were away for longer receive no notice. */
const PRESENT = sql<Date>`now() - interval '30 days'`
const MAX_RECIPIENTS = 10_000

async function notifyMembers(trx: Transaction<Schema>, by: ActedBy, rates: SiteSettings): Promise<void> {
  const members = await trx
    .selectFrom('users')
    .select('id')
    .where('state', '=', 'active')
    .where('last_seen_at', '>', PRESENT)
    .orderBy('last_seen_at', 'desc')
    .limit(MAX_RECIPIENTS)
    .execute()
  const notice = { kind: 'rates', topic: 'site', details: { scope: 'site', ...rates } } as const
  await notify(
    trx,
    by,
    members.map(({ id }) => ({ to: id, ...notice })),
  )
}

function toSettings(row: Selectable<SiteSettingsTable>): SiteSettings {
  return { downloadPercent: row.download_percent, uploadPercent: row.upload_percent }
}
