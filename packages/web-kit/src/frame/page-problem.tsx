import { useRouter } from '@tanstack/react-router'
import { Problem } from '../feedback/states.tsx'
import { usePageTitle } from './use-page-title.ts'

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
          reset()
          void router.invalidate()
        }}
      />
    </>
  )
}
