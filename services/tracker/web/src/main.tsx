import { isSignedOut } from '@vault-and-tracker/web-kit/api'
import '@vault-and-tracker/web-kit/styles.css'
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { renderApplication, retryUnlessRefused } from '@vault-and-tracker/web-kit/start'
import './styles/application.css'
import { ownUser } from './api/queries.ts'
import { createAppRouter } from './router.tsx'
import { SessionEnd } from './session/session-end.tsx'
import { sessionEnd } from './session/session-state.ts'

const queries = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => {
      if (isSignedOut(error)) askToSignIn()
    },
  }),
  mutationCache: new MutationCache({
    onError: (error, _variables, _context, _recipe, { meta }) => {
      if (isSignedOut(error) && meta?.['isSignIn'] !== true) sessionEnd.note()
    },
  }),
  defaultOptions: {
    queries: {
      retry: retryUnlessRefused,
      refetchOnWindowFocus: true,
    },
  },
})
const router = createAppRouter(queries)

/**
 * Asks over the page whoever was signed in, since they may have typed something there. Leads anybody else to the sign-in
 * page, and from there back to where they were.
 */
function askToSignIn(): void {
  const { pathname, href } = router.state.location
  if (pathname === '/login' || pathname === '/register') return
  if (queries.getQueryData(ownUser.queryKey) !== undefined) sessionEnd.note()
  else void router.navigate({ to: '/login', search: { next: href === '/torrents' ? undefined : href }, replace: true })
}

/** What was refused meanwhile is read again. */
function goOn(): void {
  sessionEnd.forget()
  void queries.invalidateQueries()
  void router.invalidate()
}

renderApplication(
  <QueryClientProvider client={queries}>
    <RouterProvider router={router} />
    <SessionEnd onSignedIn={goOn} />
  </QueryClientProvider>,
)
