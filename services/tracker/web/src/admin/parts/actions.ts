import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import type { AdminLogEntry } from '../../api/client.ts'

type Action = AdminLogEntry['action']

/** What was done, in words. */
export const ACTION_NAMES: Readonly<Record<Action, string>> = {
  'category.arrange': 'ordered the categories',
  'category.create': 'made a category',
  'category.delete': 'deleted a category',
  'category.delete-all': 'deleted all categories',
  'category.seed': 'seeded the categories',
  'category.update': 'changed a category',
  'site.update': 'changed the site',
  'torrent.approve': 'approved a torrent',
  'torrent.delete': 'deleted a torrent',
  'torrent.reject': 'rejected a torrent',
  'torrent.update': 'changed a torrent',
  'torznab.settings.update': 'changed the Torznab settings',
  'torznab.unblock': 'unblocked an address',
  'user.invite.take-back': 'took back an invite',
  'user.passkey.reset': 'reset a passkey',
  'user.password.reset': 'reset a password',
  'user.sessions.end': 'ended all sessions',
  'user.update': 'changed a user',
}

/** All actions, by what they are done to. */
export const ACTIONS = Object.keys(ACTION_NAMES) as Action[]

const FIELD_NAMES: Readonly<Record<string, string>> = {
  apiBlocked: 'blocked from Torznab',
  canDownload: 'may download',
  deleteReason: 'reason',
  downloadLimit: 'downloads a window',
  downloadPercent: 'download charged, %',
  inviteMade: 'invite made',
  invitesLeft: 'invites left',
  parentId: 'parent',
  searchLimit: 'searches a window',
  stateReason: 'reason',
  torznabId: 'Torznab id',
  uploadPercent: 'upload credited, %',
  windowSeconds: 'window, s',
}

/** Fields that hold a time. */
const TIMES: ReadonlySet<string> = new Set(['inviteMade'])

/** A field that changed: what it was and is. Undefined where there was or is nothing. */
export type FieldChange = {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** What an entry changed, field by field. */
export function changesIn({ before, after }: Pick<AdminLogEntry, 'before' | 'after'>): readonly FieldChange[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...names].map((name) => ({
    name: FIELD_NAMES[name] ?? name,
    before: textOf(name, before?.[name]),
    after: textOf(name, after?.[name]),
  }))
}

function textOf(name: string, value: string | number | boolean | null | undefined): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return TIMES.has(name) ? formatExactTime(String(value)) : String(value)
}
