import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Button, Form, TextField } from '@vault-and-tracker/web-kit/form'
import { applicationName, usePageTitle } from '@vault-and-tracker/web-kit/frame'
import { api, type OwnUser } from '../api/client.ts'
import { ownUser, site } from '../api/queries.ts'

const route = getRouteApi('/register')

/** A new account, where the site takes new members. */
export function RegisterPage() {
  const { data, error, refetch } = useQuery(site)
  usePageTitle('Create an account')
  return (
    <div className="gate">
      <p className="brand">{applicationName()}</p>
      <h1>Create an account</h1>
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={6} label="The form is loading." />
      ) : data.registration === 'closed' ? (
        <Empty title="Registration is closed.">
          <p>The staff of this tracker takes no new members now.</p>
        </Empty>
      ) : (
        <RegisterForm needsInvite={data.registration === 'invite'} />
      )}
      <p>
        <Link to="/login">Sign in instead</Link>
      </p>
    </div>
  )
}

type NewAccount = { username: string; email: string; password: string; invite?: string }

function RegisterForm({ needsInvite }: { needsInvite: boolean }) {
  const { invite } = route.useSearch()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const register = useMutation<OwnUser, ApiError, NewAccount>({
    mutationFn: (body) => read(api.POST('/api/auth/register', { body })),
    onSuccess: (user) => {
      queries.setQueryData(ownUser.queryKey, user)
      void navigate({ to: '/torrents', replace: true })
    },
    meta: { isSignIn: true },
  })
  const { error } = register
  return (
    <Form
      label="Create an account"
      fields={['username', 'email', 'password', 'invite']}
      error={error}
      isBusy={register.isPending}
      onSubmit={(values) => {
        const { username = '', email = '', password = '' } = values
        register.mutate({ username, email, password, ...(values['invite'] && { invite: values['invite'] }) })
      }}
      actions={
        <Button type="submit" kind="main" isBusy={register.isPending}>
          Create account
        </Button>
      }
    >
      {needsInvite && (
        <TextField
          label="Invite code"
          name="invite"
          defaultValue={invite}
          required
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          hint="A member makes one on their account page; it is valid for seven days."
          error={error}
        />
      )}
      <TextField
        label="Username"
        name="username"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
        minLength={2}
        maxLength={32}
        pattern="[A-Za-z0-9_][A-Za-z0-9._\-]*"
        title="Letters, digits, dots, dashes and underscores"
        error={error}
      />
      <TextField label="Email" name="email" type="email" autoComplete="email" required maxLength={254} error={error} />
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="new-password"
        required
        minLength={8}
        maxLength={256}
        hint="At least 8 characters."
        error={error}
      />
    </Form>
  )
}
