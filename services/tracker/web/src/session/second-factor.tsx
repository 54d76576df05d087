import { queryOptions, useMutation, useQuery } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { Button, Form, TextField } from '@vault-and-tracker/web-kit/form'
import { api, type OwnUser } from '../api/client.ts'
import { signWithSecurityKey } from '../api/security-keys.ts'

const methods = queryOptions({
  queryKey: ['second-factor'],
  queryFn: ({ signal }) => read(api.GET('/api/auth/second-factor', { signal })),
  staleTime: 0,
  gcTime: 0,
  retry: false,
})

/** The second step of a sign-in: a security key, or a code. */
export function SecondFactor(props: { onSignedIn: (user: OwnUser) => void; onRestart: () => void }) {
  const { onSignedIn, onRestart } = props
  const { data, error, refetch } = useQuery(methods)
  const withSecurityKey = useMutation<OwnUser, ApiError>({
    mutationFn: async () => {
      const securityKey = await signWithSecurityKey(data?.securityKey)
      return read(api.POST('/api/auth/second-factor', { body: { securityKey } }))
    },
    onSuccess: onSignedIn,
    meta: { isSignIn: true },
  })
  const withCode = useMutation<OwnUser, ApiError, string>({
    mutationFn: (code) => read(api.POST('/api/auth/second-factor', { body: { code } })),
    onSuccess: onSignedIn,
    meta: { isSignIn: true },
  })
  const restart = <Button onClick={onRestart}>Start again</Button>
  if (data === undefined)
    return (
      <>
        <Pending error={error} onRetry={() => void refetch()} rows={3} label="Loading…" />
        {error && restart}
      </>
    )
  const hasApp = data.kinds.includes('totp')
  return (
    <>
      {data.securityKey && (
        <Form
          label="Security key"
          fields={[]}
          error={withSecurityKey.error}
          isDraft={false}
          isBusy={withSecurityKey.isPending}
          onSubmit={() => withSecurityKey.mutate()}
          submit="Use security key"
        >
          <p>Use your security key to finish signing in.</p>
        </Form>
      )}
      <Form
        label="Code"
        fields={['code']}
        error={withCode.error}
        isDraft={false}
        isBusy={withCode.isPending}
        onSubmit={({ code = '' }) => withCode.mutate(code)}
        submit="Continue"
        kind={data.securityKey ? 'plain' : 'main'}
        actions={restart}
      >
        <TextField
          label={hasApp ? 'Code' : 'Recovery code'}
          name="code"
          autoComplete="one-time-code"
          autoCapitalize="none"
          spellCheck={false}
          required
          maxLength={64}
          autoFocus={!data.securityKey}
          data-focus=""
          hint={
            hasApp
              ? 'The six-digit code in your authenticator app, or a recovery code.'
              : 'Use one if you do not have your security key. Each code works once.'
          }
          error={withCode.error}
        />
      </Form>
    </>
  )
}
