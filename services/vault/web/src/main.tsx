import { isSignedOut } from '@vault-and-tracker/web-kit/api'
import '@vault-and-tracker/web-kit/styles.css'
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { renderApplication, retryUnlessRefused } from '@vault-and-tracker/web-kit/start'
import './styles/console.css'
import { session } from './api/session.ts'
import { createAppRouter } from './router.tsx'

/** Each read is an entry of the audit log, so a page does not ask again for what it has just read. */
const FRESH_MS = 10_000

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: endSession }),
  mutationCache: new MutationCache({
    onError: (error, _variables, _context, _recipe, { meta }) => {
      if (meta?.['isSignIn'] !== true) endSession(error)
    },
  }),
  defaultOptions: {
    queries: {
      retry: retryUnlessRefused,
      staleTime: FRESH_MS,
    },
  },
})
const router = createAppRouter(queries)

/** A token may be removed or expire at any time. What was read with it is forgotten. */
function endSession(error: Error): void {
  if (!isSignedOut(error) || !session.read().isOpen) return
  session.close('Your token is no longer valid: it was removed, or it has expired. Sign in again to go on here.')
  queries.clear()
}

renderApplication(
  <QueryClientProvider client={queries}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
)
