import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Empty, Pending } from '@vault-and-tracker/web-kit/feedback'
import { Form, TextField } from '@vault-and-tracker/web-kit/form'
import { Gate } from '@vault-and-tracker/web-kit/frame'
import { account, api, type OwnUser } from '../api/client.ts'
import { ownUser, site } from '../api/queries.ts'
import { NewAccountFields } from './new-account-fields.tsx'

/** Creates the first administrator of a new site. */
export function SetupPage() {
  const { data, error, refetch } = useQuery({ ...site, staleTime: 0 })
  return (
    <Gate title="Set up this site">
      {data === undefined ? (
        <Pending error={error} onRetry={() => void refetch()} rows={6} label="Loading the form…" />
      ) : data.awaitsSetup ? (
        <SetupForm />
      ) : (
        <>
          <Empty title="This site is already set up." />
          <p>
            <Link to="/login">Sign in instead</Link>
          </p>
        </>
      )}
    </Gate>
  )
}

type Administrator = { code: string; username: string; email: string; password: string }

function SetupForm() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const create = useMutation<OwnUser, ApiError, Administrator>({
    mutationFn: (body) => read(api.POST('/api/setup', { body })),
    onSuccess: (user) => {
      account.signedIn(user.id)
      queries.setQueryData(ownUser.queryKey, user)
      void queries.invalidateQueries({ queryKey: site.queryKey, refetchType: 'none' })
      void navigate({ to: '/admin', replace: true })
    },
    // Someone else may have set it up.
    onError: ({ code }) => code === 'CONFLICT' && queries.invalidateQueries({ queryKey: site.queryKey }),
    meta: { isSignIn: true },
  })
  const { error } = create
  return (
    <Form
      label="Set up this site"
      fields={['code', 'username', 'email', 'password']}
      error={error}
      isBusy={create.isPending}
      onSubmit={({ code = '', username = '', email = '', password = '' }) =>
        create.mutate({ code, username, email, password })
      }
      submit="Create administrator"
    >
      <p>
        Create the first administrator. The setup code is in the log of the tracker; with Compose, run{' '}
        <code>docker compose logs tracker | grep /setup</code>.
      </p>
      <TextField
        label="Setup code"
        name="code"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        required
        autoFocus
        maxLength={200}
        hint="Valid for 24 hours."
        error={error}
      />
      <NewAccountFields error={error} />
    </Form>
  )
}
