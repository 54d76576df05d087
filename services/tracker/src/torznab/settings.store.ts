import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import { changedFields } from '../admin-log/admin-log.ts'
import type { Db } from '../db/schema.ts'
import type { TorznabSettingsStore } from './settings.ts'

const COLUMNS = [
  'enabled',
  'logging',
  'window_seconds as windowSeconds',
  'search_limit as searchLimit',
  'download_limit as downloadLimit',
] as const

/** The settings of the Torznab API in Postgres: one row, inserted by a migration. */
export function createTorznabSettingsStore(db: Db): TorznabSettingsStore {
  return {
    read: () => db.selectFrom('torznab_settings').select(COLUMNS).executeTakeFirstOrThrow(),

    change: (changes, by) =>
      db.transaction().execute(async (trx) => {
        const before = await trx.selectFrom('torznab_settings').select(COLUMNS).forUpdate().executeTakeFirstOrThrow()
        const { windowSeconds, searchLimit, downloadLimit, ...switches } = changes
        const after = await trx
          .updateTable('torznab_settings')
          .set({ ...switches, window_seconds: windowSeconds, search_limit: searchLimit, download_limit: downloadLimit })
          .returning(COLUMNS)
          .executeTakeFirstOrThrow()
        const changed = changedFields(before, after)
        const target = { type: 'torznab', id: null, name: null } as const
        if (changed) await recordAdminAction(trx, by, { action: 'torznab.settings.update', target, ...changed })
        return after
      }),
  }
}
