import { oneOf, type RawSearch, textIn } from '@vault-and-tracker/web-kit/address'

/** Actions that are listed when they are asked for, and what they are called. Without one, fetches and rotations are listed. */
export const ACTION_NAMES = {
  fetch: 'fetched secrets',
  rotate: 'rotated a key',
  put: 'wrote a secret',
  delete: 'deleted a secret',
  restore: 'restored a version',
  'project.create': 'registered a project',
  'project.update': 'changed a project',
  'project.delete': 'deleted a project',
  'project.authenticate': 'authenticated a project',
  'key.rewrap': 'wrapped data keys anew',
  'key.rotate': 'renewed a data key',
  'key.revoke': 'revoked a key',
  'administrator.create': 'added an administrator',
  'administrator.delete': 'removed an administrator',
  read: 'read as administrator',
  refused: 'was refused',
} as const

export type Action = keyof typeof ACTION_NAMES

/** All of them, in the order of the list to choose from. */
export const ACTIONS = Object.keys(ACTION_NAMES) as readonly Action[]

/** What the address of the log says. */
export type AuditSearch = {
  readonly project?: string | undefined
  readonly action?: Action | undefined
  /** Only entries that are older than the one with this id. */
  readonly before?: string | undefined
}

/** Reads the address of the log. */
export function readAuditSearch(raw: RawSearch): AuditSearch {
  return {
    project: textIn(raw, 'project', 63),
    action: oneOf(raw, 'action', ACTIONS),
    before: textIn(raw, 'before', 36),
  }
}
