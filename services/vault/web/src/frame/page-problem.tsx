import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { Problem } from '@vault-and-tracker/web-kit/feedback'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'

/** What a page shows that failed. */
export function PageProblem({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  usePageTitle('Not loaded')
  return (
    <>
      <h1 className="visually-hidden">This page could not be loaded.</h1>
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
