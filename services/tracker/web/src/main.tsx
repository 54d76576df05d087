import '@vault-and-tracker/web-kit/styles.css'
import { RouterProvider } from '@tanstack/react-router'
import { createQueries, renderApplication } from '@vault-and-tracker/web-kit/start'
import './styles/application.css'
import { account } from './api/client.ts'
import { ownUser } from './api/queries.ts'
import { createAppRouter } from './router.tsx'
import { SessionEnd, sessionHasEnded } from './session/session-end.tsx'

const queries = createQueries(askToSignIn, { refetchOnWindowFocus: true })
const router = createAppRouter(queries)

/** Members sign in again over the page, which keeps what they typed. Visitors are sent to the sign-in page. */
function askToSignIn(request: 'query' | 'mutation'): void {
  const { pathname, href } = router.state.location
  if (request === 'mutation') sessionHasEnded.set(true)
  else if (pathname === '/login' || pathname === '/register') return
  else if (queries.getQueryData(ownUser.queryKey) !== undefined) sessionHasEnded.set(true)
  else void router.navigate({ to: '/login', search: { next: href === '/torrents' ? undefined : href }, replace: true })
}

account.watch(() => sessionHasEnded.set(true))

/** Repeats the reads that were refused. */
function resume(): void {
  sessionHasEnded.set(false)
  void queries.invalidateQueries()
  void router.invalidate()
}

renderApplication(
  queries,
  <>
    <RouterProvider router={router} />
    <SessionEnd onSignedIn={resume} />
  </>,
)
