import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { brand, PageHead } from '@vault-and-tracker/web-kit/frame'
import { Icon, type IconName } from '@vault-and-tracker/web-kit/icon'
import { useStore } from '@vault-and-tracker/web-kit/start'
import type { ReactNode } from 'react'
import { ownUser, rules } from '../api/queries.ts'
import { RulesText } from './rules-page.tsx'
import { Standing } from './standing.tsx'
import './welcome.css'

/** What a new member needs to know, with their own numbers. */
export function WelcomePage() {
  const { data: user } = useSuspenseQuery(ownUser)
  const { data: current } = useQuery(rules)
  const { name } = useStore(brand())
  return (
    <div className="stack welcome">
      <PageHead title={`Welcome to ${name}, ${user.username}`} />
      <ul className="welcome-steps">
        <Step icon="search" title="Find something">
          <Link to="/torrents">Browse the torrents</Link>, or press <kbd>/</kbd> on any page to search. Filters stay in
          the address, so a bookmark keeps them.
        </Step>
        <Step icon="download" title="Use any client">
          Each .torrent file that you download contains your passkey. Do not share these files. A reset on{' '}
          <Link to="/me" search={{ tab: 'keys' }}>
            your account
          </Link>{' '}
          makes them worthless.
        </Step>
        <Step icon="signal" title="Connect your tools">
          Sonarr, Radarr and Prowlarr use the{' '}
          <Link to="/me" search={{ tab: 'keys' }}>
            Torznab URL and an API token
          </Link>
          .
        </Step>
        <Step icon="upload" title="Share your own">
          <Link to="/upload">Upload a .torrent file</Link>, then download our copy and seed that one.
        </Step>
      </ul>
      <Standing user={user} />
      {current !== undefined && current.version > 0 && (
        <section aria-labelledby="rules" className="stack">
          <h2 id="rules">Rules</h2>
          <RulesText rules={current} />
        </section>
      )}
    </div>
  )
}

function Step({ icon, title, children }: { icon: IconName; title: string; children: ReactNode }) {
  return (
    <li className="card">
      <h2>
        <Icon name={icon} />
        {title}
      </h2>
      <p>{children}</p>
    </li>
  )
}
