import { useMutation } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { Copyable, TextField } from '@vault-and-tracker/web-kit/form'
import { encode } from 'uqr'
import { api } from '../api/client.ts'
import { OwnPassword } from '../standing/own-password.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'

/** Adds an authenticator app: password, QR code, first code, and recovery codes if it is the first factor. */
export function AddApp({ onChanged, onClose }: { onChanged: () => void; onClose: () => void }) {
  const start = useMutation<{ secret: string; uri: string }, ApiError, string>({
    mutationFn: (password) => read(api.POST('/api/user/factors/totp', { body: { password } })),
    // Keeps the secret out of the cache.
    gcTime: 0,
  })
  const confirm = useMutation<{ recoveryCodes: string[] }, ApiError, string>({
    mutationFn: (code) => read(api.POST('/api/user/factors/totp/confirm', { body: { code } })),
    onSuccess: ({ recoveryCodes }) => {
      toast('Authenticator app added.')
      onChanged()
      if (recoveryCodes.length === 0) onClose()
    },
    gcTime: 0,
  })
  if (confirm.data !== undefined) return <RecoveryCodes codes={confirm.data.recoveryCodes} onClose={onClose} />
  if (start.data === undefined)
    return (
      <FormDialog
        title="Add authenticator app"
        action="Continue"
        isDraft={false}
        fields={[]}
        error={start.error}
        isBusy={start.isPending}
        onSubmit={({ password = '' }) => start.mutate(password)}
        onClose={onClose}
        intro={<p>You need an app that generates six-digit codes, such as Aegis, 2FAS or a password manager.</p>}
      >
        <OwnPassword />
      </FormDialog>
    )
  const { uri, secret } = start.data
  return (
    <FormDialog
      key="code"
      title="Scan the code with your app"
      action="Add authenticator app"
      isDraft={false}
      fields={['code']}
      error={confirm.error}
      isBusy={confirm.isPending}
      onSubmit={({ code = '' }) => confirm.mutate(code)}
      onClose={onClose}
      intro={
        <>
          <QrCode text={uri} />
          <p>
            Or enter this key in the app: <Copyable text={secret} what="key" />
          </p>
        </>
      }
    >
      <TextField
        label="Code"
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        maxLength={20}
        hint="The six-digit code that the app shows now."
        error={confirm.error}
        data-focus=""
      />
    </FormDialog>
  )
}

/** A text as a QR code, dark on light in both themes, as cameras expect it. */
function QrCode({ text }: { text: string }) {
  const { size, data } = encode(text, { border: 2 })
  const modules = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code for your app">
      <path fill="#fff" d={`M0 0h${size}v${size}h-${size}z`} />
      <path fill="#000" d={modules.join('')} shapeRendering="crispEdges" />
    </svg>
  )
}
