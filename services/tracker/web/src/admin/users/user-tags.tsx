import type { ManagedUser } from '../../api/client.ts'
import { ratesText } from '../../release/rates.ts'
import { ROLE_NAMES } from '../../standing/role-names.ts'
import { STATE_NAMES } from './search.ts'

type Shown = Pick<ManagedUser, 'role' | 'state' | 'apiBlocked' | 'canDownload' | 'downloadPercent' | 'uploadPercent'>

/** Tags for differences from an ordinary member. */
export function UserTags({ user }: { user: Shown }) {
  const { role, state, apiBlocked, canDownload } = user
  const tags = [
    role === 'member' ? undefined : ([ROLE_NAMES[role], 'info'] as const),
    state === 'active' ? undefined : ([STATE_NAMES[state], 'bad'] as const),
    canDownload ? undefined : (['No downloads', 'warn'] as const),
    apiBlocked ? (['No Torznab', 'warn'] as const) : undefined,
    ...ratesText(user).map((text) => [text, 'good'] as const),
  ].filter((tag) => tag !== undefined)
  return tags.map(([word, tone]) => (
    <span key={word} className="tag" data-tone={tone}>
      {word}
    </span>
  ))
}
