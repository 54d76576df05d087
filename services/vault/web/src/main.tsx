import { ApiError, isSignedOut } from '@vault-and-tracker/web-kit/api'
import '@vault-and-tracker/web-kit/styles.css'
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { applyTheme, rememberedTheme } from '@vault-and-tracker/web-kit/theme'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './styles/console.css'
import { session } from './api/session.ts'
import { createAppRouter } from './router.tsx'

const MAX_RETRIES = 2
/** Each read is an entry of the audit log, so a page does not ask again for what it has just read. */
const FRESH_MS = 10_000

applyTheme(rememberedTheme())

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: endSession }),
  mutationCache: new MutationCache({
    onError: (error, _variables, _context, _recipe, { meta }) => {
      if (meta?.['isSignIn'] !== true) endSession(error)
    },
  }),
  defaultOptions: {
    queries: {
      // What the vault refused, it refuses again.
      retry: (failures, error) => failures < MAX_RETRIES && (!(error instanceof ApiError) || error.status >= 500),
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

// A page that was open while the vault was updated asks for files that are gone; the new page knows the new ones.
addEventListener('vite:preloadError', (event) => {
  event.preventDefault()
  location.reload()
})

const element = document.getElementById('application')
if (element === null) throw new Error('the page has no place for the application')
createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
