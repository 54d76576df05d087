import { Link } from '@tanstack/react-router'
import { Empty } from '@vault-and-tracker/web-kit/feedback'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'

/** An address that leads nowhere. */
export function NotFound() {
  usePageTitle('Not found')
  return (
    <Empty title={<h1>There is nothing at this address.</h1>}>
      <p>A project may have been deleted, or the address is incomplete.</p>
      <ul className="plain-list">
        <li>
          <Link to="/projects">All projects</Link>
        </li>
        <li>
          <Link to="/audit">Audit log</Link>
        </li>
      </ul>
    </Empty>
  )
}
