import { useMutation } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { toast } from '@vault-and-tracker/web-kit/feedback'
import { Form, TextField } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api } from '../api/client.ts'

export function Password({ username }: { username: string }) {
  // A new key empties the form.
  const [sent, setSent] = useState(0)
  const change = useMutation<unknown, ApiError, { currentPassword: string; newPassword: string }>({
    mutationFn: (body) => read(api.POST('/api/user/password', { body })),
    onSuccess: () => {
      setSent(sent + 1)
      toast('Password changed. All other sessions have ended.')
    },
    meta: { isSignIn: true },
  })
  return (
    <div className="card narrow">
      <Form
        key={sent}
        label="Change password"
        fields={['currentPassword', 'newPassword']}
        error={change.error}
        isBusy={change.isPending}
        onSubmit={({ currentPassword = '', newPassword = '' }) => change.mutate({ currentPassword, newPassword })}
        submit="Change password"
      >
        <input className="visually-hidden" name="username" autoComplete="username" value={username} readOnly hidden />
        <TextField
          label="Current password"
          name="currentPassword"
          type="password"
          autoComplete="current-password"
          required
          error={change.error}
        />
        <TextField
          label="New password"
          name="newPassword"
          type="password"
          autoComplete="new-password"
          required
          minLength={8}
          maxLength={256}
          hint="At least 8 characters. Changing it ends all other sessions."
          error={change.error}
        />
      </Form>
    </div>
  )
}
