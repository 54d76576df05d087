import type { Values } from '@vault-and-tracker/web-kit/form'
import type { ManagedUser } from '../../api/client.ts'
import { toLocalInput } from '../parts/time-fields.tsx'
import { ROLES, STATES } from './search.ts'

/** The settings of a user that administrators can change. */
export type Rights = Pick<
  ManagedUser,
  | 'role'
  | 'state'
  | 'suspendedUntil'
  | 'canDownload'
  | 'apiBlocked'
  | 'invitesLeft'
  | 'downloadPercent'
  | 'uploadPercent'
  | 'announceLimit'
>

/** Identifies the rights, so that a form starts over when they change and not when anything else does. */
export function rightsKey({ role, state, suspendedUntil, canDownload, apiBlocked, ...numbers }: Rights): string {
  const { invitesLeft, downloadPercent, uploadPercent, announceLimit } = numbers
  const rest = [invitesLeft, downloadPercent, uploadPercent, announceLimit]
  return [role, state, suspendedUntil, canDownload, apiBlocked, ...rest].join(' ')
}

/** The rights in a form, which leaves out unchecked boxes. */
export function rightsOf(values: Values, user: Rights): Rights {
  const number = (name: 'invitesLeft' | 'downloadPercent' | 'uploadPercent'): number => {
    const text = values[name]
    return text === undefined || text === '' ? user[name] : Number(text)
  }
  const state = STATES.find((each) => each === values['state']) ?? user.state
  return {
    role: ROLES.find((role) => role === values['role']) ?? user.role,
    state,
    suspendedUntil: state === 'suspended' ? endOf(values['suspendedUntil'] ?? '', user) : user.suspendedUntil,
    canDownload: values['canDownload'] === 'on',
    apiBlocked: values['mayUseApi'] !== 'on',
    invitesLeft: number('invitesLeft'),
    downloadPercent: number('downloadPercent'),
    uploadPercent: number('uploadPercent'),
    announceLimit: limitIn(values['announceLimit'], user),
  }
}

/** An empty field means the limit of the server. */
function limitIn(text: string | undefined, { announceLimit }: Rights): number | null {
  if (text === undefined) return announceLimit
  return text === '' ? null : Number(text)
}

/** The field has no seconds, which the stored time may have. */
function endOf(text: string, { suspendedUntil }: Rights): string | null {
  if (text === toLocalInput(suspendedUntil)) return suspendedUntil
  return text === '' ? null : new Date(text).toISOString()
}

/** The changed rights; undefined if none changed. */
export function changeOf(before: Rights, after: Rights): Partial<Rights> | undefined {
  const names = Object.keys(after) as (keyof Rights)[]
  const changed = names.filter((name) => before[name] !== after[name])
  return changed.length === 0 ? undefined : Object.fromEntries(changed.map((name) => [name, after[name]]))
}

/** The consequences that need a confirmation. */
export function consequences({ role, state, canDownload, apiBlocked }: Partial<Rights>): readonly string[] {
  return [
    state === 'suspended' &&
      'They cannot sign in, announce or search until the suspension ends. They see when it ends, and the reason.',
    state === 'banned' &&
      'They cannot sign in, announce or search. They see the reason. Their tools receive an invalid key error.',
    role === 'admin' && 'As an administrator, they can do everything that you can, including changing your role.',
    role === 'moderator' && 'As a moderator, they can approve, reject, edit and delete all torrents.',
    role === 'member' && 'They lose access to all staff pages.',
    canDownload === false &&
      'They cannot download .torrent files, and their clients receive no peers to download from.',
    apiBlocked === true && 'Their tools receive an error from the Torznab API, and API tokens are refused.',
  ].filter((consequence) => consequence !== false)
}
