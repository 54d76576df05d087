import { useMutation } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { TextField } from '@vault-and-tracker/web-kit/form'
import { api } from '../api/client.ts'
import { createSecurityKey } from '../api/security-keys.ts'
import { OwnPassword } from '../standing/own-password.tsx'
import { nameOfProgram } from '../standing/user-agent.ts'
import { RecoveryCodes } from './recovery-codes.tsx'

/** Adds a security key, and shows recovery codes if it is the first factor. */
export function AddSecurityKey({ onChanged, onClose }: { onChanged: () => void; onClose: () => void }) {
  const add = useMutation<{ recoveryCodes: string[] }, ApiError, { name: string; password: string }>({
    mutationFn: async ({ name, password }) => {
      const options = await read(api.POST('/api/user/factors/security-key', { body: { password } }))
      const credential = await createSecurityKey(options)
      return read(api.POST('/api/user/factors/security-key/confirm', { body: { name, credential } }))
    },
    onSuccess: ({ recoveryCodes }) => {
      toast('Security key added.')
      onChanged()
      if (recoveryCodes.length === 0) onClose()
    },
    // Keeps the codes out of the cache.
    gcTime: 0,
  })
  if (add.data !== undefined) return <RecoveryCodes codes={add.data.recoveryCodes} onClose={onClose} />
  return (
    <FormDialog
      title="Add security key"
      action="Add security key"
      isDraft={false}
      fields={['name']}
      error={add.error}
      isBusy={add.isPending}
      onSubmit={({ name = '', password = '' }) => add.mutate({ name, password })}
      onClose={onClose}
      intro={<p>Your device, password manager or hardware key will ask you to confirm.</p>}
    >
      <TextField
        label="Name"
        name="name"
        required
        maxLength={60}
        defaultValue={nameOfProgram(navigator.userAgent)}
        hint="Helps you tell your security keys apart."
        error={add.error}
      />
      <OwnPassword />
    </FormDialog>
  )
}
