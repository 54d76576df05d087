import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { formatDate } from '@vault-and-tracker/web-kit/format'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { Tabs } from '@vault-and-tracker/web-kit/layout'
import { lazy, Suspense } from 'react'
import { ownUser } from '../api/queries.ts'
import { ROLE_NAMES } from '../standing/role-names.ts'
import { Invites } from './invites.tsx'
import { Keys } from './keys.tsx'
import { Sessions } from './sessions.tsx'
import { Statistics } from './statistics.tsx'

const Security = lazy(async () => ({ default: (await import('./security.tsx')).Security }))

const route = getRouteApi('/me')
const TABS = [
  [undefined, 'Statistics'],
  ['keys', 'Passkey and API tokens'],
  ['sessions', 'Sessions'],
  ['invites', 'Invites'],
  ['security', 'Security'],
] as const

/** The member's own account. */
export function MePage() {
  const { tab, days } = route.useSearch()
  const { data: user } = useSuspenseQuery(ownUser)
  usePageTitle(`${TABS.find(([each]) => each === tab)?.[1] ?? ''} · Your account`)
  return (
    <div className="stack">
      <header>
        <h1>{user.username}</h1>
        <p className="muted">
          {ROLE_NAMES[user.role]} since {formatDate(user.created)} · {user.email} ·{' '}
          <Link to="/me/torrents">Your torrents</Link> ·{' '}
          <Link to="/users/$id" params={{ id: user.id }}>
            Your public page
          </Link>
        </p>
      </header>
      <Tabs label="Your account" tabs={TABS} current={tab} />
      {tab === undefined && <Statistics user={user} days={days} />}
      {tab === 'keys' && <Keys user={user} />}
      {tab === 'sessions' && <Sessions />}
      {tab === 'invites' && <Invites user={user} />}
      {tab === 'security' && (
        <Suspense>
          <Security user={user} />
        </Suspense>
      )}
    </div>
  )
}
