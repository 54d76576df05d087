import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Ago, formatDate } from '@vault-and-tracker/web-kit/format'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { Tabs } from '@vault-and-tracker/web-kit/layout'
import { ROLE_NAMES } from '../../standing/role-names.ts'
import '../manage.css'
import { Exclusion } from '../parts/exclusion.tsx'
import { AccountTab } from './account-tab.tsx'
import { AddressesTab } from './address-table.tsx'
import { HistoryTab } from './history-tab.tsx'
import { InvitesTab } from './invites-tab.tsx'
import { oneUser } from './queries.ts'
import { SessionsTab } from './sessions-tab.tsx'
import { TokensTab } from './tokens-tab.tsx'
import { UserTags } from './user-tags.tsx'

const route = getRouteApi('/admin/users/$id')
const TABS = [
  [undefined, 'Account'],
  ['sessions', 'Sessions'],
  ['addresses', 'Addresses'],
  ['tokens', 'API tokens'],
  ['invites', 'Invites'],
  ['history', 'History'],
] as const

export function UserPage() {
  const { id } = route.useParams()
  const { tab } = route.useSearch()
  const { data: user, dataUpdatedAt } = useSuspenseQuery(oneUser(id))
  const { username, role, email, created, lastSeen, invitedBy } = user
  usePageTitle(username)
  return (
    <>
      <header className="user-head">
        <p>
          <Link to="/admin/users">All users</Link>
        </p>
        <h1>
          {username} <UserTags user={user} />
        </h1>
        <p className="muted">
          {ROLE_NAMES[role]} since {formatDate(created)} · {email} ·{' '}
          {lastSeen === null ? (
            'never signed in'
          ) : (
            <>
              last seen <Ago time={lastSeen} now={dataUpdatedAt} />
            </>
          )}
          {invitedBy !== null && (
            <>
              {' '}
              · invited by{' '}
              <Link to="/admin/users/$id" params={{ id: invitedBy.id }}>
                {invitedBy.username}
              </Link>
            </>
          )}
        </p>
        <Exclusion user={user} />
      </header>
      <Tabs label="User" tabs={TABS} current={tab} />
      {tab === undefined && <AccountTab user={user} />}
      {tab === 'sessions' && <SessionsTab user={user} />}
      {tab === 'addresses' && <AddressesTab user={user} />}
      {tab === 'tokens' && <TokensTab user={user} />}
      {tab === 'invites' && <InvitesTab user={user} />}
      {tab === 'history' && <HistoryTab id={id} />}
    </>
  )
}
