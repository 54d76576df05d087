import type { ReactNode } from 'react'
import type { ApiError } from '../api/error.ts'
import { TextField } from '../form/field.tsx'
import { FormDialog } from './form-dialog.tsx'

/** A confirmation that also asks for a name to be typed. */
export function ConfirmByName(props: {
  title: string
  name: string
  action: string
  error: ApiError | null
  isBusy: boolean
  onConfirm: () => void
  onCancel: () => void
  /** Describes the consequences. */
  children: ReactNode
}) {
  const { title, name, action, error, isBusy, onConfirm, onCancel, children } = props
  return (
    <FormDialog
      title={title}
      action={action}
      kind="danger"
      fields={[]}
      error={error}
      isBusy={isBusy}
      onSubmit={onConfirm}
      onClose={onCancel}
      intro={children}
    >
      <TextField
        label={`Type “${name}” to confirm`}
        name="name"
        required
        pattern={name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}
        title={name}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        data-focus=""
      />
    </FormDialog>
  )
}
