import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { applicationName, usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { site } from '../api/queries.ts'
import { SignInForm } from './sign-in-form.tsx'

const route = getRouteApi('/login')

/** Signing in; then back to where one was. */
export function LoginPage() {
  const { next } = route.useSearch()
  const navigate = useNavigate()
  const { data } = useQuery(site)
  usePageTitle('Sign in')
  return (
    <div className="gate">
      <p className="brand">{applicationName()}</p>
      <h1>Sign in</h1>
      <SignInForm onSignedIn={() => void navigate({ href: next ?? '/torrents', replace: true })} />
      <p className="muted">Forgot your password? Ask an administrator for a new one.</p>
      {data?.registration === 'open' && (
        <p>
          <Link to="/register">Create an account</Link>
        </p>
      )}
      {data?.registration === 'invite' && (
        <p>
          <Link to="/register">Use an invite</Link>
        </p>
      )}
    </div>
  )
}
