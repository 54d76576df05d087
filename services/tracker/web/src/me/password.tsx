import { useMutation } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { toast } from '@vault-and-tracker/web-kit/feedback'
import { Button, Form, TextField } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api } from '../api/client.ts'

/** A new password. All other sessions end. */
export function Password({ username }: { username: string }) {
  // A form that was sent is replaced by an empty one.
  const [sent, setSent] = useState(0)
  const change = useMutation<unknown, ApiError, { currentPassword: string; newPassword: string }>({
    mutationFn: (body) => read(api.POST('/api/user/password', { body })),
    onSuccess: () => {
      setSent(sent + 1)
      toast('The password was changed. All other sessions have ended.')
    },
    meta: { isSignIn: true },
  })
  return (
    <div className="narrow">
      <Form
        key={sent}
        label="Change the password"
        fields={['currentPassword', 'newPassword']}
        error={change.error}
        isBusy={change.isPending}
        onSubmit={({ currentPassword = '', newPassword = '' }) => change.mutate({ currentPassword, newPassword })}
        actions={
          <Button type="submit" kind="main" isBusy={change.isPending}>
            Change password
          </Button>
        }
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
          hint="At least 8 characters. All other sessions end."
          error={change.error}
        />
      </Form>
    </div>
  )
}
