import { getRouteApi, Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { usePageTitle } from '../../frame/page-title.ts'
import { Blocks } from './blocks.tsx'
import { Check } from './check.tsx'
import { Configuration } from './configuration.tsx'
import { Requests } from './requests.tsx'
import { requestSearchOf } from './search.ts'
import { Statistics } from './statistics.tsx'
import './torznab.css'
import { Users } from './users.tsx'

const route = getRouteApi('/admin/torznab')
const TABS = [
  [undefined, 'Statistics'],
  ['configuration', 'Configuration'],
  ['users', 'Users'],
  ['requests', 'Requests'],
  ['blocks', 'Blocks'],
  ['check', 'Connection check'],
] as const

/** The panel of the Torznab API, a tab for each thing one does there. */
export function TorznabPage() {
  const search = route.useSearch()
  const { tab } = search
  const tabs = useRef<HTMLElement>(null)
  useEffect(() => {
    // On a narrow screen the tabs scroll.
    const current = tabs.current?.querySelector(`[data-tab="${tab ?? 'statistics'}"]`)
    current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [tab])
  usePageTitle(`${TABS.find(([each]) => each === tab)?.[1] ?? ''} · Torznab`)
  return (
    <>
      <h1>Torznab API</h1>
      <nav ref={tabs} className="tabs torznab-tabs" aria-label="Of the Torznab API">
        {TABS.map(([each, label]) => (
          <Link
            key={label}
            to="/admin/torznab"
            search={each === undefined ? {} : { tab: each }}
            activeOptions={{ exact: true, includeSearch: true }}
            aria-current={tab === each ? 'page' : undefined}
            data-current={tab === each}
            data-tab={each ?? 'statistics'}
          >
            {label}
          </Link>
        ))}
      </nav>
      {tab === undefined && <Statistics search={search} />}
      {tab === 'configuration' && <Configuration />}
      {tab === 'users' && <Users search={search} />}
      {tab === 'requests' && <Requests search={requestSearchOf(search)} />}
      {tab === 'blocks' && <Blocks />}
      {tab === 'check' && <Check />}
    </>
  )
}
