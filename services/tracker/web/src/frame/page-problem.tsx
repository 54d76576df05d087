import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { Problem } from '@vault-and-tracker/web-kit/feedback'
import { usePageTitle } from '@vault-and-tracker/web-kit/frame'

/** What a page shows that could not be loaded. */
export function PageProblem({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  usePageTitle('Not loaded')
  const retry = (): void => {
    reset()
    void router.invalidate()
  }
  return (
    <>
      <h1 className="visually-hidden">This page could not be loaded.</h1>
      <Problem error={error} onRetry={retry} />
    </>
  )
}
