import { useMutation } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Form, TextField } from '@vault-and-tracker/web-kit/form'
import { api, type OwnUser } from '../api/client.ts'
import { OwnPassword } from '../standing/own-password.tsx'

/** Changes the address of an account, once its owner has opened the link that is sent there. */
export function EmailAddress({ user }: { user: OwnUser }) {
  const change = useMutation<unknown, ApiError, { email: string; password: string }>({
    mutationFn: (body) => read(api.POST('/api/user/email', { body })),
  })
  if (change.isSuccess)
    return (
      <p className="notice" role="status">
        Open the link sent to {change.variables.email} within 30 minutes. If no email arrives, the address may belong to
        another account.
      </p>
    )
  return (
    <div className="narrow">
      <Form
        label="Change email address"
        fields={['email', 'password']}
        error={change.error}
        isBusy={change.isPending}
        onSubmit={({ email = '', password = '' }) => change.mutate({ email, password })}
        submit="Change email address"
      >
        <TextField
          label="New email address"
          name="email"
          type="email"
          autoComplete="email"
          required
          maxLength={254}
          hint={`Password reset links are sent to ${user.email}.`}
          error={change.error}
        />
        <OwnPassword isFirst={false} error={change.error} />
      </Form>
    </div>
  )
}
