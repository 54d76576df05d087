import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Gate } from '@vault-and-tracker/web-kit/frame'
import type { Site } from '../api/client.ts'
import { checklist, ownUser, site } from '../api/queries.ts'
import { SignInForm } from './sign-in-form.tsx'

const route = getRouteApi('/login')

/** Signs in, then opens the page that the visitor requested. */
export function LoginPage() {
  const { next } = route.useSearch()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { data } = useQuery(site)
  return (
    <Gate title="Sign in">
      {data?.awaitsSetup === true && (
        <p className="notice">
          <span>
            This site has no administrator yet. <Link to="/setup">Set it up</Link> with the code in the log of the
            tracker.
          </span>
        </p>
      )}
      <SignInForm
        onSignedIn={() => {
          void startPage(queries).then((start) => navigate({ href: next ?? start, replace: true }))
        }}
      >
        {data && <OtherWays {...data} />}
      </SignInForm>
    </Gate>
  )
}

/** What visitors do who cannot sign in. Without an administrator, no one resets passwords or creates invites. */
function OtherWays({ sendsEmail, registration, awaitsSetup }: Site) {
  return (
    <>
      {sendsEmail ? (
        <p>
          <Link to="/reset">Forgot your password?</Link>
        </p>
      ) : (
        !awaitsSetup && <p className="muted">Forgot your password? Ask an administrator to reset it.</p>
      )}
      {(registration === 'open' || (registration === 'invite' && !awaitsSetup)) && (
        <p>
          <Link to="/register">{registration === 'open' ? 'Create an account' : 'Register with an invite'}</Link>
        </p>
      )}
    </>
  )
}

/** The list, or the checklist for an administrator who has not set up the site. */
async function startPage(queries: QueryClient): Promise<string> {
  if (queries.getQueryData(ownUser.queryKey)?.role !== 'admin') return '/torrents'
  const found = await queries.query(checklist).catch(() => undefined)
  if (found === undefined) return '/torrents'
  const { dismissed, ...items } = found
  return dismissed || Object.values(items).every(Boolean) ? '/torrents' : '/admin'
}
