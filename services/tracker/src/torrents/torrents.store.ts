import { violatedUniqueConstraint } from '@vault-and-tracker/service-kit/postgres/pool'
import { sql, type Transaction } from 'kysely'
import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import { type ActedBy, changedFields } from '../admin-log/admin-log.ts'
import { isForeignKeyViolation } from '../db/queries.store.ts'
import type { Db, Schema } from '../db/schema.ts'
import { apiError } from '../errors.ts'
import { insertEvent } from '../events/events.store.ts'
import { deleteNoticesAbout, notify } from '../notices/notices.store.ts'
import { releaseKeys, type Verdict, verdictOn } from '../releases/related-releases.ts'
import { noticesOfChange } from './change-notices.ts'
import { relatedTorrents, reserveContent } from './related-torrents.store.ts'
import { listedColumns, releaseRow, searchColumn, toListed, toRow } from './torrent-rows.store.ts'
import type { NewTorrent, Torrent, TorrentChanges, TorrentStore } from './torrents.ts'

/** Torrents in Postgres. */
export function createTorrentStore(db: Db): TorrentStore {
  return {
    byId: (id) => byId(db, id),

    async create(torrent) {
      try {
        await checkQuota(db, torrent)
        return await db.transaction().execute(async (trx) => {
          const verdict = await judge(trx, torrent)
          await insert(trx, torrent, verdict)
          await takeFromQuota(trx, torrent)
          const created = await byId(trx, torrent.id)
          if (created === undefined) throw new Error('a torrent that was just inserted does not exist')
          if (created.state === 'approved') await insertEvent(trx, created.id, created.createdAt)
          return created
        })
      } catch (error) {
        if (violatedUniqueConstraint(error)?.startsWith('torrents_info_hash') === true)
          throw apiError('CONFLICT', 'This site already has this torrent.')
        throw deletedCategoryError(error)
      }
    },

    async byInfoHash(torrent) {
      const hashes = hashesOf(torrent)
      const row = await listedColumns(db)
        .where((eb) => eb.or([eb('torrents.info_hash', 'in', hashes), eb('torrents.info_hash_v2', 'in', hashes)]))
        .where('torrents.deleted_at', 'is', null)
        .executeTakeFirst()
      return row && toListed(row)
    },

    related: (torrent, viewer) => relatedTorrents(db, torrent, viewer),

    texts: (id) =>
      db
        .selectFrom('torrents')
        .select(['nfo', 'media_info as mediaInfo'])
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .executeTakeFirst(),

    files: (id, { offset, limit }) =>
      db
        .selectFrom('torrent_file_list')
        .select(['path', 'size'])
        .where('torrent_id', '=', id)
        .where('position', '>=', offset)
        .where('position', '<', offset + limit)
        .orderBy('position')
        .execute(),

    async source(id) {
      const row = await db.selectFrom('torrent_files').selectAll().where('torrent_id', '=', id).executeTakeFirst()
      return row && { info: row.info, pieceLayers: row.piece_layers }
    },

    async change(id, decide) {
      try {
        return await db.transaction().execute(async (trx) => {
          // Locked, so that the admin log records the values that this change replaces.
          await trx.selectFrom('torrents').select('id').where('id', '=', id).forUpdate().execute()
          const before = await byId(trx, id)
          if (before === undefined) return undefined
          const { changes, by } = decide(before)
          await update(trx, before, changes)
          const isFirst = by && changes.state?.state === 'approved' && (await dateFirstApproval(trx, id, by.at))
          const after = await byId(trx, id)
          if (changes.state && after) await recordVerdict(trx, after)
          if (by && after) await recordChange(trx, by, before, after)
          if (isFirst === true) await insertEvent(trx, id, by.at)
          return after
        })
      } catch (error) {
        throw deletedCategoryError(error)
      }
    },

    remove: (id, reason, at, by) =>
      db.transaction().execute(async (trx) => {
        const torrent = await byId(trx, id)
        const removed = await trx
          .updateTable('torrents')
          .set({ deleted_at: at, delete_reason: reason, category_id: null })
          .where('id', '=', id)
          .where('deleted_at', 'is', null)
          .executeTakeFirst()
        if (torrent === undefined || removed.numUpdatedRows === 0n) return undefined
        await deleteNoticesAbout(trx, id)
        if (by) await recordRemoval(trx, by, torrent, reason)
        return torrent
      }),

    async rejectionOf(torrent) {
      const row = await db
        .selectFrom('rejections')
        .select('reason')
        .where('info_hash', 'in', hashesOf(torrent))
        .executeTakeFirst()
      return row?.reason
    },

    purgeDeleted: (before) =>
      db.transaction().execute(async (trx) => {
        const purged = await trx.deleteFrom('torrents').where('deleted_at', '<', before).returning('id').execute()
        const ids = purged.map(({ id }) => id)
        if (ids.length > 0) await trx.deleteFrom('user_torrents').where('torrent_id', 'in', ids).execute()
        return ids.length
      }),
  }
}

async function byId(from: Db, id: string): Promise<Torrent | undefined> {
  const row = await listedColumns(from)
    .select(['torrents.description', 'torrents.duplicate_reason'])
    .select((eb) => [
      eb('torrents.nfo', 'is not', null).as('has_nfo'),
      eb('torrents.media_info', 'is not', null).as('has_media_info'),
    ])
    .where('torrents.id', '=', id)
    .where('torrents.deleted_at', 'is', null)
    .executeTakeFirst()
  return (
    row && {
      ...toListed(row),
      description: row.description,
      hasNfo: Boolean(row.has_nfo),
      hasMediaInfo: Boolean(row.has_media_info),
      duplicateReason: row.duplicate_reason,
    }
  )
}

function hashesOf({ infoHash, infoHashV2 }: Pick<Torrent, 'infoHash' | 'infoHashV2'>): Buffer[] {
  return [infoHash, infoHashV2].flatMap((hash) => (hash === null ? [] : [Buffer.from(hash, 'hex')]))
}

/** Records a rejection, which outlives the torrent, and drops it once the torrent is approved. */
async function recordVerdict(trx: Transaction<Schema>, torrent: Torrent): Promise<void> {
  if (torrent.state === 'pending') return
  const hashes = hashesOf(torrent)
  await trx.deleteFrom('rejections').where('info_hash', 'in', hashes).execute()
  if (torrent.state !== 'rejected') return
  const reason = torrent.stateReason ?? ''
  const rejected_at = sql<Date>`now()`
  await trx
    .insertInto('rejections')
    .values(hashes.map((info_hash) => ({ info_hash, reason, rejected_at })))
    .execute()
}

/** The category is the only foreign key of a torrent that can fail, because users are never deleted. */
function deletedCategoryError(error: unknown): unknown {
  return isForeignKeyViolation(error) ? apiError('CONFLICT', 'The category was deleted in the meantime.') : error
}

/** What the catalogue says about a new release. @throws ApiError CONFLICT for a duplicate that is to be refused */
async function judge(trx: Transaction<Schema>, torrent: NewTorrent): Promise<Verdict | null> {
  const isRefused = torrent.refuseDuplicate && torrent.duplicateReason === null
  const isReserved = !isRefused || (await reserveContent(trx, torrent))
  const related = await relatedTorrents(trx, torrent, { id: torrent.uploaderId, role: torrent.uploaderRole })
  const releases = related.map(({ relation, torrent: { release } }) => ({ relation, release }))
  const verdict = verdictOn(torrent, releases) ?? null
  if (!isReserved || (isRefused && verdict === 'duplicate'))
    throw apiError('CONFLICT', 'duplicateReason: this site already has this release. Explain why it needs yours too.')
  return verdict
}

async function insert(trx: Transaction<Schema>, torrent: NewTorrent, verdict: Verdict | null): Promise<void> {
  const { id, content } = torrent
  await trx
    .insertInto('torrents')
    .values({ ...toRow(torrent), verdict })
    .execute()
  await trx.insertInto('torrent_stats').values({ torrent_id: id }).execute()
  await trx
    .insertInto('torrent_files')
    .values({
      torrent_id: id,
      info: bufferOf(content.info),
      piece_layers: content.pieceLayers && bufferOf(content.pieceLayers),
    })
    .execute()
  await sql`
    insert into torrent_file_list (torrent_id, position, path, size)
    select ${id}::uuid, file.position - 1, file.entry ->> 0, (file.entry ->> 1)::bigint
    from json_array_elements(convert_from(${bufferOf(content.fileList)}, 'UTF8')::json) with ordinality
      as file (entry, position)
  `.execute(trx)
}

/** A view of the same memory as a Buffer, which the driver requires for a bytea. */
function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

async function update(trx: Transaction<Schema>, current: Torrent, changes: TorrentChanges): Promise<void> {
  const { name, state, externalIds } = changes
  const { imdb, tmdb, tvdb } = current.externalIds
  const known = {
    release: name?.release ?? current.release,
    externalIds: {
      imdb: externalIds?.imdb === undefined ? imdb : externalIds.imdb,
      tmdb: externalIds?.tmdb === undefined ? tmdb : externalIds.tmdb,
      tvdb: externalIds?.tvdb === undefined ? tvdb : externalIds.tvdb,
    },
  }
  await trx
    .updateTable('torrents')
    .set((eb) => ({
      ...(name && { name: name.name, search: searchColumn(name.tokens), ...releaseRow(known) }),
      release_keys: [...releaseKeys(known)],
      ...(state && { state: state.state, state_reason: state.reason }),
      category_id: changes.categoryId ?? eb.ref('category_id'),
      description: changes.description ?? eb.ref('description'),
      download_percent: changes.downloadPercent ?? eb.ref('download_percent'),
      upload_percent: changes.uploadPercent ?? eb.ref('upload_percent'),
      imdb_id: known.externalIds.imdb,
      tmdb_id: known.externalIds.tmdb,
      tvdb_id: known.externalIds.tvdb,
      anonymous: changes.anonymous ?? eb.ref('anonymous'),
      internal: changes.internal ?? eb.ref('internal'),
      scene: changes.scene ?? eb.ref('scene'),
      ...(changes.nfo !== undefined && { nfo: changes.nfo }),
      ...(changes.mediaInfo !== undefined && { media_info: changes.mediaInfo }),
    }))
    .where('id', '=', current.id)
    .where('deleted_at', 'is', null)
    .execute()
}

/**
 * Dates a torrent from its first approval, when other members, feeds and tools first see it.
 *
 * @returns whether this is the first approval
 */
async function dateFirstApproval(trx: Transaction<Schema>, id: string, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('torrents')
    .set({ created_at: at, was_approved: true })
    .where('id', '=', id)
    .where('was_approved', '=', false)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

type Upload = Pick<NewTorrent, 'content' | 'uploaderId' | 'createdAt' | 'bytesPerDay'>

/** Refuses uploads beyond the quota before anything is written. @throws ApiError PAYLOAD_TOO_LARGE */
async function checkQuota(db: Db, upload: Upload): Promise<void> {
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
async function takeFromQuota(trx: Transaction<Schema>, upload: Upload): Promise<void> {
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
    `You can upload ${most} MiB of .torrent files per day, and this file exceeds what is left. Try again after midnight UTC.`,
  )
}

/** Records a change of a torrent, and notifies its uploader. A torrent that becomes pending again was edited by its uploader, not moderated. */
async function recordChange(trx: Transaction<Schema>, by: ActedBy, before: Torrent, after: Torrent): Promise<void> {
  const changed = changedFields(fieldsOf(before), fieldsOf(after))
  if (changed === undefined) return
  const isJudged = before.state !== after.state || before.stateReason !== after.stateReason
  const moderated = isJudged && after.state !== 'pending'
  const verdict = after.state === 'rejected' ? 'torrent.reject' : 'torrent.approve'
  const action = moderated ? verdict : 'torrent.update'
  await recordAdminAction(trx, by, { action, target: targetOf(after), ...changed })
  await notify(trx, by, noticesOfChange(after, { isJudged: moderated, fields: Object.keys(changed.after) }))
}

/** Records that staff deleted a torrent, and notifies its uploader. */
async function recordRemoval(trx: Transaction<Schema>, by: ActedBy, torrent: Torrent, reason: string): Promise<void> {
  const change = { before: { deleted: false, deleteReason: null }, after: { deleted: true, deleteReason: reason } }
  await recordAdminAction(trx, by, { action: 'torrent.delete', target: targetOf(torrent), ...change })
  const { uploader, name } = torrent
  if (uploader) await notify(trx, by, [{ to: uploader.id, kind: 'deletion', details: { name, reason } }])
}

function targetOf({ id, name }: Torrent) {
  return { type: 'torrent', id, name } as const
}

/** The fields of a torrent that the admin log records. */
function fieldsOf(torrent: Torrent) {
  const { name, category, description, state, stateReason, downloadPercent, uploadPercent, externalIds } = torrent
  const { imdb, tmdb, tvdb } = externalIds
  const { anonymous, internal, scene, hasNfo, hasMediaInfo } = torrent
  return {
    ...{ name, category, description, state, stateReason, downloadPercent, uploadPercent, imdb, tmdb, tvdb },
    ...{ anonymous, internal, scene, hasNfo, hasMediaInfo },
  }
}
