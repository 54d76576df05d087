import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Form, TextField } from '@vault-and-tracker/web-kit/form'
import { lazy, type ReactNode, Suspense } from 'react'
import { account, api, type OwnUser } from '../api/client.ts'
import { ownUser } from '../api/queries.ts'

/** Loaded only for accounts with a second factor. */
const SecondFactor = lazy(async () => ({ default: (await import('./second-factor.tsx')).SecondFactor }))

/** @param props a `username` that is given cannot be changed; `children` are shown until the password was right */
export function SignInForm(props: { onSignedIn: () => void; username?: string | undefined; children?: ReactNode }) {
  const { onSignedIn, username, children } = props
  const queries = useQueryClient()
  function finish(user: OwnUser): void {
    account.signedIn(user.id)
    queries.setQueryData(ownUser.queryKey, user)
    onSignedIn()
  }
  const signIn = useMutation<OwnUser, ApiError, { username: string; password: string }>({
    mutationFn: (body) => read(api.POST('/api/auth/login', { body })),
    onSuccess: finish,
    meta: { isSignIn: true },
  })
  if (signIn.error?.code === 'SECOND_FACTOR_REQUIRED')
    return (
      <Suspense>
        <SecondFactor onSignedIn={finish} onRestart={() => signIn.reset()} />
      </Suspense>
    )
  return (
    <>
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
      {children}
    </>
  )
}
