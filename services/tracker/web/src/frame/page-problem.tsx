import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { ApiError } from '@vault-and-tracker/web-kit/api'
import { Problem } from '@vault-and-tracker/web-kit/feedback'
import { NotFound } from './not-found.tsx'

/** What a page shows that could not be loaded. */
export function PageProblem({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  if (error instanceof ApiError && (error.status === 404 || error.field === 'id')) return <NotFound />
  const retry = (): void => {
    reset()
    void router.invalidate()
  }
  return <Problem error={error} onRetry={retry} />
}
