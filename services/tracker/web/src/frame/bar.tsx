import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatBytes, formatRatio } from '@vault-and-tracker/web-kit/format'
import { Brand, Toasts } from '@vault-and-tracker/web-kit/frame'
import type { OwnUser } from '../api/client.ts'
import { ownUser } from '../api/queries.ts'
import { AccountMenu } from './account-menu.tsx'
import { Bell } from './bell.tsx'
import { SearchBox } from './search-box.tsx'

export function Bar({ onShowKeys }: { onShowKeys: () => void }) {
  const { data: user } = useQuery(ownUser)
  return (
    <header className="bar">
      <div className="bar-row">
        <Link to="/torrents" className="brand">
          <Brand />
        </Link>
        <nav aria-label="Main" className="bar-links">
          <Link to="/torrents" activeOptions={{ includeSearch: false }}>
            Torrents
          </Link>
          <Link to="/saved">Saved</Link>
          <Link to="/upload">Upload</Link>
          {user && user.role !== 'member' && <Link to="/admin">Staff</Link>}
        </nav>
        <div className="bar-search">
          <SearchBox />
          <Toasts />
        </div>
        {user && <Standing user={user} />}
        <Bell />
        <AccountMenu username={user?.username} standing={user && <Standing user={user} />} onShowKeys={onShowKeys} />
      </div>
    </header>
  )
}

function Standing({ user: { uploaded, downloaded, ratio } }: { user: OwnUser }) {
  return (
    <p className="standing">
      <span title="Uploaded">
        <span aria-hidden="true">↑ </span>
        <span className="visually-hidden">Uploaded </span>
        {formatBytes(uploaded)}
      </span>
      <span title="Downloaded">
        <span aria-hidden="true">↓ </span>
        <span className="visually-hidden">Downloaded </span>
        {formatBytes(downloaded)}
      </span>
      <span>Ratio {formatRatio(ratio)}</span>
    </p>
  )
}
