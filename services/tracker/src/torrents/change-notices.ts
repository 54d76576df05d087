import type { NewNotice } from '../notices/notices.ts'
import type { Torrent } from './torrents.ts'

const RATES = ['downloadPercent', 'uploadPercent']
const VERDICT = ['state', 'stateReason']

/**
 * The notices to the uploader about a change of a torrent.
 *
 * @param change `isJudged` if a moderator approved or rejected it; `fields` are those that changed
 */
export function noticesOfChange(
  torrent: Torrent,
  change: { readonly isJudged: boolean; readonly fields: readonly string[] },
): readonly NewNotice[] {
  const { id, uploader, stateReason, downloadPercent, uploadPercent } = torrent
  if (uploader === null) return []
  const to = { to: uploader.id, torrentId: id } as const
  const edited = change.fields.filter((field) => ![...RATES, ...VERDICT].includes(field))
  const notices: NewNotice[] = []
  if (change.isJudged && torrent.state === 'approved') notices.push({ ...to, kind: 'approval' })
  if (change.isJudged && torrent.state === 'rejected')
    notices.push({ ...to, kind: 'rejection', details: { reason: stateReason ?? '' } })
  if (edited.length > 0) notices.push({ ...to, kind: 'edit', details: { fields: edited } })
  if (change.fields.some((field) => RATES.includes(field)))
    notices.push({ ...to, kind: 'rates', topic: id, details: { downloadPercent, uploadPercent } })
  return notices
}
