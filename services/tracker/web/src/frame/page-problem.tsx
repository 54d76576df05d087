import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { Problem } from '@vault-and-tracker/web-kit/feedback'

/** What a page shows that could not be loaded. */
export function PageProblem({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = (): void => {
    reset()
    void router.invalidate()
  }
  return <Problem error={error} onRetry={retry} />
}
