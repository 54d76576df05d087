import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Form, TextField } from '@vault-and-tracker/web-kit/form'
import { account, api, type OwnUser } from '../api/client.ts'
import { ownUser } from '../api/queries.ts'

/** @param props a `username` that is given cannot be changed */
export function SignInForm({ onSignedIn, username }: { onSignedIn: () => void; username?: string | undefined }) {
  const queries = useQueryClient()
  const signIn = useMutation<OwnUser, ApiError, { username: string; password: string }>({
    mutationFn: (body) => read(api.POST('/api/auth/login', { body })),
    onSuccess: (user) => {
      account.signedIn(user.id)
      queries.setQueryData(ownUser.queryKey, user)
      onSignedIn()
    },
    meta: { isSignIn: true },
  })
  return (
    <Form
      label="Sign in"
      isDraft={false}
      fields={['username', 'password']}
      error={signIn.error}
      isBusy={signIn.isPending}
      onSubmit={({ username = '', password = '' }) => signIn.mutate({ username, password })}
      submit="Sign in"
    >
      <TextField
        label="Username"
        name="username"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
        autoFocus={username === undefined}
        defaultValue={username}
        readOnly={username !== undefined}
        error={signIn.error}
      />
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="current-password"
        required
        data-focus={username !== undefined ? '' : undefined}
        error={signIn.error}
      />
    </Form>
  )
}
