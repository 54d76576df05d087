import '@vault-and-tracker/web-kit/styles.css'
import { RouterProvider } from '@tanstack/react-router'
import { createQueries, renderApplication } from '@vault-and-tracker/web-kit/start'
import './styles/console.css'
import { closeSession, session } from './api/session.ts'
import { createAppRouter } from './router.tsx'
import { restoreSession } from './session/restore.ts'

// Each read adds an entry to the audit log, so a page does not repeat a recent one.
const queries = createQueries(endSession, { staleTime: 10_000 })

/** A token or a session can be revoked or expire at any time. Everything that was read with it is forgotten. */
function endSession(): void {
  const current = session.read()
  if (!current.isOpen) return
  const what = current.administrator.session === null ? 'token was removed or has expired' : 'session has ended'
  closeSession(`Your ${what}. Sign in again to continue.`)
  queries.clear()
}

await restoreSession()
renderApplication(queries, <RouterProvider router={createAppRouter(queries)} />)
