import type { ManagedUser } from '../../api/client.ts'
import { ROLE_NAMES, ROLES, STATES } from './search.ts'

/** What administrators set of a user. */
export type Rights = Pick<
  ManagedUser,
  'role' | 'state' | 'canDownload' | 'apiBlocked' | 'invitesLeft' | 'downloadPercent' | 'uploadPercent'
>

/** Differs when the rights do: then a form begins anew. What else changes of a user leaves it alone. */
export function rightsKey({ role, state, canDownload, apiBlocked, ...numbers }: Rights): string {
  const { invitesLeft, downloadPercent, uploadPercent } = numbers
  return [role, state, canDownload, apiBlocked, invitesLeft, downloadPercent, uploadPercent].join(' ')
}

/** The rights that a form says, where a box that is not checked is not sent. */
export function rightsOf(values: Readonly<Record<string, string>>, user: Rights): Rights {
  const number = (name: 'invitesLeft' | 'downloadPercent' | 'uploadPercent'): number => {
    const text = values[name]
    return text === undefined || text === '' ? user[name] : Number(text)
  }
  return {
    role: ROLES.find((role) => role === values['role']) ?? user.role,
    state: STATES.find((state) => state === values['state']) ?? user.state,
    canDownload: values['canDownload'] === 'on',
    apiBlocked: values['mayUseApi'] !== 'on',
    invitesLeft: number('invitesLeft'),
    downloadPercent: number('downloadPercent'),
    uploadPercent: number('uploadPercent'),
  }
}

/** The rights that differ; undefined when none does. */
export function changeOf(before: Rights, after: Rights): Partial<Rights> | undefined {
  const names = Object.keys(after) as (keyof Rights)[]
  const changed = names.filter((name) => before[name] !== after[name])
  return changed.length === 0 ? undefined : Object.fromEntries(changed.map((name) => [name, after[name]]))
}

/** What a change does that the user or the site would rather be asked about first. */
export function consequences({ role, state, canDownload, apiBlocked }: Partial<Rights>): readonly string[] {
  return [
    state === 'suspended' && 'They cannot sign in, announce or search until they are active again.',
    state === 'banned' && 'They cannot sign in, announce or search, and tools are told that the key is wrong.',
    role === 'admin' && 'As an administrator they may do everything that you may, also change your role.',
    role === 'moderator' && 'As a moderator they may approve, reject, edit and delete the torrents of everybody.',
    role === 'member' && `They are no ${ROLE_NAMES.moderator.toLowerCase()} or administrator any more.`,
    canDownload === false && 'They get no .torrent files, and their clients get no peers to download from.',
    apiBlocked === true && 'Their tools get an error from the Torznab API.',
  ].filter((consequence) => consequence !== false)
}
