import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import type { ManagedUser } from '../../api/client.ts'

type Excluded = Pick<ManagedUser, 'state' | 'suspendedUntil' | 'stateReason'>

/** How long and why an account is suspended or banned; nothing for an active one. */
export function Exclusion({ user: { state, suspendedUntil, stateReason } }: { user: Excluded }) {
  if (state === 'active') return null
  return (
    <p className="notice">
      <span>
        {state === 'banned' ? 'Banned' : 'Suspended'}
        {suspendedUntil !== null && <> until {formatExactTime(suspendedUntil)}</>}.
        {stateReason !== null && ` Reason: ${stateReason}`}
      </span>
    </p>
  )
}
