import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import type { AdminLogEntry } from '../../api/client.ts'

type Action = AdminLogEntry['action']

/** All actions, in the order of the filter. The type ensures that the list is complete. */
export const ACTION_NAMES = Object.entries({
  'category.arrange': 'reordered the categories',
  'category.create': 'created a category',
  'category.delete': 'deleted a category',
  'category.delete-all': 'deleted all categories',
  'category.seed': 'seeded the Torznab categories',
  'category.update': 'changed a category',
  'clients.update': 'changed client rules',
  'report.resolve': 'resolved a report',
  'rules.publish': 'published rules',
  'site.set-up': 'set up the site',
  'site.update': 'changed the site',
  'torrent.approve': 'approved a torrent',
  'torrent.delete': 'deleted a torrent',
  'torrent.reject': 'rejected a torrent',
  'torrent.update': 'changed a torrent',
  'torznab.settings.update': 'changed the Torznab settings',
  'torznab.unblock': 'unblocked an address',
  'user.factors.remove': 'removed a second factor',
  'user.invite.take-back': 'revoked an invite',
  'user.passkey.reset': 'reset a passkey',
  'user.password.reset': 'reset a password',
  'user.sessions.end': 'ended all sessions',
  'user.token.revoke': 'revoked an API token',
  'user.update': 'changed a user',
  'user.warn': 'warned a user',
  'webhook.add': 'added a webhook',
  'webhook.change': 'changed a webhook',
  'webhook.remove': 'deleted a webhook',
} satisfies Record<Action, string>) as readonly (readonly [Action, string])[]

/** The action as a phrase. */
export function nameOfAction(action: Action): string {
  return ACTION_NAMES.find(([each]) => each === action)?.[1] ?? action
}

const FIELD_NAMES: Readonly<Record<string, string>> = {
  announceLimit: 'announces per minute',
  apiBlocked: 'blocked from Torznab',
  canDownload: 'can download',
  clientRules: 'rules',
  deleteReason: 'reason',
  downloadLimit: 'downloads per window',
  downloadPercent: 'download rate, %',
  editApproval: 'approval of edits',
  hasMediaInfo: 'MediaInfo',
  hasNfo: 'NFO',
  inviteMade: 'invite created',
  invitesLeft: 'invites left',
  parentId: 'parent',
  seedHours: 'minimum seed time, h',
  searchLimit: 'searches per window',
  staffSecondFactor: 'second factor of staff',
  stateReason: 'reason',
  suspendedUntil: 'suspended until',
  torznabId: 'Torznab ID',
  uploadApproval: 'approval of uploads',
  uploadPercent: 'upload rate, %',
  windowSeconds: 'window, s',
}

/** Fields that contain a time. */
const TIMES: ReadonlySet<string> = new Set(['inviteMade', 'suspendedUntil'])

/** A changed field. `before` and `after` are undefined if empty. */
export type FieldChange = {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
}

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
