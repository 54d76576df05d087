import '@vault-and-tracker/web-kit/styles.css'
import { RouterProvider } from '@tanstack/react-router'
import { createQueries, renderApplication } from '@vault-and-tracker/web-kit/start'
import './styles/application.css'
import { ApiError } from '@vault-and-tracker/web-kit/api'
import { account } from './api/client.ts'
import { FACTOR_IS_MISSING, ownUser } from './api/queries.ts'
import { BARE } from './frame/bare.ts'
import { createAppRouter } from './router.tsx'
import { SessionEnd, sessionHasEnded } from './session/session-end.tsx'

const queries = createQueries(askToSignIn, { refetchOnWindowFocus: true })
const router = createAppRouter(queries)

/** Members sign in again over the page, which keeps what they typed. Visitors are sent to the sign-in page. */
function askToSignIn(request: 'query' | 'mutation'): void {
  const { pathname, href } = router.state.location
  if (request === 'mutation') sessionHasEnded.set(true)
  else if (BARE.has(pathname)) return
  else if (queries.getQueryData(ownUser.queryKey) !== undefined) sessionHasEnded.set(true)
  else void router.navigate({ to: '/login', search: { next: href === '/torrents' ? undefined : href }, replace: true })
}

/** Staff who need a second factor can read nothing else before they have one. */
queries.getQueryCache().subscribe((event) => {
  if (event.type !== 'updated' || event.action.type !== 'error') return
  const error: unknown = event.action.error
  if (!(error instanceof ApiError) || error.code !== 'SECOND_FACTOR_MISSING') return
  if (queries.getQueryData(FACTOR_IS_MISSING) === true) return
  queries.setQueryData(FACTOR_IS_MISSING, true)
  void router.navigate({ to: '/me', search: { tab: 'security' } })
})
router.subscribe('onResolved', ({ toLocation: { pathname, searchStr } }) => {
  if (queries.getQueryData(FACTOR_IS_MISSING) !== true || BARE.has(pathname)) return
  if (pathname !== '/me' || searchStr !== '?tab=security')
    void router.navigate({ to: '/me', search: { tab: 'security' } })
})

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
