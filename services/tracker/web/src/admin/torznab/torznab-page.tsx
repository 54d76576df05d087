import { getRouteApi } from '@tanstack/react-router'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { Tabs } from '@vault-and-tracker/web-kit/layout'
import '../manage.css'
import { Blocks } from './blocks.tsx'
import { Check } from './check.tsx'
import { Requests } from './requests.tsx'
import { Settings } from './settings.tsx'
import { Statistics } from './statistics.tsx'
import './torznab.css'
import { Users } from './users.tsx'

const route = getRouteApi('/admin/torznab')
const TABS = [
  [undefined, 'Statistics'],
  ['configuration', 'Settings'],
  ['users', 'Users'],
  ['requests', 'Requests'],
  ['blocks', 'Blocks'],
  ['check', 'Connection check'],
] as const

/** Administration of the Torznab API. */
export function TorznabPage() {
  const search = route.useSearch()
  const { tab } = search
  usePageTitle(`${TABS.find(([each]) => each === tab)?.[1] ?? ''} · Torznab`)
  return (
    <>
      <h1>Torznab API</h1>
      <Tabs label="Torznab API" tabs={TABS} current={tab} />
      {tab === undefined && <Statistics search={search} />}
      {tab === 'configuration' && <Settings />}
      {tab === 'users' && <Users search={search} />}
      {tab === 'requests' && <Requests search={search} />}
      {tab === 'blocks' && <Blocks />}
      {tab === 'check' && <Check />}
    </>
  )
}
