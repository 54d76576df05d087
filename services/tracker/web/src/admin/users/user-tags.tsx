import type { ManagedUser } from '../../api/client.ts'
import { ROLE_NAMES, STATE_NAMES } from './search.ts'

type Shown = Pick<ManagedUser, 'role' | 'state' | 'apiBlocked' | 'canDownload' | 'downloadPercent' | 'uploadPercent'>

/** What is out of the ordinary about a user. */
export function UserTags({ user }: { user: Shown }) {
  const { role, state, apiBlocked, canDownload, downloadPercent, uploadPercent } = user
  const tags = [
    role === 'member' ? undefined : ([ROLE_NAMES[role], 'info'] as const),
    state === 'active' ? undefined : ([STATE_NAMES[state], 'bad'] as const),
    canDownload ? undefined : (['No downloads', 'warn'] as const),
    apiBlocked ? (['No Torznab', 'warn'] as const) : undefined,
    downloadPercent === 100
      ? undefined
      : ([downloadPercent === 0 ? 'Freeleech' : `${downloadPercent} % download`, 'good'] as const),
    uploadPercent === 100 ? undefined : ([`${uploadPercent} % upload`, 'good'] as const),
  ].filter((tag) => tag !== undefined)
  return tags.map(([word, tone]) => (
    <span key={word} className="tag" data-tone={tone}>
      {word}
    </span>
  ))
}
