import type { Selectable } from 'kysely'
import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import { changedFields } from '../admin-log/admin-log.ts'
import type { Db, TorznabSettingsTable } from '../db/schema.ts'
import type { TorznabSettings, TorznabSettingsStore } from './settings.ts'

/** The settings of the Torznab API in Postgres: one row, inserted by a migration. */
export function createTorznabSettingsStore(db: Db): TorznabSettingsStore {
  return {
    read: async () => toSettings(await db.selectFrom('torznab_settings').selectAll().executeTakeFirstOrThrow()),

    change: (changes, by) =>
      db.transaction().execute(async (trx) => {
        const before = await trx.selectFrom('torznab_settings').selectAll().forUpdate().executeTakeFirstOrThrow()
        const after = await trx
          .updateTable('torznab_settings')
          .set({
            enabled: changes.enabled ?? before.enabled,
            logging: changes.logging ?? before.logging,
            window_seconds: changes.windowSeconds ?? before.window_seconds,
            search_limit: changes.searchLimit ?? before.search_limit,
            download_limit: changes.downloadLimit ?? before.download_limit,
          })
          .returningAll()
          .executeTakeFirstOrThrow()
        const changed = changedFields(toSettings(before), toSettings(after))
        const target = { type: 'torznab', id: null, name: null } as const
        if (changed) await recordAdminAction(trx, by, { action: 'torznab.settings.update', target, ...changed })
        return toSettings(after)
      }),
  }
}

function toSettings(row: Selectable<TorznabSettingsTable>): TorznabSettings {
  return {
    enabled: row.enabled,
    logging: row.logging,
    windowSeconds: row.window_seconds,
    searchLimit: row.search_limit,
    downloadLimit: row.download_limit,
  }
}
