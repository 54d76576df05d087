import { type Days, daysIn, oneOf, type RawSearch, textIn } from '@vault-and-tracker/web-kit/address'

/** The actions that can be listed, in the order of the filter. Without a filter, all but reads are listed. */
export const ACTION_NAMES = [
  ['fetch', 'fetched secrets'],
  ['rotate', 'rotated a key'],
  ['put', 'wrote a secret'],
  ['delete', 'deleted a secret'],
  ['restore', 'restored a version'],
  ['annotate', 'changed details of a secret'],
  ['inherit', 'changed a parent environment'],
  ['project.create', 'registered a project'],
  ['project.update', 'changed a project'],
  ['project.delete', 'deleted a project'],
  ['project.authenticate', 'authenticated a project'],
  ['key.add', 'added a key'],
  ['key.rewrap', 'rewrapped data keys'],
  ['key.rotate', 'rotated a data key'],
  ['key.revoke', 'revoked a key'],
  ['key.exchange', 'exchanged an ID token for a key'],
  ['trust-rule.create', 'added a trust rule'],
  ['trust-rule.delete', 'removed a trust rule'],
  ['reference-rule.create', 'added a reference rule'],
  ['reference-rule.delete', 'removed a reference rule'],
  ['reference', 'read by reference'],
  ['webhook.create', 'added a webhook'],
  ['webhook.update', 'changed a webhook'],
  ['webhook.delete', 'deleted a webhook'],
  ['webhook.test', 'sent a test event'],
  ['administrator.create', 'added an administrator'],
  ['administrator.delete', 'removed an administrator'],
  ['session.create', 'signed in'],
  ['session.delete', 'ended a session'],
  ['read', 'read as administrator'],
  ['refused', 'was refused'],
] as const

export type Action = (typeof ACTION_NAMES)[number][0]

/** The choices of the filter. */
export const ACTION_CHOICES = [['all', 'All actions with reads'], ...ACTION_NAMES] as const

const CHOICES = ACTION_CHOICES.map(([action]) => action)

export type AuditSearch = Days & {
  readonly project?: string | undefined
  readonly action?: Action | 'all' | undefined
  readonly env?: string | undefined
  /** The key of a secret. */
  readonly key?: string | undefined
  /** The name of a key of the project. */
  readonly keyName?: string | undefined
  /** As in an entry. */
  readonly actor?: string | undefined
  /** Only entries older than the one with this ID. */
  readonly before?: string | undefined
}

export function readAuditSearch(raw: RawSearch): AuditSearch {
  return {
    project: textIn(raw, 'project', 63),
    action: oneOf(raw, 'action', CHOICES),
    env: textIn(raw, 'env', 64),
    key: textIn(raw, 'key', 256),
    keyName: textIn(raw, 'keyName', 64),
    actor: textIn(raw, 'actor', 300),
    ...daysIn(raw),
    before: textIn(raw, 'before', 36),
  }
}
