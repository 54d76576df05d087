import type { Transaction } from 'kysely'
import { recordAdminAction } from '../admin-log/admin-log.store.ts'
import { type ActedBy, changedFields } from '../admin-log/admin-log.ts'
import type { Schema } from '../db/schema.ts'
import type { Torrent } from './torrents.ts'

/** Records a change of a torrent. A torrent that becomes pending again was edited by its uploader, not moderated. */
export async function recordChange(
  trx: Transaction<Schema>,
  by: ActedBy,
  before: Torrent,
  after: Torrent,
): Promise<void> {
  const changed = changedFields(fieldsOf(before), fieldsOf(after))
  if (changed === undefined) return
  const isJudged = before.state !== after.state || before.stateReason !== after.stateReason
  const moderated = isJudged && after.state !== 'pending'
  const verdict = after.state === 'rejected' ? 'torrent.reject' : 'torrent.approve'
  const action = moderated ? verdict : 'torrent.update'
  await recordAdminAction(trx, by, { action, target: targetOf(after), ...changed })
}

/** Records that staff deleted a torrent. */
export async function recordRemoval(
  trx: Transaction<Schema>,
  by: ActedBy,
  torrent: Torrent,
  reason: string,
): Promise<void> {
  const change = { before: { deleted: false, deleteReason: null }, after: { deleted: true, deleteReason: reason } }
  await recordAdminAction(trx, by, { action: 'torrent.delete', target: targetOf(torrent), ...change })
}

function targetOf({ id, name }: Torrent) {
  return { type: 'torrent', id, name } as const
}

/** The fields of a torrent that the admin log records. */
function fieldsOf(torrent: Torrent) {
  const { name, category, description, state, stateReason, downloadPercent, uploadPercent, externalIds } = torrent
  const { imdb, tmdb, tvdb } = externalIds
  return { name, category, description, state, stateReason, downloadPercent, uploadPercent, imdb, tmdb, tvdb }
}
