import '@vault-and-tracker/web-kit/styles.css'
import { RouterProvider } from '@tanstack/react-router'
import { createQueries, renderApplication } from '@vault-and-tracker/web-kit/start'
import './styles/console.css'
import { account } from './api/client.ts'
import { closeSession, session } from './api/session.ts'
import { createAppRouter } from './router.tsx'
import { restoreSession } from './session/restore.ts'

// Each read adds an entry to the audit log, so a page does not repeat a recent one.
const queries = createQueries(endSession, { staleTime: 10_000 })

/** A session can be revoked or expire at any time. Everything that was read with it is forgotten. */
function endSession(): void {
  if (!session.read().isOpen) return
  closeSession(
    account.isSwitched()
      ? 'Another administrator has signed in to this browser. Sign in again, or reload the page to use their session.'
      : 'Your session has ended. Sign in again to continue.',
  )
  queries.clear()
}

account.watch(endSession)

await restoreSession()
renderApplication(queries, <RouterProvider router={createAppRouter(queries)} />)
