import '@vault-and-tracker/web-kit/styles.css'
import { RouterProvider } from '@tanstack/react-router'
import { createQueries, renderApplication } from '@vault-and-tracker/web-kit/start'
import './styles/console.css'
import { closeSession, session } from './api/session.ts'
import { createAppRouter } from './router.tsx'

// Each read adds an entry to the audit log, so a page does not repeat a recent one.
const queries = createQueries(endSession, { staleTime: 10_000 })

/** A token can be removed or expire at any time. Everything that was read with it is forgotten. */
function endSession(): void {
  if (!session.read().isOpen) return
  closeSession('Your token was removed or has expired. Sign in again to continue.')
  queries.clear()
}

renderApplication(queries, <RouterProvider router={createAppRouter(queries)} />)
