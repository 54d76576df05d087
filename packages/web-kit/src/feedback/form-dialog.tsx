import type { ComponentProps, ReactNode } from 'react'
import { Button } from '../form/button.tsx'
import { Form } from '../form/form.tsx'
import { Dialog } from './dialog.tsx'

type FormProps = Pick<ComponentProps<typeof Form>, 'fields' | 'error' | 'isBusy' | 'onSubmit'>

/** A dialog that is a form: what it is about, its fields, the button that sends it, and the way out. */
export function FormDialog(
  props: FormProps & {
    title: string
    /** What the button says. */
    action: string
    kind?: 'main' | 'danger'
    onClose: () => void
    /** Above the fields. */
    intro?: ReactNode
    children: ReactNode
  },
) {
  const { title, action, kind = 'main', onClose, intro, children, ...form } = props
  return (
    <Dialog title={title} onClose={onClose}>
      {intro}
      <Form
        {...form}
        label={title}
        actions={
          <>
            <Button type="submit" kind={kind} isBusy={form.isBusy}>
              {action}
            </Button>
            <Button onClick={onClose}>Cancel</Button>
          </>
        }
      >
        {children}
      </Form>
    </Dialog>
  )
}
