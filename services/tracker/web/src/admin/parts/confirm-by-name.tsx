import type { ApiError } from '@vault-and-tracker/web-kit/api'
import { Dialog } from '@vault-and-tracker/web-kit/feedback'
import { Button, Form, TextField } from '@vault-and-tracker/web-kit/form'
import type { ReactNode } from 'react'

/** Asks before something that cannot be undone, and for the name of what it is done to. */
export function ConfirmByName(props: {
  title: string
  /** What has to be typed. */
  name: string
  action: string
  error: ApiError | null
  isBusy: boolean
  onConfirm: () => void
  onCancel: () => void
  /** What will happen. */
  children: ReactNode
}) {
  const { title, name, action, error, isBusy, onConfirm, onCancel, children } = props
  return (
    <Dialog title={title} onClose={onCancel}>
      {children}
      <Form
        label={title}
        fields={[]}
        error={error}
        isBusy={isBusy}
        onSubmit={onConfirm}
        actions={
          <>
            <Button type="submit" kind="danger" isBusy={isBusy}>
              {action}
            </Button>
            <Button onClick={onCancel}>Cancel</Button>
          </>
        }
      >
        <TextField
          label={`Type “${name}” to confirm`}
          name="name"
          required
          pattern={name.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')}
          title={name}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          data-focus=""
        />
      </Form>
    </Dialog>
  )
}
