import { sql, type Transaction } from 'kysely'
import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import { type ActedBy, changedFields } from '../admin-log/admin-log.ts'
import { isActiveUser } from '../db/queries.store.ts'
import type { Db, Schema } from '../db/schema.ts'
import { notify } from '../notices/notices.store.ts'
import type { SiteSettings, SiteSettingsStore } from './site-settings.ts'

const COLUMNS = [
  'download_percent as downloadPercent',
  'upload_percent as uploadPercent',
  'name',
  'accent',
  'logo',
  'registration',
  'upload_approval as uploadApproval',
  'edit_approval as editApproval',
  'seed_hours as seedHours',
  'staff_second_factor as staffSecondFactor',
  'checklist_dismissed as checklistDismissed',
  'had_administrator as hadAdministrator',
] as const

/** Site settings in Postgres: a single row, inserted by the first migration, and the file of the logo. */
export function createSiteSettingsStore(db: Db): SiteSettingsStore {
  /** Reads the row, changes it, and records what changed. */
  const update = (
    by: ActedBy,
    write: (trx: Transaction<Schema>, before: SiteSettings) => Promise<SiteSettings>,
  ): Promise<SiteSettings> =>
    db.transaction().execute(async (trx) => {
      const before = await trx.selectFrom('site_settings').select(COLUMNS).forUpdate().executeTakeFirstOrThrow()
      const after = await write(trx, before)
      const changed = changedFields(before, after)
      const target = { type: 'site', id: null, name: null } as const
      if (changed) await recordAdminAction(trx, by, { action: 'site.update', target, ...changed })
      const { downloadPercent, uploadPercent } = after
      if (downloadPercent !== before.downloadPercent || uploadPercent !== before.uploadPercent)
        await notifyMembers(trx, by, { downloadPercent, uploadPercent })
      return after
    })

  return {
    read: () => db.selectFrom('site_settings').select(COLUMNS).executeTakeFirstOrThrow(),

    change: (changes, by) =>
      update(by, (trx, before) =>
        trx
          .updateTable('site_settings')
          .set({
            download_percent: changes.downloadPercent,
            upload_percent: changes.uploadPercent,
            name: changes.name,
            accent: changes.accent,
            registration: changes.registration,
            upload_approval: changes.uploadApproval,
            edit_approval: changes.editApproval,
            seed_hours: changes.seedHours,
            staff_second_factor: changes.staffSecondFactor,
            // Kysely leaves out undefined values, and an update needs at least one.
            checklist_dismissed: changes.checklistDismissed ?? before.checklistDismissed,
          })
          .returning(COLUMNS)
          .executeTakeFirstOrThrow(),
      ),

    changeLogo: (logo, by) =>
      update(by, async (trx) => {
        const digest = logo?.digest ?? null
        await trx.deleteFrom('site_logos').execute()
        if (logo) await trx.insertInto('site_logos').values(logo).execute()
        return await trx.updateTable('site_settings').set({ logo: digest }).returning(COLUMNS).executeTakeFirstOrThrow()
      }),

    async progress() {
      const { rows } = await sql<Awaited<ReturnType<SiteSettingsStore['progress']>>>`
        select exists (select from categories where deleted_at is null) as categories,
          exists (select from rules) as rules,
          exists (select from torrents where deleted_at is null) as upload`.execute(db)
      return rows[0] ?? { categories: false, rules: false, upload: false }
    },

    logo: async (digest) =>
      (await db.selectFrom('site_logos').select('png').where('digest', '=', digest).executeTakeFirst())?.png,
  }
}

/** Members who were away for longer receive no notice. */
const PRESENT = sql<Date>`now() - interval '30 days'`
const MAX_RECIPIENTS = 5_000

async function notifyMembers(
  trx: Transaction<Schema>,
  by: ActedBy,
  rates: Pick<SiteSettings, 'downloadPercent' | 'uploadPercent'>,
): Promise<void> {
  const members = await trx
    .selectFrom('users')
    .select('id')
    .where(isActiveUser)
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
