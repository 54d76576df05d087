import '@vault-and-tracker/web-kit/styles.css'
import { RouterProvider } from '@tanstack/react-router'
import { hasTypedText } from '@vault-and-tracker/web-kit/form'
import { createQueries, renderApplication } from '@vault-and-tracker/web-kit/start'
import './styles/console.css'
import { account } from './api/client.ts'
import { closeSession, session } from './api/session.ts'
import type { SignedInAdministrator } from './api/types.ts'
import { createAppRouter } from './router.tsx'
import { restoreSession } from './session/restore.ts'

// Each read adds an entry to the audit log, so a page does not repeat a recent one.
const queries = createQueries(endSession, { staleTime: 10_000 })

/**
 * A session can be revoked or expire at any time. Everything that was read with it is forgotten, unless text was typed: then
 * the page is hidden, and the same administrator continues there.
 */
function endSession(): void {
  const current = session.read()
  if (!current.isOpen) return
  const kept = hasTypedText() ? current.administrator : undefined
  closeSession(
    account.isSwitched()
      ? 'Another administrator has signed in to this browser. Sign in again, or reload the page to use their session.'
      : 'Your session has ended. Sign in again to continue.',
    kept,
  )
  if (kept === undefined) queries.clear()
  else {
    const stop = session.subscribe(() => {
      stop()
      resume(kept)
    })
  }
}

/** Repeats the reads that were refused, or forgets everything if the administrator gave up, or is another one. */
function resume(kept: SignedInAdministrator): void {
  const current = session.read()
  if (current.isOpen && current.administrator.actor === kept.actor) void queries.invalidateQueries()
  else queries.clear()
}

account.watch(endSession)

await restoreSession()
renderApplication(queries, <RouterProvider router={createAppRouter(queries)} />)
