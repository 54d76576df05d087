import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Gate } from '@vault-and-tracker/web-kit/frame'
import { site } from '../api/queries.ts'
import { SignInForm } from './sign-in-form.tsx'

const route = getRouteApi('/login')

/** Signs in, then opens the page that the visitor requested. */
export function LoginPage() {
  const { next } = route.useSearch()
  const navigate = useNavigate()
  const { data } = useQuery(site)
  const registration = data?.registration
  return (
    <Gate title="Sign in">
      <SignInForm onSignedIn={() => void navigate({ href: next ?? '/torrents', replace: true })}>
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
