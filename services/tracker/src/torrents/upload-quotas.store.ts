import { sql, type Transaction } from 'kysely'
import type { Db, Schema } from '../db/schema.ts'
import { apiError } from '../errors.ts'
import type { NewTorrent } from './torrents.ts'

type Upload = Pick<NewTorrent, 'content' | 'uploaderId' | 'createdAt' | 'bytesPerDay'>

/** Refuses uploads beyond the quota before anything is written. @throws ApiError PAYLOAD_TOO_LARGE */
export async function checkQuota(db: Db, upload: Upload): Promise<void> {
  if (upload.bytesPerDay === undefined) return
  const used = await db
    .selectFrom('upload_quotas')
    .select('bytes')
    .where('user_id', '=', upload.uploaderId)
    .where('day', '=', dayOf(upload))
    .executeTakeFirst()
  if ((used?.bytes ?? 0) + bytesOf(upload) > upload.bytesPerDay) throw overQuota(upload.bytesPerDay)
}

/**
 * Adds a torrent to its uploader's usage of the day. Concurrent uploads of a user wait for each other here, so together
 * they cannot exceed the quota.
 *
 * @throws ApiError PAYLOAD_TOO_LARGE beyond the quota
 */
export async function takeFromQuota(trx: Transaction<Schema>, upload: Upload): Promise<void> {
  if (upload.bytesPerDay === undefined) return
  const [day, bytes] = [dayOf(upload), bytesOf(upload)]
  const { rows } = await sql`
    insert into upload_quotas as quota (user_id, day, bytes) values (${upload.uploaderId}, ${day}, ${bytes})
    on conflict (user_id) do update set
      day = excluded.day,
      bytes = excluded.bytes + case when quota.day = excluded.day then quota.bytes else 0 end
    returning bytes <= ${upload.bytesPerDay} as fits
  `.execute(trx)
  if (!(rows as readonly { fits: boolean }[])[0]?.fits) throw overQuota(upload.bytesPerDay)
}

/** The stored bytes of a file. */
function bytesOf({ content: { info, pieceLayers } }: Upload): number {
  return info.length + (pieceLayers?.length ?? 0)
}

function dayOf({ createdAt }: Upload): string {
  return createdAt.toISOString().slice(0, 10)
}

function overQuota(bytesPerDay: number): Error {
  const most = (bytesPerDay / 1024 ** 2).toLocaleString('en', { maximumFractionDigits: 1 })
  return apiError(
    'PAYLOAD_TOO_LARGE',
    `You can upload ${most} MiB of .torrent files per day, and this file exceeds the rest. Try again after midnight UTC.`,
  )
}
