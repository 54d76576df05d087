import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Form, TextField } from '@vault-and-tracker/web-kit/form'
import { Gate } from '@vault-and-tracker/web-kit/frame'
import { account, api, type OwnUser } from '../api/client.ts'
import { ownUser, site } from '../api/queries.ts'
import { NewAccountFields } from './new-account-fields.tsx'

const route = getRouteApi('/register')

export function RegisterPage() {
  const { data, error, refetch } = useQuery(site)
  return (
    <Gate title="Create an account">
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={6} label="Loading the form…" />
      ) : data.registration === 'closed' ? (
        <Empty title="Registration is closed.">
          <p>This tracker is not accepting new members at the moment.</p>
        </Empty>
      ) : (
        <RegisterForm needsInvite={data.registration === 'invite'} />
      )}
      <p>
        <Link to="/login">Sign in instead</Link>
      </p>
    </Gate>
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
      account.signedIn(user.id)
      queries.setQueryData(ownUser.queryKey, user)
      void navigate({ to: '/welcome', replace: true })
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
      submit="Create account"
    >
      {needsInvite && (
        <TextField
          label="Invite code"
          autoFocus={invite === undefined}
          name="invite"
          defaultValue={invite}
          required
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          {...(invite === undefined && { hint: 'Ask a member for one. Invites expire after 7 days.' })}
          error={error}
        />
      )}
      <NewAccountFields error={error} autoFocus={!needsInvite || invite !== undefined} />
    </Form>
  )
}
