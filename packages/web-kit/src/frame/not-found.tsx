import type { ReactNode } from 'react'
import { Empty } from '../feedback/states.tsx'
import { usePageTitle } from './use-page-title.ts'

/** The page for an unknown address. `links` lead to pages that exist. */
export function NotFound({ reason, links }: { reason: string; links: readonly ReactNode[] }) {
  usePageTitle('Page not found')
  return (
    <Empty title={<h1>Page not found</h1>}>
      <p>{reason}</p>
      <ul className="plain-list">
        {links.map((link, index) => (
          <li key={index}>{link}</li>
        ))}
      </ul>
    </Empty>
  )
}
