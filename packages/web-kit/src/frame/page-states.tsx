import { useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ApiError } from '../api/error.ts'
import { Empty, Pending, Problem } from '../feedback/states.tsx'
import { usePageTitle } from './use-page-title.ts'

/** Takes the place of a page while its code or data loads. */
export function PagePending() {
  return (
    <>
      <h1 className="visually-hidden">Loading</h1>
      <Pending error={null} onRetry={() => undefined} rows={12} label="Loading the page…" />
    </>
  )
}

/** Replaces a page that failed to load. */
export function PageProblem({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter()
  usePageTitle('Page not loaded')
  return (
    <>
      <h1 className="visually-hidden">This page could not be loaded</h1>
      <Problem
        error={error}
        onRetry={() => {
          // The code of a page that could not be loaded is loaded again with the document, which names its files.
          if (!(error instanceof ApiError)) location.reload()
          reset()
          void router.invalidate()
        }}
      />
    </>
  )
}

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
