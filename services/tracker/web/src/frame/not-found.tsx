import { Link } from '@tanstack/react-router'
import { Empty } from '@vault-and-tracker/web-kit/feedback'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'

/** An address that leads nowhere. */
export function NotFound() {
  usePageTitle('Not found')
  return (
    <Empty title={<h1>There is nothing at this address.</h1>}>
      <p>A torrent may have been deleted, or the address is incomplete.</p>
      <ul className="plain-list">
        <li>
          <Link to="/torrents">All torrents</Link>
        </li>
        <li>
          <Link to="/upload">Upload a torrent</Link>
        </li>
        <li>
          <Link to="/me">Your account</Link>
        </li>
      </ul>
    </Empty>
  )
}
