import type { ReactNode } from 'react'
import { usePageTitle } from './use-page-title.ts'

/** The heading of a page, which also names it in the browser's tab. `count` is empty while it loads. */
export function PageHead({ title, count, children }: { title: string; count?: string; children?: ReactNode }) {
  usePageTitle(title)
  return (
    <header className="manage-head">
      <h1 dir="auto">{title}</h1>
      {count !== undefined && (
        <p className="muted" role="status">
          {count}
        </p>
      )}
      {children}
    </header>
  )
}
