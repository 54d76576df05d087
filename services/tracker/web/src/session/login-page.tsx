import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Gate } from '@vault-and-tracker/web-kit/frame'
import { checklist, ownUser, site } from '../api/queries.ts'
import { SignInForm } from './sign-in-form.tsx'

const route = getRouteApi('/login')

/** Signs in, then opens the page that the visitor requested. */
export function LoginPage() {
  const { next } = route.useSearch()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { data } = useQuery(site)
  const registration = data?.registration
  return (
    <Gate title="Sign in">
      <SignInForm
        onSignedIn={() => {
          void startPage(queries).then((start) => navigate({ href: next ?? start, replace: true }))
        }}
      >
        {data?.sendsEmail === true ? (
          <p>
            <Link to="/reset">Forgot your password?</Link>
          </p>
        ) : (
          <p className="muted">Forgot your password? Ask an administrator to reset it.</p>
        )}
        {(registration === 'open' || registration === 'invite') && (
          <p>
            <Link to="/register">{registration === 'open' ? 'Create an account' : 'Register with an invite'}</Link>
          </p>
        )}
      </SignInForm>
    </Gate>
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
