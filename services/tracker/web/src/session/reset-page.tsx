import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { toast } from '@vault-and-tracker/web-kit/feedback'
import { Form, TextField } from '@vault-and-tracker/web-kit/form'
import { Gate } from '@vault-and-tracker/web-kit/frame'
import { api } from '../api/client.ts'
import { site } from '../api/queries.ts'
import { useLinkToken } from './link-token.ts'

/** Sends a link for a new password, and sets the password once that link was opened. */
export function ResetPage() {
  const token = useLinkToken()
  const sendsEmail = useQuery(site).data?.sendsEmail !== false
  return (
    <Gate title="Set a new password">
      {token !== undefined ? (
        <NewPassword token={token} />
      ) : sendsEmail ? (
        <RequestLink />
      ) : (
        <p>This site sends no email. Ask an administrator to reset your password.</p>
      )}
      <p>
        <Link to="/login">Sign in instead</Link>
      </p>
    </Gate>
  )
}

function RequestLink() {
  const request = useMutation<unknown, ApiError, string>({
    mutationFn: (email) => read(api.POST('/api/auth/password-link', { body: { email } })),
  })
  if (request.isSuccess)
    return (
      <p role="status">
        If an account has this address, you will receive a link within a few minutes. It works for 30 minutes.
      </p>
    )
  return (
    <Form
      label="Set a new password"
      isDraft={false}
      fields={['email']}
      error={request.error}
      isBusy={request.isPending}
      onSubmit={({ email = '' }) => request.mutate(email)}
      submit="Send link"
    >
      <TextField
        label="Email"
        name="email"
        type="email"
        autoComplete="email"
        required
        autoFocus
        maxLength={254}
        hint="The address of your account."
        error={request.error}
      />
    </Form>
  )
}

function NewPassword({ token }: { token: string }) {
  const navigate = useNavigate()
  const reset = useMutation<unknown, ApiError, string>({
    mutationFn: (password) => read(api.POST('/api/auth/password', { body: { token, password } })),
    onSuccess: () => {
      toast('Password changed. Sign in with it.')
      void navigate({ to: '/login', replace: true })
    },
  })
  return (
    <Form
      label="Set a new password"
      isDraft={false}
      fields={['password']}
      error={reset.error}
      isBusy={reset.isPending}
      onSubmit={({ password = '' }) => reset.mutate(password)}
      submit="Set password"
    >
      <TextField
        label="New password"
        name="password"
        type="password"
        autoComplete="new-password"
        required
        autoFocus
        minLength={8}
        maxLength={256}
        hint="At least 8 characters. Changing it ends all sessions."
        error={reset.error}
      />
    </Form>
  )
}
